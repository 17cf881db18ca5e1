//! Public faults of servers' own tool calling, by the words in which they come.
//!
//! A server that takes tools in a request renders a template with them and parses the model's text
//! for calls. Where one of both fails, the same request passes by prompt, and the words of the
//! failure say what would mend it at the server.

use super::server::ServerKind;

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

/// The known faults. One that another row's words are a part of stands before that.
const FAULTS: [ServerFault; 16] = [
    ServerFault {
        server: Some(ServerKind::LlamaCpp),
        what: "its parser cannot read a call that the model wrote",
        remedy: "take a newer build of llama.cpp",
        source: "github.com/ggml-org/llama.cpp/issues/24644",
        says: &["failed to parse input at pos"],
    },
    ServerFault {
        server: Some(ServerKind::LlamaCpp),
        what: "its parser takes back what it streamed of a call",
        remedy: "take a newer build of llama.cpp",
        source: "github.com/ggml-org/llama.cpp/issues/15713",
        says: &["invalid diff"],
    },
    ServerFault {
        server: Some(ServerKind::LlamaCpp),
        what: "arguments of the history are no JSON for it",
        remedy: "take a newer build of llama.cpp",
        source: "github.com/ggml-org/llama.cpp/issues/25510",
        says: &["failed to parse tool call arguments as json"],
    },
    ServerFault {
        server: Some(ServerKind::LlamaCpp),
        what: "it was started without templates for tools",
        remedy: "start llama-server with --jinja",
        source: "github.com/ggml-org/llama.cpp, tools/server/README.md",
        says: &["tools param requires --jinja", "unsupported param: tools"],
    },
    ServerFault {
        server: Some(ServerKind::LlamaCpp),
        what: "it makes no parser of the model's chat template",
        remedy: "start llama-server with a template that it knows (--chat-template-file)",
        source: "github.com/noonghunna/club-3090/issues/1250",
        says: &["unable to generate parser for this template"],
    },
    ServerFault {
        server: Some(ServerKind::LlamaCpp),
        what: "the chat template fails at tools or calls",
        remedy: "start llama-server with a mended template (--chat-template-file)",
        source: "github.com/ggml-org/llama.cpp/issues/19905",
        says: &["value is not callable", "unknown method:", "unknown (built-in) filter", "while executing "],
    },
    ServerFault {
        server: Some(ServerKind::LmStudio),
        what: "the chat template fails at tools or calls",
        remedy: "change the model's prompt template (My Models, model settings)",
        source: "github.com/lmstudio-ai/lmstudio-bug-tracker/issues/2233",
        says: &["error rendering prompt with jinja template"],
    },
    ServerFault {
        server: Some(ServerKind::Ollama),
        what: "its parser takes the model's call for XML",
        remedy: "take a newer Ollama",
        source: "github.com/ollama/ollama/issues/18563",
        says: &["xml syntax error", "failed to parse xml", "expected element type <"],
    },
    ServerFault {
        server: Some(ServerKind::Ollama),
        what: "its parser cannot read the arguments of a call",
        remedy: "take a newer Ollama",
        source: "github.com/ollama/ollama/issues/17638",
        says: &["error parsing tool call"],
    },
    ServerFault {
        server: Some(ServerKind::Ollama),
        what: "the model's template has no place for tools",
        remedy: "take a model that `ollama show` lists with the capability tools",
        source: "github.com/ollama/ollama/issues/5793",
        says: &["does not support tools"],
    },
    ServerFault {
        server: Some(ServerKind::Vllm),
        what: "it was started without a parser for calls",
        remedy: "start vLLM with --enable-auto-tool-choice and --tool-call-parser",
        source: "docs.vllm.ai/en/latest/features/tool_calling.html",
        says: &["--enable-auto-tool-choice"],
    },
    ServerFault {
        server: Some(ServerKind::Vllm),
        what: "its parser for gpt-oss ends at a header that the model wrote",
        remedy: "take a newer vLLM",
        source: "github.com/vllm-project/vllm/issues/51977",
        says: &["tokens remaining in message header", "while expecting start token", "harmonyerror"],
    },
    ServerFault {
        server: None,
        what: "its parser cannot read a call that the model wrote",
        remedy: "",
        source: "console.groq.com/docs/tool-use",
        says: &["failed to call a function", "tool_use_failed", "tool call validation failed"],
    },
    ServerFault {
        server: None,
        what: "none of the hosts behind it takes tools",
        remedy: "take another model or host",
        source: "github.com/mastra-ai/mastra/issues/2839",
        says: &["no endpoints found that support tool use"],
    },
    ServerFault {
        server: None,
        what: "its parser takes the model's call for JSON",
        remedy: "take a newer version of the server",
        source: "github.com/ml-explore/mlx-lm/issues/607",
        says: &["jsondecodeerror", "expecting value: line", "invalid \\escape", "expecting property name"],
    },
    ServerFault {
        server: None,
        what: "the chat template fails at tools or calls",
        remedy: "start the server with a mended template",
        source: "github.com/QwenLM/Qwen3-Coder/issues/434",
        says: &["jinja", "templateerror", "chat template"],
    },
];

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
        for fault in &FAULTS {
            for said in fault.says {
                assert_eq!(ServerFault::told_by(&format!("Error: {}!", said.to_uppercase())), Some(fault), "{said}");
            }
        }
        for words in ["out of memory", "Invalid temperature", "model not found", "the prompt is too long"] {
            assert_eq!(ServerFault::told_by(words), None, "{words}");
        }
    }
}
