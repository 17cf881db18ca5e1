//! Tokens of chat templates, which a server should have taken off a model's text, by family: each says whose turn the
//! text after it is.
//!
//! The classes and the sources are those of `docs/appendix/template-tokens.md`. A token that
//! several families have stands with the first of them. Left out are tokens that are
//! no syntax of their own: words of HTML and of prose (`<role>`, `<eos>`, `<AI>`,
//! `User:`), and those that begin with neither `<` nor `[`.

use TokenClass::{EndsMessage, EndsText, Neutral, OpensOther, OpensOwn, OpensRole};

/// The meaning of a token for the text after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TokenClass {
    /// The model is done; servers stop here.
    EndsText,
    /// A message is over; the model's turn goes on if a header of its own follows.
    EndsMessage,
    /// The text after it is another's.
    OpensOther,
    /// The text after it is the model's.
    OpensOwn,
    /// The text after it is the turn of the role whose name follows the token, with this text after the name. A line
    /// break is a part of the token then; another token is one of its own.
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
    /// Its meaning for the text after it.
    pub class: TokenClass,
}

/// The tokens of the chat templates of some models.
#[derive(Debug)]
#[non_exhaustive]
pub struct TokenFamily {
    /// The models.
    pub name: &'static str,
    /// The document that defines their tokens; short names as in `docs/appendix/families.md`.
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

/// The opening tag that makes [`SENTENCE_END`] HTML.
pub(crate) const STRIKE_OPEN: &str = "<s>";

/// The tokens of these that announce calls.
pub(crate) const CALL_TOKENS: &[&str] = &["<|python_tag|>", "<|python_start|>", "<|tool_call_start|>"];

const fn token(text: &'static str, class: TokenClass) -> TemplateToken {
    TemplateToken { text, class }
}

macro_rules! family {
    ($name:literal, $source:literal, $($class:expr => $($token:literal)+;)+) => {
        TokenFamily { name: $name, source: $source, tokens: &[$($(token($token, $class)),+),+] }
    };
}

/// All families. None of their tokens begins another.
pub const TOKEN_FAMILIES: &[TokenFamily] = &[
    family!("ChatML: Qwen, Hermes, Yi, Olmo 3, SmolLM, LFM2, InternLM and many more",
        "LCC; YE/Qwen-Qwen3-0.6B.jinja; InternLM/InternLM chat/chat_format.md",
        OpensRole("\n") => "<|im_start|>";
        EndsText => "<|im_end|>" "<|endoftext|>";
        // Those after `<|im_sep|>`: LFM2 and MiniCPM3, around calls and results.
        Neutral => "<|im_sep|>" "<|tool_call_start|>" "<|tool_call_end|>" "<|tool_response_end|>";
        OpensOther => "<|tool_response_start|>";
    ),
    family!("Llama 3 and 4",
        "YE/meta-llama-Llama-3.3-70B-Instruct.jinja; VE/tool_chat_template_llama4_pythonic.jinja",
        // Those of Python stand around calls in Python's syntax, `<|python_tag|>` also before JSON.
        Neutral => "<|begin_of_text|>" "<|end_header_id|>" "<|header_end|>" "<|python_tag|>" "<|python_start|>"
            "<|python_end|>";
        EndsText => "<|end_of_text|>" "<|eot_id|>" "<|eom_id|>" "<|eot|>" "<|eom|>";
        OpensRole("<|end_header_id|>") => "<|start_header_id|>";
        OpensRole("<|header_end|>") => "<|header_start|>";
    ),
    family!("Mistral, Llama 2", "mistralai/mistral-common src/mistral_common/tokens/tokenizers/base.py; LCC",
        OpensOther => "[INST]" "[SYSTEM_PROMPT]" "[AVAILABLE_TOOLS]" "[TOOL_RESULTS]";
        OpensOwn => "[/INST]" "[/TOOL_RESULTS]";
        Neutral => "[/SYSTEM_PROMPT]" "[/AVAILABLE_TOOLS]";
    ),
    family!("Gemma 1 to 3", "LCC (gemma); VE/tool_chat_template_gemma3_pythonic.jinja",
        OpensRole("\n") => "<start_of_turn>";
        EndsText => "<end_of_turn>";
        OpensOther => "<start_function_response>";
        Neutral => "<end_function_response>";
    ),
    family!("Gemma 4", "LC/gemma4.jinja; SG/gemma4_detector.py",
        OpensRole("\n") => "<|turn>";
        EndsText => "<turn|>";
        OpensOther => "<|tool_response>";
        Neutral => "<tool_response|>";
    ),
    family!("Granite", "YE/ibm-granite-granite-3.3-2B-Instruct.jinja; AC/ibm-granite-granite-4.0.jinja",
        OpensRole("<|end_of_role|>") => "<|start_of_role|>";
        Neutral => "<|end_of_role|>";
    ),
    family!("Phi, Zephyr, Falcon3 and GLM",
        "LC/llama-cpp-microsoft-Phi-4-mini-instruct.jinja; LC/GLM-4.6.jinja; LCC (zephyr, falcon3, chatglm4)",
        OpensOther => "<|system|>" "<|user|>" "<|observation|>" "<|tool_response|>";
        OpensOwn => "<|assistant|>";
        // The vision models, around the answer.
        Neutral => "<|begin_of_box|>" "<|end_of_box|>";
    ),
    family!("gpt-oss (Harmony)", "openai/harmony docs/format.md; YE/openai-gpt-oss-120b.jinja",
        OpensRole("<|") => "<|start|>";
        Neutral => "<|message|>" "<|channel|>" "<|constrain|>";
        // Phi and Apriel end their text with it, in which nothing of Harmony's follows.
        EndsMessage => "<|end|>";
        EndsText => "<|return|>" "<|call|>";
    ),
    family!("DeepSeek",
        "YE/deepseek-ai-DeepSeek-V3.1.jinja; IK/deepseek-ai-DeepSeek-V4.1.jinja; SG/deepseekv3_detector.py",
        Neutral => "<｜begin▁of▁sentence｜>" "<｜tool▁outputs▁end｜>" "<｜tool▁output▁end｜>";
        EndsText => "<｜end▁of▁sentence｜>";
        OpensOther => "<｜User｜>" "<｜System｜>" "<｜latest_reminder｜>" "<｜tool▁outputs▁begin｜>" "<｜tool▁output▁begin｜>";
        OpensOwn => "<｜Assistant｜>";
    ),
    family!("Kimi K2", "LC/Kimi-K2-Thinking.jinja; LCC (kimi-k2)",
        OpensOther => "<|im_system|>" "<|im_user|>";
        OpensOwn => "<|im_assistant|>";
        Neutral => "<|im_middle|>";
    ),
    family!("Kimi K3", "LC/Kimi-K3.jinja; SG/kimik3_format.py",
        EndsText => "<|end_of_msg|>";
        Neutral => "<|open|>response<|sep|>" "<|close|>response<|sep|>" "<|close|>message<|sep|>";
    ),
    family!("Cohere Command",
        "LC/CohereForAI-c4ai-command-r7b-12-2024-tool_use.jinja; SG/cohere_command4_detector.py",
        // After `<|START_OF_TURN_TOKEN|>` the role is the next token.
        Neutral => "<|START_OF_TURN_TOKEN|>" "<|START_RESPONSE|>" "<|END_RESPONSE|>" "<|START_TEXT|>" "<|END_TEXT|>"
            "<|END_TOOL_RESULT|>";
        EndsText => "<|END_OF_TURN_TOKEN|>";
        OpensOther => "<|SYSTEM_TOKEN|>" "<|USER_TOKEN|>" "<|START_TOOL_RESULT|>";
        OpensOwn => "<|CHATBOT_TOKEN|>";
    ),
    family!("Hunyuan", "VE/tool_chat_template_hunyuan_a13b.jinja; LCC (hunyuan-moe, hunyuan-dense)",
        Neutral => "<|startoftext|>" "<|extra_4|>" "<｜hy_begin▁of▁sentence｜>";
        OpensOwn => "<|extra_0|>" "<｜hy_Assistant｜>";
        EndsText => "<|eos|>" "<｜hy_place▁holder▁no▁2｜>";
        OpensOther => "<｜hy_User｜>";
    ),
    family!("ERNIE 4.5", "ms-swift swift/llm/template/template/baidu.py; LLaMA-Factory template.py",
        Neutral => "<|begin_of_sentence|>";
        EndsText => "<|end_of_sentence|>";
    ),
    family!("Seed-OSS", "LC/ByteDance-Seed-OSS.jinja",
        OpensRole("\n") => "<seed:bos>";
        EndsText => "<seed:eos>";
        Neutral => "<seed:pad>";
    ),
    family!("MiniMax M1, M2", "VE/tool_chat_template_minimax_m1.jinja; LC/unsloth-MiniMax-M2.jinja",
        EndsText => "<end_of_sentence>" "[e~[";
    ),
    family!("Nemotron Nano v2", "YE/NVIDIA-Nemotron-Nano-v2.jinja",
        OpensOther => "<SPECIAL_10>";
        OpensRole("\n") => "<SPECIAL_11>";
        EndsText => "<SPECIAL_12>";
    ),
    family!("Step-3", "VT/step3_tool_parser.py",
        OpensRole("") => "<|BOT|>";
        EndsText => "<|EOT|>";
    ),
    family!("Apriel", "AC/unsloth-Apriel-1.5.jinja; LC/Apriel-1.6-15b-Thinker-fixed.jinja",
        OpensOther => "<|tool_result|>" "<|begin_system|>" "<|begin_user|>" "<|begin_tool_result|>";
        OpensOwn => "<|begin_assistant|>";
    ),
    family!("EXAONE", "LCC (exaone3, exaone4)",
        OpensOther => "[|system|]" "[|user|]" "[|tool|]";
        OpensOwn => "[|assistant|]";
        EndsText => "[|endofturn|]";
    ),
    family!("Motif 2", "huggingface.co/Motif-Technologies/Motif-2-12.7B-Instruct chat_template.jinja",
        // The role is the next token.
        Neutral => "<|beginoftext|>" "<|startofturn|>";
        EndsText => "<|endofturn|>";
    ),
    family!("Apertus", "PP/Apertus-8B-Instruct.jinja",
        OpensOther => "<|system_start|>" "<|developer_start|>" "<|user_start|>";
        Neutral => "<|user_end|>";
        OpensOwn => "<|assistant_start|>";
        EndsText => "<|assistant_end|>";
    ),
    family!("GigaChat", "LC/GigaChat3-10B-A1.8B.jinja",
        EndsText => "<|message_sep|>";
    ),
    family!("Ling 2, Ring", "LLaMA-Factory template.py (bailing_v2)",
        EndsText => "<|role_end|>";
    ),
    family!("LongCat-Flash", "longcatorg.pages.dev/docs/chat-template.html",
        EndsText => "</longcat_s>";
    ),
    family!("Solar Open 100B", "readers in forks of vLLM",
        OpensRole("<|") => "<|begin|>";
        EndsText => "<|flush|>" "<|calls|>";
    ),
    family!("Inkling", "sgl-project/sglang python/sglang/srt/parser/inkling_tokenizer.py",
        OpensOther => "<|message_user|>" "<|message_system|>" "<|message_tool|>";
        OpensOwn => "<|message_model|>";
        EndsMessage => "<|end_message|>";
        EndsText => "<|content_model_end_sampling|>";
    ),
    family!("dots.llm1", "LCC (dots1)",
        OpensOther => "<|userprompt|>";
        OpensOwn => "<|response|>";
        EndsText => "<|endofresponse|>";
    ),
    family!("OpenChat, Megrez, SmolVLM", "LCC",
        EndsText => "<|end_of_turn|>" "<|turn_end|>" "<end_of_utterance>";
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
    /// The document that defines their tokens; short names as in `docs/appendix/families.md`.
    pub source: &'static str,
    /// The tokens. They begin with `<`, `[`, `]`, `｜` or `◁`.
    pub tokens: &'static [&'static str],
}

macro_rules! control {
    ($name:literal, $source:literal, $($token:literal)+) => {
        ControlFamily { name: $name, source: $source, tokens: &[$($token),+] }
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
    control!("Llama 2, Mistral", "mistralai/mistral-common src/mistral_common/tokens/tokenizers/base.py; LCC",
        "<s>" "</s>" "<unk>" "<pad>" "<<SYS>>" "<</SYS>>" "[TOOL_CALLS]" "[TOOL_CONTENT]" "[CALL_ID]" "[ARGS]"
        "[THINK]" "[/THINK]" "[IMG]" "[IMG_BREAK]" "[IMG_END]" "[AUDIO]" "[BEGIN_AUDIO]" "[MODEL_SETTINGS]"
        "[/MODEL_SETTINGS]" "[PREFIX]" "[MIDDLE]" "[SUFFIX]"),
    control!("Gemma 1 to 3, FunctionGemma",
        "LCC (gemma); ai.google.dev/gemma/docs/functiongemma/formatting-and-best-practices",
        "<bos>" "<eos>" "<mask>" "<start_of_image>" "<end_of_image>" "<image_soft_token>"
        "<start_function_declaration>" "<end_function_declaration>" "<start_function_call>" "<end_function_call>"
        "<escape>"),
    control!("Gemma 4", "LC/gemma4.jinja; SG/gemma4_detector.py",
        "<|channel>" "<channel|>" "<|tool>" "<tool|>" "<|tool_call>" "<tool_call|>" "<|image>" "<image|>" "<|audio>"
        "<audio|>"),
    control!("GLM", "LC/GLM-4.6.jinja; LCC (chatglm4)", "[gMASK]" "[MASK]" "[sMASK]" "<sop>" "<eop>"),
    control!("Kimi", "LC/Kimi-K2-Thinking.jinja", "[EOS]" "[EOT]" "[BOS]" "[PAD]" "[UNK]" "◁think▷" "◁/think▷"),
    control!("DeepSeek V3.2 and later", "IK/deepseek-ai-DeepSeek-V4.1.jinja", "｜DSML｜"),
    control!("GigaChat 3.5", "LC/GigaChat3-10B-A1.8B.jinja", "｜GCML｜"),
    control!("Cohere Command, Aya", "LC/CohereForAI-c4ai-command-r7b-12-2024-tool_use.jinja",
        "<BOS_TOKEN>" "<EOS_TOKEN>" "<EOP_TOKEN>" "<PAD>" "<UNK>" "<CLS>" "<SEP>" "<MASK_TOKEN>"),
    control!("Seed-OSS", "LC/ByteDance-Seed-OSS.jinja",
        "<seed:think>" "</seed:think>" "<seed:cot_budget_reflect>" "</seed:cot_budget_reflect>" "<seed:tool_call>"
        "</seed:tool_call>"),
    control!("MiniMax", "VE/tool_chat_template_minimax_m1.jinja; LC/unsloth-MiniMax-M2.jinja; LC/MiniMax-M3.jinja",
        "<begin_of_document>" "<beginning_of_sentence>" "]~!b[" "]~b]" "]!p~[" "]!d~[" "]<]minimax[>["),
    control!("Apriel 1.5", "AC/unsloth-Apriel-1.5.jinja", "[BEGIN FINAL RESPONSE]" "[END FINAL RESPONSE]"),
    control!("Ling 2, Ring", "LLaMA-Factory template.py (bailing_v2)", "<role>" "</role>"),
    control!("LongCat-Flash", "longcatorg.pages.dev/docs/chat-template.html",
        "<longcat_s>" "<longcat_think>" "</longcat_think>" "<longcat_tool_call>" "</longcat_tool_call>"),
    control!("TeleChat", "LLaMA-Factory template.py (telechat)", "<_user>" "<_bot>" "<_system>" "<_end>"),
    control!("MiniCPM 1", "LLaMA-Factory template.py (cpm)", "<用户>" "<AI>"),
    control!("InternLM 1", "InternLM/InternLM chat/chat_format.md", "<eoa>" "<eoh>"),
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
