//! Public faults of servers' own tool calling, by the words in which they come.
//!
//! A server that takes tools in a request renders a template with them and parses the model's text
//! for calls. Where one of both fails, the same request passes by prompt, and the words of the
//! failure say what would mend it at the server.

use super::server::ServerKind::{self, LlamaCpp, LmStudio, Ollama, Vllm};

/// A fault of a server's own tool calling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerFault {
    /// The server whose fault it is, where only one says so.
    pub server: Option<ServerKind>,
    /// What goes wrong.
    pub what: &'static str,
    /// What helps at the server; without it toolgraft goes round the fault by itself.
    pub remedy: &'static str,
    /// Where it is reported.
    pub source: &'static str,
    /// Words of its message, in lower case; each is enough.
    says: &'static [&'static str],
}

/// The known faults: the server, what goes wrong, what helps, where it is reported, and its words.
/// One that another row's words are a part of stands before that.
macro_rules! faults {
    ($($server:expr => $what:literal, $remedy:literal, $source:literal, $says:expr;)+) => {
        &[$(ServerFault { server: $server, what: $what, remedy: $remedy, source: $source, says: &$says }),+]
    };
}

const FAULTS: &[ServerFault] = faults! {
    Some(LlamaCpp) => "its parser cannot read a call that the model wrote", "take a newer build of llama.cpp",
        "github.com/ggml-org/llama.cpp/issues/24644", ["failed to parse input at pos"];
    Some(LlamaCpp) => "its parser takes back what it streamed of a call", "take a newer build of llama.cpp",
        "github.com/ggml-org/llama.cpp/issues/15713", ["invalid diff"];
    Some(LlamaCpp) => "arguments of the history are no JSON for it", "take a newer build of llama.cpp",
        "github.com/ggml-org/llama.cpp/issues/25510", ["failed to parse tool call arguments as json"];
    Some(LlamaCpp) => "it was started without templates for tools", "start llama-server with --jinja",
        "github.com/ggml-org/llama.cpp, tools/server/README.md",
        ["tools param requires --jinja", "unsupported param: tools"];
    Some(LlamaCpp) => "it makes no parser of the model's chat template",
        "start llama-server with a template that it knows (--chat-template-file)",
        "github.com/noonghunna/club-3090/issues/1250", ["unable to generate parser for this template"];
    Some(LlamaCpp) => "the chat template fails at tools or calls",
        "start llama-server with a mended template (--chat-template-file)",
        "github.com/ggml-org/llama.cpp/issues/19905",
        ["value is not callable", "unknown method:", "unknown (built-in) filter", "while executing "];
    Some(LmStudio) => "the chat template fails at tools or calls",
        "change the model's prompt template (My Models, model settings)",
        "github.com/lmstudio-ai/lmstudio-bug-tracker/issues/2233", ["error rendering prompt with jinja template"];
    Some(Ollama) => "its parser takes the model's call for XML", "take a newer Ollama",
        "github.com/ollama/ollama/issues/18563", ["xml syntax error", "failed to parse xml", "expected element type <"];
    Some(Ollama) => "its parser cannot read the arguments of a call", "take a newer Ollama",
        "github.com/ollama/ollama/issues/17638", ["error parsing tool call"];
    Some(Ollama) => "the model's template has no place for tools",
        "take a model that `ollama show` lists with the capability tools", "github.com/ollama/ollama/issues/5793",
        ["does not support tools"];
    Some(Vllm) => "it was started without a parser for calls",
        "start vLLM with --enable-auto-tool-choice and --tool-call-parser",
        "docs.vllm.ai/en/latest/features/tool_calling.html", ["--enable-auto-tool-choice"];
    Some(Vllm) => "its parser for gpt-oss ends at a header that the model wrote", "take a newer vLLM",
        "github.com/vllm-project/vllm/issues/51977",
        ["tokens remaining in message header", "while expecting start token", "harmonyerror"];
    None => "its parser cannot read a call that the model wrote", "", "console.groq.com/docs/tool-use",
        ["failed to call a function", "tool_use_failed", "tool call validation failed"];
    None => "none of the hosts behind it takes tools", "take another model or host",
        "github.com/mastra-ai/mastra/issues/2839", ["no endpoints found that support tool use"];
    None => "its parser takes the model's call for JSON", "take a newer version of the server",
        "github.com/ml-explore/mlx-lm/issues/607",
        ["jsondecodeerror", "expecting value: line", "invalid \\escape", "expecting property name"];
    None => "the chat template fails at tools or calls", "start the server with a mended template",
        "github.com/QwenLM/Qwen3-Coder/issues/434", ["jinja", "templateerror", "chat template"];
};

impl ServerFault {
    /// The known fault that these words of an endpoint tell.
    ///
    /// ```
    /// use toolgraft::model::{ServerFault, ServerKind};
    ///
    /// let fault = ServerFault::told_by("XML syntax error on line 7: unexpected EOF").unwrap();
    /// assert_eq!(fault.server, Some(ServerKind::Ollama));
    /// ```
    pub fn told_by(words: &str) -> Option<&'static ServerFault> {
        let words = words.to_lowercase();
        FAULTS.iter().find(|fault| fault.says.iter().any(|said| words.contains(said)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fault_is_known_by_its_words_and_no_other_message_is_one() {
        for fault in FAULTS {
            for said in fault.says {
                assert_eq!(ServerFault::told_by(&format!("Error: {}!", said.to_uppercase())), Some(fault), "{said}");
            }
        }
        for words in ["out of memory", "Invalid temperature", "model not found", "the prompt is too long"] {
            assert_eq!(ServerFault::told_by(words), None, "{words}");
        }
    }
}
