//! Recognises an endpoint's message that the prompt is longer than the model's context, with its numbers.

use serde_json::Value;

use super::said::phrases;

/// The token counts in an endpoint's message that the prompt is too long; `None` if the message does not have them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ContextSizes {
    /// Number of tokens of the prompt.
    pub(super) prompt: Option<usize>,
    /// Number of tokens of the context.
    pub(super) context: Option<usize>,
}

/// Returns the token counts if a message or its error object says that the prompt is too long, else `None`.
pub(super) fn overflow(words: &str, error: Option<&Value>) -> Option<ContextSizes> {
    let fields = error.map(fields).unwrap_or_default();
    let words = words.to_lowercase();
    let found = phrases("overflow").find_map(|pattern| matched(pattern, &words));
    match (found, fields.prompt.zip(fields.context)) {
        (None, None) => None,
        (found, _) => {
            let found = found.unwrap_or_default();
            Some(ContextSizes { prompt: fields.prompt.or(found.prompt), context: fields.context.or(found.context) })
        }
    }
}

/// Returns the token counts that llama.cpp reports in the error object, or in the `error` inside it.
fn fields(error: &Value) -> ContextSizes {
    let inner = error.get("error").unwrap_or(error);
    let number = |key: &str| inner.get(key).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
    ContextSizes { prompt: number("n_prompt_tokens"), context: number("n_ctx") }
}

/// Returns the token counts of a message that contains the pattern, `None` if it does not.
fn matched(pattern: &str, words: &str) -> Option<ContextSizes> {
    let first = pattern.split(|c: char| c.is_ascii_uppercase()).next().unwrap_or_default();
    words.match_indices(first).find_map(|(at, _)| begins(pattern, &words[at..]))
}

fn begins(pattern: &str, mut words: &str) -> Option<ContextSizes> {
    let mut sizes = ContextSizes::default();
    let mut functions = 0;
    let mut rest = pattern;
    while let Some(next) = rest.chars().next() {
        if !next.is_ascii_uppercase() {
            let end = rest.find(|c: char| c.is_ascii_uppercase()).unwrap_or(rest.len());
            words = words.strip_prefix(&rest[..end])?;
            rest = &rest[end..];
            continue;
        }
        rest = &rest[1..];
        // A comma may separate thousands, or end the clause after the number.
        let length = words.bytes().take_while(|b| b.is_ascii_digit() || *b == b',').count();
        let digits = words[..length].trim_end_matches(',');
        let number: usize = digits.replace(',', "").parse().ok()?;
        words = &words[digits.len()..];
        match next {
            'P' => sizes.prompt = Some(number),
            'C' => sizes.context = Some(number),
            // OpenAI counts the tokens of the tools apart; both are the prompt.
            'F' => functions = number,
            _ => {}
        }
    }
    sizes.prompt = sizes.prompt.map(|prompt| prompt + functions);
    Some(sizes)
}

/// Returns an instruction for lengthening the context, for the server that the message or the URL indicates.
pub(super) fn remedy(words: &str, url: &str) -> &'static str {
    let words = words.to_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| words.contains(part));
    if has(&["exceed_context_size", "available context size", "context size has been exceeded"]) {
        "start llama-server with a longer context (-c)"
    } else if has(&["when context the overflows", "when context overflows", "exceeds context length"]) {
        "load the model with a longer context (lms load MODEL --context-length N)"
    } else if has(&["input length exceeds"]) || url.contains(":11434") {
        "give the model a longer context (Ollama: OLLAMA_CONTEXT_LENGTH, or a Modelfile with PARAMETER num_ctx)"
    } else {
        "use a model with a longer context, or give it one (llama.cpp: -c; Ollama: num_ctx; vLLM: --max-model-len; \
         LM Studio: --context-length)"
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sizes(words: &str) -> Option<(Option<usize>, Option<usize>)> {
        overflow(words, None).map(|sizes| (sizes.prompt, sizes.context))
    }

    #[test]
    fn every_endpoints_words_are_known() {
        for (words, prompt, context) in [
            (
                "request (2067 tokens) exceeds the available context size (2048 tokens), try increasing it (400)",
                Some(2067),
                Some(2048),
            ),
            ("Context size has been exceeded.", None, None),
            ("Requested tokens (2285) exceed context window of 2048", Some(2285), Some(2048)),
            (
                "This model's maximum context length is 4097 tokens. However, your messages resulted in 5360 tokens. \
                 Please reduce the length of the messages. (context_length_exceeded)",
                Some(5360),
                Some(4097),
            ),
            (
                "This model's maximum context length is 8192 tokens. However, you requested 8213 tokens (6683 in the \
                 messages, 730 in the functions, and 800 in the completion).",
                Some(7413),
                Some(8192),
            ),
            (
                "This model's maximum context length is 2048 tokens. However, you requested 2100 tokens (1900 in the \
                 messages, 200 in the completion). Please reduce the length of the messages or completion.",
                Some(1900),
                Some(2048),
            ),
            (
                "This model's maximum context length is 128000 tokens. However, you requested 65535 output tokens and your \
                 prompt contains at least 62466 input tokens, for a total of at least 128001 tokens.",
                None,
                Some(128_000),
            ),
            (
                "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 4096 \
                 tokens and your request has 1000 input tokens (4096 > 4096 - 1000).",
                Some(1000),
                Some(4096),
            ),
            (
                "This endpoint's maximum context length is 32,768 tokens. However, you requested about 40,000 tokens \
                 (39,000 of text input, 1,000 in the output).",
                Some(39_000),
                Some(32_768),
            ),
            (
                "This model's maximum context length is 131072 tokens. However, you requested 351430 tokens. Please reduce",
                Some(351_430),
                Some(131_072),
            ),
            ("maximum context length is 2048", None, Some(2048)),
            ("prompt is too long: 210000 tokens > 200000 maximum", Some(210_000), Some(200_000)),
            (
                "input length and `max_tokens` exceed context limit: 199759 + 8192 > 200000, decrease input length",
                Some(199_759),
                Some(200_000),
            ),
            (
                "Trying to keep the first 10136 tokens when context the overflows. However, the model is loaded with \
                 context length of only 7866 tokens, which is not enough.",
                Some(10_136),
                Some(7866),
            ),
            ("Error: Input length 6491 exceeds context length 1500", Some(6491), Some(1500)),
            ("the input length exceeds the context length", None, None),
            ("Input prompt (2664 tokens) is too long and exceeds limit of 2048/2560", Some(2664), Some(2048)),
            ("no (context_length_exceeded)", None, None),
        ] {
            assert_eq!(sizes(words), Some((prompt, context)), "{words}");
        }
    }

    #[test]
    fn numbers_beside_the_words_are_believed_first() {
        let error = json!({"code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": 14429, "n_ctx": 8192,
            "message": "the request exceeds the available context size. try increasing the context size"});
        let words = "the request exceeds the available context size.";
        let found = overflow(words, Some(&error));
        assert_eq!(found, Some(ContextSizes { prompt: Some(14_429), context: Some(8192) }));
        assert_eq!(overflow(words, Some(&json!({ "error": error }))), found);
        assert_eq!(overflow("other words", Some(&json!({ "error": error }))), found);
    }

    #[test]
    fn other_refusals_are_none() {
        for words in [
            "Rate limit reached: limit 30000 tokens per minute, requested 31000",
            "max_tokens is too large: 100000. This model supports at most 16384 completion tokens",
            "unknown parameter: n_ctx",
            "the maximum number of tools is 128",
            "out of memory",
        ] {
            assert_eq!(sizes(words), None, "{words}");
        }
        assert_eq!(overflow("no", Some(&json!({"n_ctx": 4096}))), None);
    }

    #[test]
    fn the_remedy_is_the_servers_own() {
        for (words, url, part) in [
            ("request (2 tokens) exceeds the available context size (1 tokens)", "http://h:8080/v1", "(-c)"),
            ("the input length exceeds the context length", "http://h/v1", "num_ctx"),
            ("context_length_exceeded", "http://localhost:11434/v1/chat", "num_ctx"),
            ("trying to keep the first 2 tokens when context the overflows", "http://h/v1", "lms load"),
            ("maximum context length is 2048", "http://h/v1", "--max-model-len"),
        ] {
            assert!(remedy(words, url).contains(part), "{words}");
        }
    }
}
