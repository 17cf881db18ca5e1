//! Tokens of chat templates, which a server should have taken off a model's text.

/// A token, and what a role's name between the token and it makes part of the token.
#[derive(Debug)]
pub struct TemplateToken {
    /// The token; begins with `<`.
    pub text: &'static str,
    /// What stands behind the role that follows the token, if one does.
    pub role_end: Option<&'static str>,
}

/// Names of roles in chat templates.
pub const ROLES: &[&str] = &["system", "developer", "user", "assistant", "model", "tool", "ipython"];

/// The token of Llama 2 and Mistral that ends a message. It is also HTML, so it
/// counts only at the very end of a text without [`STRIKE_OPEN`].
pub const SENTENCE_END: &str = "</s>";

/// What makes [`SENTENCE_END`] HTML.
pub const STRIKE_OPEN: &str = "<s>";

const fn token(text: &'static str) -> TemplateToken {
    TemplateToken { text, role_end: None }
}

const fn role_token(text: &'static str, role_end: &'static str) -> TemplateToken {
    TemplateToken { text, role_end: Some(role_end) }
}

/// The tokens that nothing else looks like. None begins another.
pub const TEMPLATE_TOKENS: &[TemplateToken] = &[
    // ChatML: Qwen, Hermes, Yi, and many more.
    role_token("<|im_start|>", "\n"),
    token("<|im_end|>"),
    token("<|im_sep|>"),
    token("<|endoftext|>"),
    // Llama 3 and 4.
    token("<|begin_of_text|>"),
    token("<|end_of_text|>"),
    role_token("<|start_header_id|>", "<|end_header_id|>"),
    token("<|end_header_id|>"),
    role_token("<|header_start|>", "<|header_end|>"),
    token("<|header_end|>"),
    token("<|eot_id|>"),
    token("<|eom_id|>"),
    token("<|eot|>"),
    token("<|eom|>"),
    // Llama 3, 4 and LFM2, around calls in Python's syntax; the first one also before JSON.
    token("<|python_tag|>"),
    token("<|python_start|>"),
    token("<|python_end|>"),
    token("<|tool_call_start|>"),
    token("<|tool_call_end|>"),
    // Granite.
    role_token("<|start_of_role|>", "<|end_of_role|>"),
    token("<|end_of_role|>"),
    // Phi, Zephyr and GLM.
    token("<|end|>"),
    token("<|system|>"),
    token("<|user|>"),
    token("<|assistant|>"),
    token("<|observation|>"),
    // Gemma.
    role_token("<start_of_turn>", "\n"),
    token("<end_of_turn>"),
    // DeepSeek.
    token("<｜begin▁of▁sentence｜>"),
    token("<｜end▁of▁sentence｜>"),
    token("<｜User｜>"),
    token("<｜Assistant｜>"),
];
