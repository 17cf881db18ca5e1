//! A model's native dialect by texts in its chat template, where that is not rendered.

use super::Dialect;

/// Texts that occur in a chat template and show the dialect that the template writes, the more specific first.
///
/// Each row was found in the template of the model named beside it, as llama.cpp ships them (models/templates).
const TEMPLATES: &[(&str, Dialect)] = &[
    ("｜DSML｜", Dialect::Invoke),                // DeepSeek V3.2
    ("<arg_key>", Dialect::Glm),                  // GLM 4.6
    ("<|tool_call>", Dialect::Gemma),             // Gemma 4
    ("<function=", Dialect::FunctionTag),         // Qwen3 Coder
    ("[TOOL_CALLS]", Dialect::ToolCalls),         // Mistral Nemo
    ("<｜tool▁call▁begin｜>", Dialect::DeepSeek), // DeepSeek V3.1
    ("<|tool_call_begin|>", Dialect::Kimi),       // Kimi K2
    ("<|tool_call:begin|>", Dialect::Solar),      // Solar Open
    ("<|channel|>commentary", Dialect::Harmony),  // gpt-oss
    ("<|START_ACTION|>", Dialect::Command),       // Command R7B
    ("<invoke name=", Dialect::Invoke),           // MiniMax M2
    ("<|python_tag|>", Dialect::PythonTag),       // Llama 3.1
    ("<tool_call>", Dialect::Hermes),             // Hermes 3, Qwen 2.5
];

/// Returns the native dialect of a model by texts in its chat template, `None` if none of them occurs.
pub(crate) fn by_template(template: &str) -> Option<Dialect> {
    TEMPLATES.iter().find(|(text, _)| template.contains(text)).map(|(_, dialect)| *dialect)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_more_particular_counts() {
        for (template, dialect) in [
            ("{{ '<tool_call>\\n<function=' + name }}", Some(Dialect::FunctionTag)),
            ("<tool_call>{{ name }}<arg_key>", Some(Dialect::Glm)),
            ("<|tool_call>call:{{ name }}", Some(Dialect::Gemma)),
            ("<｜DSML｜invoke name=", Some(Dialect::Invoke)),
            ("{{ message.content }}<|im_end|>", None),
            ("", None),
        ] {
            assert_eq!(by_template(template), dialect, "{template}");
        }
    }
}
