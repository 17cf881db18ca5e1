//! The bytes of a value: a file's text in the form of a family's template is read back byte for
//! byte.
//!
//! Each form is written by the named chat template; `@V` is the place of the value. Only values are
//! left out that no such template can express: those that contain the form's own tags, or begin
//! with a CDATA section.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgraft::dialect::write_call;
use toolgraft::parse::Config;
use toolgraft::{Catalog, Dialect, Parser, Tool};

/// The form of a value.
enum Written {
    /// Verbatim.
    AsItIs(&'static str),
    /// As a JSON string.
    Json(&'static str),
}

use Written::{AsItIs, Json};

const FORMS: &[(&str, Written)] = &[
    (
        "Qwen3-Coder, Qwen3.5, Nemotron 3, Step 3.5",
        AsItIs(
            "<tool_call>\n<function=write>\n<parameter=path>\na\n</parameter>\n<parameter=content>\n@V\n</parameter>\n</function>\n</tool_call>",
        ),
    ),
    (
        "Seed-OSS",
        AsItIs(
            "<seed:tool_call>\n<function=write>\n<parameter=path>a</parameter>\n<parameter=content>@V</parameter>\n</function>\n</seed:tool_call>",
        ),
    ),
    (
        "GLM-4.6, Laguna",
        AsItIs(
            "<tool_call>write\n<arg_key>path</arg_key>\n<arg_value>a</arg_value>\n<arg_key>content</arg_key>\n<arg_value>@V</arg_value>\n</tool_call>",
        ),
    ),
    (
        "GLM-4.7, Spark 2.5",
        AsItIs(
            "<tool_call>write<arg_key>path</arg_key><arg_value>a</arg_value><arg_key>content</arg_key><arg_value>@V</arg_value></tool_call>",
        ),
    ),
    (
        "LongCat",
        AsItIs(
            "<longcat_tool_call>write\n<longcat_arg_key>path</longcat_arg_key>\n<longcat_arg_value>a</longcat_arg_value>\n<longcat_arg_key>content</longcat_arg_key>\n<longcat_arg_value>@V</longcat_arg_value>\n</longcat_tool_call>",
        ),
    ),
    (
        "DeepSeek V3.2",
        AsItIs(
            "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"write\">\n<｜DSML｜parameter name=\"path\" string=\"true\">a</｜DSML｜parameter>\n<｜DSML｜parameter name=\"content\" string=\"true\">@V</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
        ),
    ),
    (
        "DeepSeek V4",
        AsItIs(
            "<｜DSML｜tool_calls>\n<｜DSML｜invoke name=\"write\">\n<｜DSML｜parameter name=\"path\" string=\"true\">a</｜DSML｜parameter>\n<｜DSML｜parameter name=\"content\" string=\"true\">@V</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>",
        ),
    ),
    (
        "MiniMax M2",
        AsItIs(
            "<minimax:tool_call>\n<invoke name=\"write\">\n<parameter name=\"path\">a</parameter>\n<parameter name=\"content\">@V</parameter>\n</invoke>\n</minimax:tool_call>",
        ),
    ),
    (
        "Anthropic's function calls",
        AsItIs(
            "<function_calls>\n<invoke name=\"write\">\n<parameter name=\"path\">a</parameter>\n<parameter name=\"content\">@V</parameter>\n</invoke>\n</function_calls>",
        ),
    ),
    (
        "Step-3",
        AsItIs(
            "<steptml:invoke name=\"write\"><steptml:parameter name=\"path\">a</steptml:parameter><steptml:parameter name=\"content\">@V</steptml:parameter></steptml:invoke>",
        ),
    ),
    (
        "Muse",
        AsItIs(
            "<atem:function_calls>\n<atem:invoke name=\"write\">\n<atem:parameter name=\"path\">a</atem:parameter>\n<atem:parameter name=\"content\">@V</atem:parameter>\n</atem:invoke>\n</atem:function_calls>",
        ),
    ),
    (
        "MiniCPM 5",
        AsItIs("<function name=\"write\"><param name=\"path\">a</param><param name=\"content\">@V</param></function>"),
    ),
    (
        "Solar Open 2",
        AsItIs(
            "<|tool_call:start|>write<|tool_arg:start|>path<|tool_arg:value|>a<|tool_arg:end|><|tool_arg:start|>content<|tool_arg:value|>@V<|tool_arg:end|><|tool_call:end|>",
        ),
    ),
    (
        "Kimi K3",
        AsItIs(
            "<|open|>call tool=\"write\" index=\"1\"<|sep|><|open|>argument key=\"path\" type=\"string\"<|sep|>a<|close|>argument<|sep|><|open|>argument key=\"content\" type=\"string\"<|sep|>@V<|close|>argument<|sep|><|close|>call<|sep|>",
        ),
    ),
    ("Gemma 4", AsItIs("<|tool_call>call:write{content:<|\"|>@V<|\"|>,path:<|\"|>a<|\"|>}<tool_call|>")),
    (
        "FunctionGemma",
        AsItIs("<start_function_call>call:write{content:<escape>@V<escape>,path:<escape>a<escape>}<end_function_call>"),
    ),
    ("a tool's tag, on lines of its own", AsItIs("<write>\n<path>a</path>\n<content>\n@V\n</content>\n</write>")),
    (
        "Hermes, Qwen 2.5 and 3, Granite 4",
        Json("<tool_call>\n{\"name\": \"write\", \"arguments\": {\"path\": \"a\", \"content\": @V}}\n</tool_call>"),
    ),
    (
        "DeepSeek V3.1",
        Json(
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>write<｜tool▁sep｜>{\"path\": \"a\", \"content\": @V}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        ),
    ),
    (
        "Kimi K2",
        Json(
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.write:0<|tool_call_argument_begin|>{\"path\": \"a\", \"content\": @V}<|tool_call_end|><|tool_calls_section_end|>",
        ),
    ),
    (
        "Solar Open",
        Json(
            "<|tool_call:begin|>a1<|tool_call:name|>write<|tool_call:args|>{\"path\": \"a\", \"content\": @V}<|tool_call:end|>",
        ),
    ),
    ("Mistral", Json("[TOOL_CALLS]write[ARGS]{\"path\": \"a\", \"content\": @V}")),
    (
        "gpt-oss",
        Json(
            "<|start|>assistant to=functions.write<|channel|>commentary json<|message|>{\"path\": \"a\", \"content\": @V}<|call|>",
        ),
    ),
];

/// Returns texts of files, with pieces of syntax at their ends and within.
fn files() -> Vec<String> {
    const BEFORE: [&str; 7] = ["", "\n", "\n\n", "\r\n", " ", "\t", "\n  "];
    const AFTER: [&str; 6] = ["", "\n", "\n\n", "\r\n", " \n", " "];
    const WITHIN: [&str; 20] = [
        "", "x", "a\nb", "    indent\n\tx", "{\"a\": 1}", "é 天气 😀", "<b>html</b> a < b && c", "&lt; &amp; &quot;",
        "\"quotes\" 'single' `code`", "C:\\new\\table \\", "```py\ncode\n```", "TYPE: MCP\n{}", "#!/bin/sh\necho $A",
        "a,b: c}", "[1, 2]", "null", "5", "- item\n  - sub", "it's", "]]>",
    ];
    let all = BEFORE.iter().flat_map(|before| {
        WITHIN.iter().flat_map(move |within| AFTER.iter().map(move |after| format!("{before}{within}{after}")))
    });
    all.collect()
}

fn parser() -> Parser {
    let text = json!({"type": "string"});
    let schema = json!({"type": "object", "properties": {"path": text, "content": text, "old": text, "new": text}});
    let tools = ["write", "edit"].map(|name| Tool::new(name).with_schema(schema.clone()));
    Parser::new(Config::default().with_catalog(Arc::new(Catalog::from_tools(tools))))
}

/// Returns the arguments of the only call in the text.
fn arguments(parser: &Parser, text: &str) -> Option<Value> {
    let found = parser.parse(text);
    let mut calls = found.calls();
    let call = calls.next()?;
    (calls.next().is_none() && found.content.is_empty()).then(|| call.arguments.clone())
}

#[test]
fn each_template_gives_a_file_back_byte_for_byte() {
    let (parser, files) = (parser(), files());
    assert!(files.len() > 800);
    for (name, form) in FORMS {
        for file in &files {
            let text = match form {
                AsItIs(form) => form.replace("@V", file),
                Json(form) => form.replace("@V", &json!(file).to_string()),
            };
            let read = arguments(&parser, &text).unwrap_or_default();
            assert_eq!(read["content"].as_str(), Some(file.as_str()), "{name}: {text}");
        }
    }
}

#[test]
fn what_is_written_for_the_history_gives_a_file_back_byte_for_byte() {
    let (parser, files) = (parser(), files());
    for dialect in Dialect::ALL {
        for file in &files {
            let arguments_of = json!({"path": "a", "content": file});
            let Value::Object(members) = &arguments_of else { continue };
            let text = write_call(*dialect, None, "write", members);
            let read = arguments(&parser, &text).unwrap_or_default();
            assert_eq!(read, arguments_of, "{dialect}: {text}");
        }
    }
}

#[test]
fn an_edit_that_takes_a_line_away_leaves_no_empty_one() {
    let parser = parser();
    for text in [
        "<edit>\n<old>x\n</old>\n<new></new>\n</edit>",
        "<edit>\n<old>\nx\n\n</old>\n<new>\n</new>\n</edit>",
        "<edit>\n<old>\nx\n\n</old>\n<new>\n\n</new>\n</edit>",
        "<function=edit><parameter=old>x\n</parameter><parameter=new></parameter></function>",
        "<tool_call>edit<arg_key>old</arg_key><arg_value>x\n</arg_value><arg_key>new</arg_key><arg_value></arg_value></tool_call>",
    ] {
        assert_eq!(arguments(&parser, text), Some(json!({"old": "x\n", "new": ""})), "{text}");
    }
}

#[test]
fn a_line_break_at_one_end_alone_is_the_values() {
    let parser = parser();
    for value in ["x\n", "\nx", "x\r\n", "\r\nx", "\n x "] {
        for text in [
            format!("<write><path>a</path><content>{value}</content></write>"),
            format!("<function=write><parameter=path>a</parameter><parameter=content>{value}</parameter></function>"),
        ] {
            assert_eq!(arguments(&parser, &text), Some(json!({"path": "a", "content": value})), "{text}");
        }
    }
}
