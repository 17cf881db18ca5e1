//! Tokens of chat templates, which a server should have taken off a model's text, by
//! family: what each says about whose turn the text behind it is.
//!
//! The classes and the sources are those of `docs/appendix/template-tokens.md`. A token that
//! several families have stands with the first of them. Left out are tokens that are
//! no syntax of their own: words of HTML and of prose (`<role>`, `<eos>`, `<AI>`,
//! `User:`), and those that begin with neither `<` nor `[`.

use TokenClass::{EndsMessage, EndsText, Neutral, OpensOther, OpensOwn, OpensRole};

/// What a token says about the text behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TokenClass {
    /// The model is done; servers stop here.
    EndsText,
    /// A message is over; the model's turn goes on if a header of its own follows.
    EndsMessage,
    /// What follows is another's.
    OpensOther,
    /// What follows is the model's.
    OpensOwn,
    /// What follows is the turn of the role whose name stands behind the token, and
    /// behind the name this text. A line break is a part of the token then; another
    /// token is one of its own.
    OpensRole(&'static str),
    /// It begins or ends a part of a turn.
    Neutral,
}

/// A token.
#[derive(Debug)]
#[non_exhaustive]
pub struct TemplateToken {
    /// The token; begins with `<` or `[`.
    pub text: &'static str,
    /// What it says about the text behind it.
    pub class: TokenClass,
}

/// The tokens of the chat templates of some models.
#[derive(Debug)]
#[non_exhaustive]
pub struct TokenFamily {
    /// The models.
    pub name: &'static str,
    /// Where their tokens are written down; short names as in `docs/appendix/families.md`.
    pub source: &'static str,
    /// The tokens.
    pub tokens: &'static [TemplateToken],
}

/// Names that chat templates have for the model.
pub(crate) const OWN_ROLES: &[&str] = &["assistant", "model", "ai", "assistant_tool_call", "Assistant"];

/// Names that chat templates have for others.
pub const OTHER_ROLES: &[&str] = &[
    "system", "developer", "user", "tool", "ipython", "environment", "observation", "tool_response", "available_tools",
    "document", "function", "human", "System", "User",
];

/// The token of Llama 2 and Mistral that ends a message. It is also HTML, so it
/// counts only at the very end of a text without [`STRIKE_OPEN`].
pub(crate) const SENTENCE_END: &str = "</s>";

/// What makes [`SENTENCE_END`] HTML.
pub(crate) const STRIKE_OPEN: &str = "<s>";

/// The tokens of these that announce calls.
pub(crate) const CALL_TOKENS: &[&str] = &["<|python_tag|>", "<|python_start|>", "<|tool_call_start|>"];

const fn token(text: &'static str, class: TokenClass) -> TemplateToken {
    TemplateToken { text, class }
}

macro_rules! family {
    ($name:literal, $source:literal, [$(($token:literal, $class:expr)),* $(,)?]) => {
        TokenFamily { name: $name, source: $source, tokens: &[$(token($token, $class)),*] }
    };
}

/// All families. None of their tokens begins another.
pub const TOKEN_FAMILIES: &[TokenFamily] = &[
    family!(
        "ChatML: Qwen, Hermes, Yi, Olmo 3, SmolLM, LFM2, InternLM and many more",
        "LCC; YE/Qwen-Qwen3-0.6B.jinja; InternLM/InternLM chat/chat_format.md",
        [
            ("<|im_start|>", OpensRole("\n")),
            ("<|im_end|>", EndsText),
            ("<|im_sep|>", Neutral),
            ("<|endoftext|>", EndsText),
            // LFM2 and MiniCPM3, around calls and results.
            ("<|tool_call_start|>", Neutral),
            ("<|tool_call_end|>", Neutral),
            ("<|tool_response_start|>", OpensOther),
            ("<|tool_response_end|>", Neutral),
        ]
    ),
    family!(
        "Llama 3 and 4",
        "YE/meta-llama-Llama-3.3-70B-Instruct.jinja; VE/tool_chat_template_llama4_pythonic.jinja",
        [
            ("<|begin_of_text|>", Neutral),
            ("<|end_of_text|>", EndsText),
            ("<|start_header_id|>", OpensRole("<|end_header_id|>")),
            ("<|end_header_id|>", Neutral),
            ("<|header_start|>", OpensRole("<|header_end|>")),
            ("<|header_end|>", Neutral),
            ("<|eot_id|>", EndsText),
            ("<|eom_id|>", EndsText),
            ("<|eot|>", EndsText),
            ("<|eom|>", EndsText),
            // Around calls in Python's syntax; the first one also before JSON.
            ("<|python_tag|>", Neutral),
            ("<|python_start|>", Neutral),
            ("<|python_end|>", Neutral),
        ]
    ),
    family!(
        "Mistral, Llama 2",
        "mistralai/mistral-common src/mistral_common/tokens/tokenizers/base.py; LCC",
        [
            ("[INST]", OpensOther),
            ("[/INST]", OpensOwn),
            ("[SYSTEM_PROMPT]", OpensOther),
            ("[/SYSTEM_PROMPT]", Neutral),
            ("[AVAILABLE_TOOLS]", OpensOther),
            ("[/AVAILABLE_TOOLS]", Neutral),
            ("[TOOL_RESULTS]", OpensOther),
            ("[/TOOL_RESULTS]", OpensOwn),
        ]
    ),
    family!(
        "Gemma 1 to 3",
        "LCC (gemma); VE/tool_chat_template_gemma3_pythonic.jinja",
        [
            ("<start_of_turn>", OpensRole("\n")),
            ("<end_of_turn>", EndsText),
            ("<start_function_response>", OpensOther),
            ("<end_function_response>", Neutral),
        ]
    ),
    family!(
        "Gemma 4",
        "LC/gemma4.jinja; SG/gemma4_detector.py",
        [
            ("<|turn>", OpensRole("\n")),
            ("<turn|>", EndsText),
            ("<|tool_response>", OpensOther),
            ("<tool_response|>", Neutral),
        ]
    ),
    family!(
        "Granite",
        "YE/ibm-granite-granite-3.3-2B-Instruct.jinja; AC/ibm-granite-granite-4.0.jinja",
        [("<|start_of_role|>", OpensRole("<|end_of_role|>")), ("<|end_of_role|>", Neutral)]
    ),
    family!(
        "Phi, Zephyr, Falcon3 and GLM",
        "LC/llama-cpp-microsoft-Phi-4-mini-instruct.jinja; LC/GLM-4.6.jinja; LCC (zephyr, falcon3, chatglm4)",
        [
            ("<|system|>", OpensOther),
            ("<|user|>", OpensOther),
            ("<|assistant|>", OpensOwn),
            ("<|observation|>", OpensOther),
            ("<|tool_response|>", OpensOther),
            // The vision models, around the answer.
            ("<|begin_of_box|>", Neutral),
            ("<|end_of_box|>", Neutral),
        ]
    ),
    family!(
        "gpt-oss (Harmony)",
        "openai/harmony docs/format.md; YE/openai-gpt-oss-120b.jinja",
        [
            ("<|start|>", OpensRole("<|")),
            ("<|message|>", Neutral),
            ("<|channel|>", Neutral),
            ("<|constrain|>", Neutral),
            // Phi and Apriel end their text with it, in which nothing of Harmony's follows.
            ("<|end|>", EndsMessage),
            ("<|return|>", EndsText),
            ("<|call|>", EndsText),
        ]
    ),
    family!(
        "DeepSeek",
        "YE/deepseek-ai-DeepSeek-V3.1.jinja; IK/deepseek-ai-DeepSeek-V4.1.jinja; SG/deepseekv3_detector.py",
        [
            ("<｜begin▁of▁sentence｜>", Neutral),
            ("<｜end▁of▁sentence｜>", EndsText),
            ("<｜User｜>", OpensOther),
            ("<｜Assistant｜>", OpensOwn),
            ("<｜System｜>", OpensOther),
            ("<｜latest_reminder｜>", OpensOther),
            ("<｜tool▁outputs▁begin｜>", OpensOther),
            ("<｜tool▁outputs▁end｜>", Neutral),
            ("<｜tool▁output▁begin｜>", OpensOther),
            ("<｜tool▁output▁end｜>", Neutral),
        ]
    ),
    family!(
        "Kimi K2",
        "LC/Kimi-K2-Thinking.jinja; LCC (kimi-k2)",
        [
            ("<|im_system|>", OpensOther),
            ("<|im_user|>", OpensOther),
            ("<|im_assistant|>", OpensOwn),
            ("<|im_middle|>", Neutral),
        ]
    ),
    family!(
        "Kimi K3",
        "LC/Kimi-K3.jinja; SG/kimik3_format.py",
        [
            ("<|end_of_msg|>", EndsText),
            ("<|open|>response<|sep|>", Neutral),
            ("<|close|>response<|sep|>", Neutral),
            ("<|close|>message<|sep|>", Neutral),
        ]
    ),
    family!(
        "Cohere Command",
        "LC/CohereForAI-c4ai-command-r7b-12-2024-tool_use.jinja; SG/cohere_command4_detector.py",
        [
            // The role is the next token.
            ("<|START_OF_TURN_TOKEN|>", Neutral),
            ("<|END_OF_TURN_TOKEN|>", EndsText),
            ("<|SYSTEM_TOKEN|>", OpensOther),
            ("<|USER_TOKEN|>", OpensOther),
            ("<|CHATBOT_TOKEN|>", OpensOwn),
            ("<|START_RESPONSE|>", Neutral),
            ("<|END_RESPONSE|>", Neutral),
            ("<|START_TEXT|>", Neutral),
            ("<|END_TEXT|>", Neutral),
            ("<|START_TOOL_RESULT|>", OpensOther),
            ("<|END_TOOL_RESULT|>", Neutral),
        ]
    ),
    family!(
        "Hunyuan",
        "VE/tool_chat_template_hunyuan_a13b.jinja; LCC (hunyuan-moe, hunyuan-dense)",
        [
            ("<|startoftext|>", Neutral),
            ("<|extra_4|>", Neutral),
            ("<|extra_0|>", OpensOwn),
            ("<|eos|>", EndsText),
            ("<｜hy_begin▁of▁sentence｜>", Neutral),
            ("<｜hy_User｜>", OpensOther),
            ("<｜hy_Assistant｜>", OpensOwn),
            ("<｜hy_place▁holder▁no▁2｜>", EndsText),
        ]
    ),
    family!(
        "ERNIE 4.5",
        "ms-swift swift/llm/template/template/baidu.py; LLaMA-Factory template.py",
        [("<|begin_of_sentence|>", Neutral), ("<|end_of_sentence|>", EndsText)]
    ),
    family!(
        "Seed-OSS",
        "LC/ByteDance-Seed-OSS.jinja",
        [("<seed:bos>", OpensRole("\n")), ("<seed:eos>", EndsText), ("<seed:pad>", Neutral)]
    ),
    family!(
        "MiniMax M1, M2",
        "VE/tool_chat_template_minimax_m1.jinja; LC/unsloth-MiniMax-M2.jinja",
        [("<end_of_sentence>", EndsText), ("[e~[", EndsText)]
    ),
    family!(
        "Nemotron Nano v2",
        "YE/NVIDIA-Nemotron-Nano-v2.jinja",
        [("<SPECIAL_10>", OpensOther), ("<SPECIAL_11>", OpensRole("\n")), ("<SPECIAL_12>", EndsText)]
    ),
    family!("Step-3", "VT/step3_tool_parser.py", [("<|BOT|>", OpensRole("")), ("<|EOT|>", EndsText)]),
    family!(
        "Apriel",
        "AC/unsloth-Apriel-1.5.jinja; LC/Apriel-1.6-15b-Thinker-fixed.jinja",
        [
            ("<|tool_result|>", OpensOther),
            ("<|begin_system|>", OpensOther),
            ("<|begin_user|>", OpensOther),
            ("<|begin_tool_result|>", OpensOther),
            ("<|begin_assistant|>", OpensOwn),
        ]
    ),
    family!(
        "EXAONE",
        "LCC (exaone3, exaone4)",
        [
            ("[|system|]", OpensOther),
            ("[|user|]", OpensOther),
            ("[|tool|]", OpensOther),
            ("[|assistant|]", OpensOwn),
            ("[|endofturn|]", EndsText),
        ]
    ),
    family!(
        "Motif 2",
        "huggingface.co/Motif-Technologies/Motif-2-12.7B-Instruct chat_template.jinja",
        // The role is the next token.
        [("<|beginoftext|>", Neutral), ("<|startofturn|>", Neutral), ("<|endofturn|>", EndsText)]
    ),
    family!(
        "Apertus",
        "PP/Apertus-8B-Instruct.jinja",
        [
            ("<|system_start|>", OpensOther),
            ("<|developer_start|>", OpensOther),
            ("<|user_start|>", OpensOther),
            ("<|user_end|>", Neutral),
            ("<|assistant_start|>", OpensOwn),
            ("<|assistant_end|>", EndsText),
        ]
    ),
    family!("GigaChat", "LC/GigaChat3-10B-A1.8B.jinja", [("<|message_sep|>", EndsText)]),
    family!("Ling 2, Ring", "LLaMA-Factory template.py (bailing_v2)", [("<|role_end|>", EndsText)]),
    family!("LongCat-Flash", "longcatorg.pages.dev/docs/chat-template.html", [("</longcat_s>", EndsText)]),
    family!(
        "Solar Open 100B",
        "readers in forks of vLLM",
        [("<|begin|>", OpensRole("<|")), ("<|flush|>", EndsText), ("<|calls|>", EndsText)]
    ),
    family!(
        "Inkling",
        "sgl-project/sglang python/sglang/srt/parser/inkling_tokenizer.py",
        [
            ("<|message_user|>", OpensOther),
            ("<|message_system|>", OpensOther),
            ("<|message_tool|>", OpensOther),
            ("<|message_model|>", OpensOwn),
            ("<|end_message|>", EndsMessage),
            ("<|content_model_end_sampling|>", EndsText),
        ]
    ),
    family!(
        "dots.llm1",
        "LCC (dots1)",
        [("<|userprompt|>", OpensOther), ("<|response|>", OpensOwn), ("<|endofresponse|>", EndsText)]
    ),
    family!(
        "OpenChat, Megrez, SmolVLM",
        "LCC",
        [("<|end_of_turn|>", EndsText), ("<|turn_end|>", EndsText), ("<end_of_utterance>", EndsText)]
    ),
];

/// The tokens of all families.
pub(crate) fn template_tokens() -> impl Iterator<Item = &'static TemplateToken> {
    TOKEN_FAMILIES.iter().flat_map(|family| family.tokens)
}

/// Control tokens of some models, beside those of [`TOKEN_FAMILIES`] and the two forms
/// `<|…|>` and `<｜…｜>`, which most families have.
#[derive(Debug)]
#[non_exhaustive]
pub struct ControlFamily {
    /// The models.
    pub name: &'static str,
    /// Where their tokens are written down; short names as in `docs/appendix/families.md`.
    pub source: &'static str,
    /// The tokens. They begin with `<`, `[`, `]`, `｜` or `◁`.
    pub tokens: &'static [&'static str],
}

macro_rules! control {
    ($name:literal, $source:literal, [$($token:literal),* $(,)?]) => {
        ControlFamily { name: $name, source: $source, tokens: &[$($token),*] }
    };
}

/// Texts that a model's tokeniser turns into one control token wherever they stand, so that
/// a text of a tool or a person must not hold them whole; see
/// [`break_tokens`](crate::outcome::break_tokens). Their parts and roles are those of
/// `docs/appendix/template-tokens.md`. No token begins inside another, but for its last character.
///
/// Tags that some tokenisers know as one token and that act on nobody's turn (`<think>`,
/// `<tool_call>`) are no control tokens: they are text of HTML and of code.
pub const CONTROL_FAMILIES: &[ControlFamily] = &[
    control!(
        "Llama 2, Mistral",
        "mistralai/mistral-common src/mistral_common/tokens/tokenizers/base.py; LCC",
        [
            "<s>", "</s>", "<unk>", "<pad>", "<<SYS>>", "<</SYS>>", "[TOOL_CALLS]", "[TOOL_CONTENT]", "[CALL_ID]",
            "[ARGS]", "[THINK]", "[/THINK]", "[IMG]", "[IMG_BREAK]", "[IMG_END]", "[AUDIO]", "[BEGIN_AUDIO]",
            "[MODEL_SETTINGS]", "[/MODEL_SETTINGS]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]",
        ]
    ),
    control!(
        "Gemma 1 to 3, FunctionGemma",
        "LCC (gemma); ai.google.dev/gemma/docs/functiongemma/formatting-and-best-practices",
        [
            "<bos>",
            "<eos>",
            "<mask>",
            "<start_of_image>",
            "<end_of_image>",
            "<image_soft_token>",
            "<start_function_declaration>",
            "<end_function_declaration>",
            "<start_function_call>",
            "<end_function_call>",
            "<escape>",
        ]
    ),
    control!(
        "Gemma 4",
        "LC/gemma4.jinja; SG/gemma4_detector.py",
        [
            "<|channel>", "<channel|>", "<|tool>", "<tool|>", "<|tool_call>", "<tool_call|>", "<|image>", "<image|>",
            "<|audio>", "<audio|>",
        ]
    ),
    control!("GLM", "LC/GLM-4.6.jinja; LCC (chatglm4)", ["[gMASK]", "[MASK]", "[sMASK]", "<sop>", "<eop>"]),
    control!("Kimi", "LC/Kimi-K2-Thinking.jinja", ["[EOS]", "[EOT]", "[BOS]", "[PAD]", "[UNK]", "◁think▷", "◁/think▷"]),
    control!("DeepSeek V3.2 and later", "IK/deepseek-ai-DeepSeek-V4.1.jinja", ["｜DSML｜"]),
    control!("GigaChat 3.5", "LC/GigaChat3-10B-A1.8B.jinja", ["｜GCML｜"]),
    control!(
        "Cohere Command, Aya",
        "LC/CohereForAI-c4ai-command-r7b-12-2024-tool_use.jinja",
        ["<BOS_TOKEN>", "<EOS_TOKEN>", "<EOP_TOKEN>", "<PAD>", "<UNK>", "<CLS>", "<SEP>", "<MASK_TOKEN>"]
    ),
    control!(
        "Seed-OSS",
        "LC/ByteDance-Seed-OSS.jinja",
        [
            "<seed:think>", "</seed:think>", "<seed:cot_budget_reflect>", "</seed:cot_budget_reflect>",
            "<seed:tool_call>", "</seed:tool_call>",
        ]
    ),
    control!(
        "MiniMax",
        "VE/tool_chat_template_minimax_m1.jinja; LC/unsloth-MiniMax-M2.jinja; LC/MiniMax-M3.jinja",
        ["<begin_of_document>", "<beginning_of_sentence>", "]~!b[", "]~b]", "]!p~[", "]!d~[", "]<]minimax[>["]
    ),
    control!("Apriel 1.5", "AC/unsloth-Apriel-1.5.jinja", ["[BEGIN FINAL RESPONSE]", "[END FINAL RESPONSE]"]),
    control!("Ling 2, Ring", "LLaMA-Factory template.py (bailing_v2)", ["<role>", "</role>"]),
    control!(
        "LongCat-Flash",
        "longcatorg.pages.dev/docs/chat-template.html",
        ["<longcat_s>", "<longcat_think>", "</longcat_think>", "<longcat_tool_call>", "</longcat_tool_call>",]
    ),
    control!("TeleChat", "LLaMA-Factory template.py (telechat)", ["<_user>", "<_bot>", "<_system>", "<_end>"]),
    control!("MiniCPM 1", "LLaMA-Factory template.py (cpm)", ["<用户>", "<AI>"]),
    control!("InternLM 1", "InternLM/InternLM chat/chat_format.md", ["<eoa>", "<eoh>"]),
];

/// Control tokens that end in a number and this: `<reserved_106>` of Baichuan, `<extra_id_1>`
/// of Nemotron, `<unused7>` of Gemma, `<SPECIAL_10>` of Nemotron Nano, `[control_8]` of Mistral.
/// Sources: LLaMA-Factory template.py (baichuan2); NVIDIA/Megatron-LM
/// megatron/training/tokenizer; YE/NVIDIA-Nemotron-Nano-v2.jinja; mistral-common base.py.
pub const NUMBERED_TOKENS: &[(&str, char)] =
    &[("<reserved_", '>'), ("<extra_id_", '>'), ("<unused", '>'), ("<SPECIAL_", '>'), ("[control_", ']')];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_token_begins_another_and_each_stands_once() {
        let tokens: Vec<_> = template_tokens().map(|token| token.text).collect();
        assert_eq!(tokens.iter().collect::<HashSet<_>>().len(), tokens.len());
        for token in &tokens {
            assert!(token.starts_with(['<', '[']) && token.len() > 2, "{token}");
            let longer = tokens.iter().find(|other| *other != token && other.starts_with(token));
            assert_eq!(longer, None, "{token}");
        }
    }

    #[test]
    fn the_documentation_has_each_token_with_its_class() {
        let docs = include_str!("../../docs/appendix/template-tokens.md");
        for token in template_tokens() {
            let cell = format!("| `{}` | ", token.text.replace('|', "\\|"));
            let classes: Vec<_> = docs.lines().filter_map(|line| line.strip_prefix(&cell)).collect();
            let fits = |class: &&&str| match token.class {
                EndsText => class.starts_with("ends the text"),
                EndsMessage => class.starts_with("ends a message"),
                OpensOther => class.starts_with("opens another's turn"),
                OpensOwn => class.starts_with("opens its own turn"),
                OpensRole(_) => class.starts_with("opens the turn of the role"),
                // The role is then a token of its own.
                Neutral => class.starts_with("neutral") || class.contains("the role is the next token"),
            };
            assert!(classes.iter().any(|class| fits(&class)), "{}: {classes:?}", token.text);
            let is_marked = !classes.iter().any(|class| class.ends_with("| no |"));
            assert!(is_marked, "{}: docs/appendix/template-tokens.md says that it is not known", token.text);
        }
    }
}
