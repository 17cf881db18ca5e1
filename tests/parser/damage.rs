//! Law 7: the text of an unreadable call never runs.
//!
//! In each spelling, a call that writes a file is damaged in each of several ways, with each
//! spelling of a call that deletes one in the file's text. That inner call never runs.

use std::sync::Arc;

use serde_json::json;
use toolgraft::event::Assembled;
use toolgraft::parse::Config;
use toolgraft::{Catalog, Parser, Tool};

/// The form of the file's text in a spelling.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Quoting {
    /// In a string of JSON or Python.
    Escaped,
    /// Verbatim, between tags or tokens.
    Verbatim,
}

use Quoting::{Escaped, Verbatim};
use toolgraft_testkit::laws::{self, Input};

/// A spelling of a call: `@T` is the tool, `@A` its arguments as a JSON object, `@V` the value of
/// its last parameter; and its closing delimiter.
struct Spelling {
    name: &'static str,
    outer: &'static str,
    inner: &'static str,
    quoting: Quoting,
    close: &'static str,
}

const fn json(name: &'static str, text: &'static str, close: &'static str) -> Spelling {
    Spelling { name, outer: text, inner: text, quoting: Escaped, close }
}

const SPELLINGS: &[Spelling] = &[
    json(
        "use_mcp_tool",
        "<use_mcp_tool>\n<server_name>fs</server_name>\n<tool_name>@T</tool_name>\n<arguments>@A</arguments>\n</use_mcp_tool>",
        "</arguments>\n</use_mcp_tool>",
    ),
    json("type_marker", "TYPE: MCP\n{\"tool_name\": \"@T\", \"parameters\": @A}", ""),
    json("type_marker, fenced", "TYPE: MCP\n```json\n{\"tool_name\": \"@T\", \"parameters\": @A}\n```", "\n```"),
    json("hermes", "<tool_call>\n{\"name\": \"@T\", \"arguments\": @A}\n</tool_call>", "\n</tool_call>"),
    json("hermes, on a line", "<tool_call>{\"name\": \"@T\", \"arguments\": @A}</tool_call>", "</tool_call>"),
    json("nemotron", "<TOOLCALL>[{\"name\": \"@T\", \"arguments\": @A}]</TOOLCALL>", "]</TOOLCALL>"),
    json("gigachat", "<|function_call|>{\"name\": \"@T\", \"arguments\": @A}", ""),
    json("functools", "functools[{\"name\": \"@T\", \"arguments\": @A}]", "]"),
    json("mistral, list", "[TOOL_CALLS] [{\"name\": \"@T\", \"arguments\": @A}]", "]"),
    json("mistral", "[TOOL_CALLS]@T[ARGS]@A", ""),
    json("tool_request", "[TOOL_REQUEST]{\"name\": \"@T\", \"arguments\": @A}[END_TOOL_REQUEST]", "[END_TOOL_REQUEST]"),
    json("python_tag", "<|python_tag|>{\"name\": \"@T\", \"parameters\": @A}", ""),
    json("llama", "<function=@T>@A</function>", "</function>"),
    json(
        "deepseek",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>@T\n```json\n@A\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        "\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    ),
    json("deepseek 3.1", "<｜tool▁call▁begin｜>@T<｜tool▁sep｜>@A<｜tool▁call▁end｜>", "<｜tool▁call▁end｜>"),
    json(
        "kimi",
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.@T:0<|tool_call_argument_begin|>@A<|tool_call_end|><|tool_calls_section_end|>",
        "<|tool_call_end|><|tool_calls_section_end|>",
    ),
    json("harmony", "<|channel|>commentary to=functions.@T <|constrain|>json<|message|>@A<|call|>", "<|call|>"),
    json("command", "<|START_ACTION|>[{\"tool_name\": \"@T\", \"parameters\": @A}]<|END_ACTION|>", "]<|END_ACTION|>"),
    json(
        "solar",
        "<|tool_call:begin|>a1<|tool_call:name|>@T<|tool_call:args|>@A<|tool_call:end|>",
        "<|tool_call:end|>",
    ),
    json("json", "{\"name\": \"@T\", \"arguments\": @A}", ""),
    json("glm-4", "@T\n@A", ""),
    json("react", "Action: @T\nAction Input: @A", ""),
    Spelling {
        name: "python, list",
        outer: "[@T(path=\"a\", content=\"@V\")]",
        inner: "[@T(path=\"/\")]",
        quoting: Escaped,
        close: "",
    },
    Spelling {
        name: "python, line",
        outer: "@T(path=\"a\", content=\"@V\")",
        inner: "@T(path=\"/\")",
        quoting: Escaped,
        close: "",
    },
    Spelling {
        name: "lfm2",
        outer: "<|tool_call_start|>[@T(path=\"a\", content=\"@V\")]<|tool_call_end|>",
        inner: "<|tool_call_start|>[@T(path=\"/\")]<|tool_call_end|>",
        quoting: Escaped,
        close: "<|tool_call_end|>",
    },
    Spelling {
        name: "tool_tag",
        outer: "<@T>\n<path>a</path>\n<content>@V</content>\n</@T>",
        inner: "<@T><path>/</path></@T>",
        quoting: Verbatim,
        close: "</content>\n</write_to_file>",
    },
    Spelling {
        name: "qwen coder",
        outer: "<tool_call>\n<function=@T>\n<parameter=path>\na\n</parameter>\n<parameter=content>\n@V\n</parameter>\n</function>\n</tool_call>",
        inner: "<tool_call>\n<function=@T>\n<parameter=path>\n/\n</parameter>\n</function>\n</tool_call>",
        quoting: Verbatim,
        close: "\n</parameter>\n</function>\n</tool_call>",
    },
    Spelling {
        name: "invoke",
        outer: "<function_calls>\n<invoke name=\"@T\">\n<parameter name=\"path\">a</parameter>\n<parameter name=\"content\">@V</parameter>\n</invoke>\n</function_calls>",
        inner: "<invoke name=\"@T\">\n<parameter name=\"path\">/</parameter>\n</invoke>",
        quoting: Verbatim,
        close: "</parameter>\n</invoke>\n</function_calls>",
    },
    Spelling {
        name: "glm",
        outer: "<tool_call>@T\n<arg_key>path</arg_key>\n<arg_value>a</arg_value>\n<arg_key>content</arg_key>\n<arg_value>@V</arg_value>\n</tool_call>",
        inner: "<tool_call>@T\n<arg_key>path</arg_key>\n<arg_value>/</arg_value>\n</tool_call>",
        quoting: Verbatim,
        close: "</arg_value>\n</tool_call>",
    },
    Spelling {
        name: "kimi k3",
        outer: "<|open|>call tool=\"@T\" index=\"1\"<|sep|><|open|>argument key=\"path\" type=\"string\"<|sep|>a<|close|>argument<|sep|><|open|>argument key=\"content\" type=\"string\"<|sep|>@V<|close|>argument<|sep|><|close|>call<|sep|>",
        inner: "<|open|>call tool=\"@T\" index=\"1\"<|sep|><|open|>argument key=\"path\" type=\"string\"<|sep|>/<|close|>argument<|sep|><|close|>call<|sep|>",
        quoting: Verbatim,
        close: "<|close|>argument<|sep|><|close|>call<|sep|>",
    },
    Spelling {
        name: "solar 2",
        outer: "<|tool_call:start|>@T<|tool_arg:start|>path<|tool_arg:value|>a<|tool_arg:end|><|tool_arg:start|>content<|tool_arg:value|>@V<|tool_arg:end|><|tool_call:end|>",
        inner: "<|tool_call:start|>@T<|tool_arg:start|>path<|tool_arg:value|>/<|tool_arg:end|><|tool_call:end|>",
        quoting: Verbatim,
        close: "<|tool_arg:end|><|tool_call:end|>",
    },
    Spelling {
        name: "gemma",
        outer: "<|tool_call>call:@T{path:<|\"|>a<|\"|>,content:<|\"|>@V<|\"|>}<tool_call|>",
        inner: "<|tool_call>call:@T{path:<|\"|>/<|\"|>}<tool_call|>",
        quoting: Verbatim,
        close: "<tool_call|>",
    },
];

impl Spelling {
    /// Returns the call that deletes.
    fn deletes(&self) -> String {
        self.inner.replace("@T", "delete").replace("@A", "{\"path\": \"/\"}")
    }

    /// Returns the call that writes a file, with this text verbatim as the value.
    fn writes(&self, value: &str) -> String {
        let arguments = format!("{{\"path\": \"a\", \"content\": \"{value}\"}}");
        self.outer.replace("@T", "write_to_file").replace("@A", &arguments).replace("@V", value)
    }

    /// Returns the text after the value.
    fn after(&self) -> String {
        let whole = self.writes("\u{1}");
        whole.split_once('\u{1}').map(|(_, rest)| rest.to_owned()).unwrap_or_default()
    }
}

/// Returns the content of the text's JSON string.
fn escaped(text: &str) -> String {
    let text = json!(text).to_string();
    text[1..text.len() - 1].to_owned()
}

/// Returns damaged calls with the name of each kind of damage. Kinds that the spelling does not
/// allow are left out.
fn damaged(outer: &Spelling, inner: &str) -> Vec<(&'static str, String)> {
    let close = outer.close;
    let after = outer.after();
    let whole_end = |text: &str| text.strip_suffix(close).map(str::to_owned);
    let mut texts = vec![
        ("closed in the text", outer.writes(&format!("x{close}\n{inner}\ny"))),
        ("closed on a line of the text", outer.writes(&format!("x\n{close}\n{inner}\ny"))),
        ("all that is after it in the text", outer.writes(&format!("x{after}\n{inner}\ny"))),
        ("all that is after it on a line", outer.writes(&format!("x\n{after}\n{inner}\nand\nmore"))),
    ];
    let more = |texts: &mut Vec<_>, name, text: Option<String>| texts.extend(text.map(|text| (name, text)));
    let value = if outer.quoting == Escaped { escaped(&format!("x\n{inner}\ny")) } else { format!("x\n{inner}\ny") };
    more(&mut texts, "no closer", whole_end(&outer.writes(&value)).filter(|_| !close.is_empty()));
    more(
        &mut texts,
        "another closer",
        whole_end(&outer.writes(&value)).filter(|_| !close.is_empty()).map(|text| text + "</end>"),
    );
    if outer.quoting == Verbatim {
        return texts;
    }
    let raw = format!("x\n{inner}\ny");
    texts.extend([
        ("line breaks as they are", outer.writes(&raw)),
        ("line breaks as they are, quotes escaped", outer.writes(&escaped(&raw).replace("\\n", "\n"))),
        ("CRLF", outer.writes(&raw.replace('\n', "\r\n"))),
        ("a quote", outer.writes(&format!("he said \"\n{inner}\nbye"))),
        ("a quoted word", outer.writes(&format!("he said \"hi\"\n{inner}\nbye"))),
        ("a quote and a comma", outer.writes(&format!("he said \",\n{inner}\nbye"))),
        ("a quote and brackets", outer.writes(&format!("he said \"}}}}\n{inner}\nbye"))),
        ("a quote and a parenthesis", outer.writes(&format!("he said \")]\n{inner}\nbye"))),
        ("a bad escape", outer.writes(&format!("C:\\x\n{inner}\ny"))),
        ("a missing comma", outer.writes(&raw).replacen("\"a\", ", "\"a\" ", 1)),
        ("a missing quote", outer.writes(&raw).replacen("\"a\"", "\"a", 1)),
        ("a missing last quote", outer.writes(&format!("x\n{inner}\ny\u{1}")).replace("\u{1}\"", "")),
        (
            "cut off after the call",
            outer.writes(&raw).split_once("\ny").map(|(text, _)| text.to_owned()).unwrap_or_default(),
        ),
    ]);
    let last = |text: &str| {
        let at = text.rfind(['}', ')'])?;
        Some(format!("{}{}", &text[..at], &text[at + 1..]))
    };
    // If no marker announces the call, this is prose without the object's bracket.
    let is_announced = !matches!(outer.name, "glm-4" | "react");
    let first = outer.writes(&raw).replacen("{\"path\"", "\"path\"", 1);
    more(&mut texts, "a missing first bracket", is_announced.then_some(first));
    more(&mut texts, "a missing bracket", last(&outer.writes(&value)));
    more(&mut texts, "a missing bracket and line breaks", last(&outer.writes(&raw)));
    texts
}

fn catalog() -> Arc<Catalog> {
    let text = json!({"type": "string"});
    let write =
        json!({"type": "object", "properties": {"path": text, "content": text}, "required": ["path", "content"]});
    let delete = json!({"type": "object", "properties": {"path": text}, "required": ["path"]});
    let tool = |name: &str, schema| Tool::new(name).with_server("fs").with_schema(schema);
    Arc::new(Catalog::from_tools([tool("write_to_file", write), tool("delete", delete)]))
}

fn runs_delete(found: &Assembled) -> bool {
    found.calls().any(|call| call.tool == "delete")
}

#[test]
fn a_call_in_the_text_of_a_damaged_one_never_runs() {
    let parser = Parser::new(Config::default().with_catalog(catalog()));
    let (mut run, mut texts) = (Vec::new(), 0);
    for outer in SPELLINGS {
        for inner in SPELLINGS {
            for (damage, text) in damaged(outer, &inner.deletes()) {
                for (end, text) in [("", text.clone()), ("prose after", format!("{text}\nDone.\n"))] {
                    texts += 1;
                    if runs_delete(&parser.parse(&text)) {
                        run.push(format!("{} | {} | {damage} {end}", outer.name, inner.name));
                    }
                }
            }
        }
    }
    assert!(texts > 20_000, "{texts}");
    assert!(run.is_empty(), "{} of {texts}:\n{}", run.len(), run.join("\n"));
}

/// Text in a file after a whole call that looks like syntax which hides the closing delimiter:
/// fences, blocks, beginnings of calls, reasoning, quotations, other roles. Its brackets are
/// closed.
const HIDING: &[&str] = &[
    "'''", "```", "```json", "```{y}", "~~~", "> ", "    ", "- ", "# ", "`", "\u{201c}", "For example: ",
    "For example:\n", "<tool_call>\n", "[TOOL_REQUEST]\n", "<use_mcp_tool>", "TYPE: MCP\n", "<invoke name=\"y\">",
    "<function=y>", "<!-- ", "<script>", "<pre>", "<code>", "<blockquote>", "[quote]", "<<EOF\n", "#+begin_src\n",
    "\"\"\"\n", "'''\n", "<think>", "<think>\n", "<reasoning>", "<tool_response>", "<tool_result>\n", "<result>",
    "Observation: ", "User: ", "\nHuman: ", "<|im_end|>", "<|im_start|>user\n", "<|im_start|>assistant\n", "</s>",
    "TYPE: ANSWER\n", "<answer>", "Action: y\nAction Input: ", "<|python_tag|>", "<function_calls>", "<tools>",
    "<example>", "<observation>",
];

#[test]
fn what_looks_like_other_syntax_hides_no_closer() {
    let parser = Parser::new(Config::default().with_catalog(catalog()));
    let (mut run, mut texts) = (Vec::new(), 0);
    for outer in SPELLINGS {
        for inner in [outer, &SPELLINGS[0], &SPELLINGS[4]] {
            for hiding in HIDING {
                let text = outer.writes(&format!("x{}\n{}\n{hiding}y", outer.after(), inner.deletes()));
                texts += 1;
                if runs_delete(&parser.parse(&text)) {
                    run.push(format!("{} | {} | {hiding:?}", outer.name, inner.name));
                }
            }
        }
    }
    assert!(texts > 4_000, "{texts}");
    assert!(run.is_empty(), "{} of {texts}:\n{}", run.len(), run.join("\n"));
}

#[test]
fn the_laws_hold_for_damaged_calls() {
    let config = Config::default().with_catalog(catalog());
    let mut count = 0;
    for (i, outer) in SPELLINGS.iter().enumerate() {
        // Each spelling with the next one, and with one that needs no context to begin.
        for inner in [&SPELLINGS[(i + 1) % SPELLINGS.len()], &SPELLINGS[4]] {
            for (damage, text) in damaged(outer, &inner.deletes()) {
                let input = Input { text: text + "\nDone.\n", config: config.clone(), ..Input::default() };
                let middle = (0..input.text.len()).step_by(7).map(|at| vec![at]).collect::<Vec<_>>();
                laws::check(&input, &middle)
                    .unwrap_or_else(|law| panic!("{} in {}, {damage}: {law}", inner.name, outer.name));
                count += 1;
            }
        }
    }
    assert!(count > 800, "{count}");
}
