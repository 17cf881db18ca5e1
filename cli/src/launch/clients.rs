//! The programs that `launch` starts. A further one is one entry of [`CLIENTS`].
//!
//! Every text is a template (minijinja) over these values; a variable or an argument whose text
//! comes out empty is left out, so that what depends on the context stands in `{% if context %}`.
//!
//! | value | what it is |
//! |---|---|
//! | `root`, `v1` | the door's URL, without and with `/v1` |
//! | `key` | what the door wants to be shown |
//! | `model` | the model's name, as the endpoint has it |
//! | `context` | tokens of its context, where they are known; `output` and `compact` are there then too |
//! | `output` | most tokens of an answer |
//! | `compact` | tokens from which on a history is to be made shorter |
//! | `folder` | the folder of the files |

/// A program that speaks an interface that `serve` has, and what it wants to be set.
#[derive(Debug)]
pub(super) struct Client {
    /// Its name on the command line.
    pub(super) name: &'static str,
    /// The program, as it is found in `PATH`.
    pub(super) program: &'static str,
    /// How it is installed.
    pub(super) install: &'static str,
    /// Tokens of its first request in a context of 32,768 (o200k; docs/clients.md).
    pub(super) first_request: u64,
    /// Variables and their texts.
    pub(super) set: &'static [(&'static str, &'static str)],
    /// Variables that would lead it elsewhere.
    pub(super) unset: &'static [&'static str],
    /// Files in a folder of the session's own, and their texts.
    pub(super) files: &'static [(&'static str, &'static str)],
    /// Arguments before those of the person.
    pub(super) arguments: &'static [&'static str],
}

impl Client {
    /// The client of a name.
    pub(super) fn named(name: &str) -> Option<&'static Client> {
        CLIENTS.iter().find(|client| client.name == name)
    }

    /// Its texts.
    pub(super) fn texts(&self) -> impl Iterator<Item = &'static str> {
        let named = self.set.iter().chain(self.files).map(|(_, text)| *text);
        named.chain(self.arguments.iter().copied())
    }
}

/// All of them.
pub(super) const CLIENTS: &[Client] = &[
    Client {
        name: "claude",
        program: "claude",
        install: "npm install -g @anthropic-ai/claude-code",
        first_request: 7_522,
        set: &[
            ("ANTHROPIC_BASE_URL", "{{ root }}"),
            ("ANTHROPIC_AUTH_TOKEN", "{{ key }}"),
            ("ANTHROPIC_MODEL", "{{ model }}"),
            ("ANTHROPIC_DEFAULT_OPUS_MODEL", "{{ model }}"),
            ("ANTHROPIC_DEFAULT_SONNET_MODEL", "{{ model }}"),
            ("ANTHROPIC_DEFAULT_HAIKU_MODEL", "{{ model }}"),
            // It makes its history shorter 13,000 tokens before the part that an answer may take,
            // which would be most of a small context.
            ("CLAUDE_CODE_MAX_CONTEXT_TOKENS", "{% if context %}{{ compact + output + 13000 }}{% endif %}"),
            ("CLAUDE_CODE_MAX_OUTPUT_TOKENS", "{{ output }}"),
            // Its first text else differs between sessions, and nothing behind it is cached.
            ("CLAUDE_CODE_ATTRIBUTION_HEADER", "0"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ],
        unset: &["ANTHROPIC_API_KEY", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"],
        files: &[],
        arguments: &[],
    },
    Client {
        name: "codex",
        program: "codex",
        install: "npm install -g @openai/codex",
        first_request: 6_561,
        set: &[("TOOLGRAFT_LAUNCH_KEY", "{{ key }}")],
        unset: &[],
        files: &[],
        arguments: &[
            "-c",
            r#"model_providers.toolgraft={name="toolgraft",base_url={{ v1|tojson }},env_key="TOOLGRAFT_LAUNCH_KEY",wire_api="responses"}"#,
            "-c",
            r#"model_provider="toolgraft""#,
            "-c",
            "model={{ model|tojson }}",
            "{% if context %}-c{% endif %}",
            "{% if context %}model_context_window={{ context }}{% endif %}",
            "{% if context %}-c{% endif %}",
            "{% if context %}model_auto_compact_token_limit={{ compact }}{% endif %}",
        ],
    },
    Client {
        name: "gemini",
        program: "gemini",
        install: "npm install -g @google/gemini-cli",
        first_request: 9_651,
        set: &[
            ("GOOGLE_GEMINI_BASE_URL", "{{ root }}"),
            ("GEMINI_API_KEY", "{{ key }}"),
            ("GEMINI_MODEL", "{{ model }}"),
            // It takes a file of settings that are to count in any case from root alone.
            ("GEMINI_CLI_HOME", "{{ folder }}"),
        ],
        unset: &["GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA"],
        // It takes every model's context for 1,048,576 tokens.
        files: &[(
            ".gemini/settings.json",
            r#"{
  "security": {"auth": {"selectedType": "gemini-api-key"}},
  "model": {"name": {{ model|tojson }}{% if context %}, "compressionThreshold": {{ compact / 1048576 }}{% endif %}}
}"#,
        )],
        arguments: &[],
    },
    Client {
        name: "opencode",
        program: "opencode",
        install: "npm install -g opencode-ai",
        first_request: 4_324,
        set: &[
            (
                "OPENCODE_CONFIG_CONTENT",
                r#"{"model": {{ ("toolgraft/" ~ model)|tojson }}, "small_model": {{ ("toolgraft/" ~ model)|tojson }}, "provider": {"toolgraft": {"npm": "@ai-sdk/openai-compatible", "name": "toolgraft", "options": {"baseURL": {{ v1|tojson }}, "apiKey": {{ key|tojson }}}, "models": {{ "{" }}{{ model|tojson }}: {"name": {{ model|tojson }}, "tool_call": true{% if context %}, "limit": {"context": {{ context }}, "output": {{ output }}}{% endif %}}}}}}"#,
            ),
            ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
        ],
        unset: &[],
        files: &[],
        arguments: &[],
    },
    Client {
        name: "qwen",
        program: "qwen",
        install: "npm install -g @qwen-code/qwen-code",
        first_request: 11_917,
        set: &[
            ("OPENAI_BASE_URL", "{{ v1 }}"),
            ("OPENAI_API_KEY", "{{ key }}"),
            ("OPENAI_MODEL", "{{ model }}"),
            ("QWEN_CODE_MAX_OUTPUT_TOKENS", "{{ output }}"),
            ("QWEN_CODE_SYSTEM_SETTINGS_PATH", "{{ folder }}/settings.json"),
        ],
        unset: &[],
        files: &[(
            "settings.json",
            r#"{
  "security": {"auth": {"selectedType": "openai"}},
  "model": {"name": {{ model|tojson }}{% if context %}, "generationConfig": {"contextWindowSize": {{ context }}}{% endif %}}
}"#,
        )],
        arguments: &[],
    },
    Client {
        name: "cline",
        program: "cline",
        install: "npm install -g cline",
        first_request: 3_562,
        set: &[("CLINE_PROVIDER_SETTINGS_PATH", "{{ folder }}/providers.json")],
        unset: &[],
        files: &[(
            "providers.json",
            r#"{"version": 1, "lastUsedProvider": "openai-compatible", "modes": {}, "providers": {"openai-compatible": {
  "settings": {"provider": "openai-compatible", "apiKey": {{ key|tojson }}, "model": {{ model|tojson }}, "baseUrl": {{ v1|tojson }}},
  "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"
}}}"#,
        )],
        arguments: &[],
    },
    Client {
        name: "continue",
        program: "cn",
        install: "npm install -g @continuedev/cli",
        first_request: 1_500,
        set: &[],
        unset: &[],
        files: &[(
            "config.yaml",
            r"name: toolgraft
version: 0.0.1
schema: v1
models:
  - name: {{ model|tojson }}
    provider: openai
    model: {{ model|tojson }}
    apiBase: {{ v1|tojson }}
    apiKey: {{ key|tojson }}
    roles: [chat]
    capabilities: [tool_use]
{%- if context %}
    defaultCompletionOptions:
      contextLength: {{ context }}
      maxTokens: {{ output }}
{%- endif %}",
        )],
        arguments: &["--config", "{{ folder }}/config.yaml"],
    },
];
