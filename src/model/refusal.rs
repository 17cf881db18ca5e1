//! Recognises an endpoint's message that refuses the tools of a request, or its images.

use super::said::{phrases, says};

/// Returns `true` if the message is a known refusal of tools, or if one of its sentences both names the request's tools
/// and refuses them.
pub(super) fn refuses_tools(words: &str) -> bool {
    let words = words.to_lowercase();
    let mut sentences = words.split(['\n', ';']).flat_map(|line| line.split(". "));
    says("no_tools", &words) || sentences.any(refuses)
}

/// Returns `true` if the endpoint's message is about images in a request.
pub(super) fn names_images(words: &str) -> bool {
    says("images", &words.to_lowercase())
}

fn refuses(sentence: &str) -> bool {
    // The name of a model, such as `llama3-groq-tool-use:8b`, is one word.
    let words = sentence.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '/' | ':'));
    let words = words.map(|word| word.trim_matches([':', '-'])).filter(|word| !word.is_empty());
    let text = format!(" {} ", words.collect::<Vec<_>>().join(" "));
    let has = |section: &str| phrases(section).any(|words| text.contains(&format!(" {words} ")));
    has("tools") && has("refuses")
}

#[cfg(test)]
mod tests {
    use crate::model::ModelError;

    fn refused(status: u16, message: &str) -> bool {
        ModelError::refused("", status, message).refuses_tools()
    }

    #[test]
    fn refusals_of_tools_are_known() {
        for (status, message) in [
            (400, "registry.ollama.ai/library/gemma3:4b does not support tools (api_error)"),
            (500, "tools param requires --jinja flag"),
            (500, "Unsupported param: tools"),
            (400, "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set"),
            (404, "No endpoints found that support tool use. To learn more about provider routing, visit: https://x"),
            (404, "No endpoints found that support the provided 'tool_choice' value."),
            (400, "deepseek-reasoner does not support Function Calling"),
            (400, "Function call is not supported for this model. (request id: 2025)"),
            (400, "tools is not supported in this model. For a list of supported models, refer to https://x"),
            (400, "Unrecognized request argument supplied: tools"),
            (400, "Unknown name \"additionalProperties\" at 'tools[0].function_declarations[0].parameters'"),
            (400, "Invalid schema for function 'get_weather': schema must be an object"),
            (400, "Invalid 'tools': array too long."),
            (400, "Failed to call a function. Please adjust your prompt."),
            (422, "tools: Extra inputs are not permitted"),
            (501, "Tool calling is not implemented"),
            (400, "This model doesn't support tool calls"),
        ] {
            assert!(refused(status, message), "{status} {message}");
        }
        let message = "the endpoint reported an error: tools are not supported".to_owned();
        assert!(ModelError::bad_answer("", message).refuses_tools());
    }

    #[test]
    fn refusals_of_images_are_known() {
        for (status, message, known) in [
            (
                500,
                "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
                true,
            ),
            (400, "messages[1]: unknown variant `image_url`, expected `text` at line 1 column 679289", true),
            (400, "'messages.0.content' : content must be a string", true),
            (400, "the model has no projector for multimodal input", true),
            (400, "Invalid temperature", false),
            (401, "this key may not send images", false),
            (503, "loading the vision model", false),
        ] {
            assert_eq!(ModelError::refused("", status, message).refuses_images(), known, "{status} {message}");
        }
    }

    #[test]
    fn other_refusals_are_not_taken_for_one_of_tools() {
        for (status, message) in [
            (401, "this key does not support tools"),
            (403, "tools are not allowed for this key"),
            (429, "too many requests: tools are disabled for the moment"),
            (502, "tools are unavailable"),
            (
                400,
                "Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'.",
            ),
            (400, "An assistant message with 'tool_calls' must be followed by tool messages"),
            (
                400,
                "However, you requested 5000 tokens (4000 in the messages, 87 in the functions, 913 in the completion)",
            ),
            (400, "Missing `reasoning_content` field in the assistant message"),
            (404, "model \"llama3-groq-tool-use:8b\" not found: check the model's name; the endpoint has tools-7b"),
            (404, "unknown model llama3-groq-tool-use:8b, invalid name"),
            (400, "Invalid temperature. The functions are fine"),
            (501, "Function not implemented"),
            (500, "an exception in the function forward()"),
            (500, "out of memory"),
        ] {
            assert!(!refused(status, message), "{status} {message}");
        }
        assert!(!ModelError::cut_off("does not support tools").refuses_tools());
        assert!(!ModelError::other("does not support tools").refuses_tools());
    }
}
