//! Tools that can be called by their tags, and what their schemas say of text.

use serde_json::Value;

use crate::catalog::Catalog;

/// A tool that can be called by its tag.
#[derive(Debug)]
pub(in crate::parse) struct TagTool {
    /// The tag: the tool's name, or `server.tool` where several servers have it.
    pub(in crate::parse) tag: String,
    pub(in crate::parse) server: Option<String>,
    pub(in crate::parse) tool: String,
    pub(in crate::parse) parameters: Vec<TagParameter>,
}

/// A parameter that can be given by its tag.
#[derive(Debug)]
pub(in crate::parse) struct TagParameter {
    pub(in crate::parse) name: String,
    /// Whether the schema accepts a string: the text is then taken verbatim.
    pub(in crate::parse) is_text: bool,
}

/// The tools of a catalog by their tags.
pub(super) fn tag_tools(catalog: &Catalog) -> Vec<TagTool> {
    let tag_tool = |tool: &crate::tool::Tool| TagTool {
        tag: catalog.tag(tool).into_owned(),
        server: tool.server.clone(),
        tool: tool.name.clone(),
        parameters: tool
            .parameters()
            .map(|p| TagParameter {
                name: p.name.to_owned(),
                is_text: accepts_text(p.schema, tool.input_schema.as_ref(), 0),
            })
            .collect(),
    };
    let mut tools: Vec<_> = catalog.tools().map(tag_tool).collect();
    // The bare name of a tool that several servers have is read, to be refused by name.
    let bare = |tool: &crate::tool::Tool| TagTool { tag: tool.name.clone(), server: None, ..tag_tool(tool) };
    tools.extend(catalog.tools().filter(|t| catalog.is_ambiguous(&t.name)).map(bare));
    tools
}

/// Whether a schema may accept a string. In doubt it does: text is then kept verbatim.
fn accepts_text(schema: &Value, root: Option<&Value>, depth: usize) -> bool {
    const MAX_REFS: usize = 8;
    if depth > MAX_REFS {
        return true;
    }
    let any = |list: &Value| list.as_array().is_some_and(|l| l.iter().any(|s| accepts_text(s, root, depth + 1)));
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let target = reference.strip_prefix('#').and_then(|pointer| root?.pointer(pointer));
        return target.is_none_or(|s| accepts_text(s, root, depth + 1));
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return values.iter().any(Value::is_string);
    }
    if let Some(value) = schema.get("const") {
        return value.is_string();
    }
    match schema.get("type") {
        Some(Value::String(name)) => name == "string",
        Some(Value::Array(names)) => names.iter().any(|n| n == "string"),
        _ => match schema.get("anyOf").or_else(|| schema.get("oneOf")) {
            Some(list) => any(list),
            None => schema.get("properties").or_else(|| schema.get("items")).is_none(),
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_that_may_accept_a_string_takes_text_verbatim() {
        let root = json!({"$defs": {"n": {"type": "integer"}}});
        for (schema, expected) in [
            (json!({"type": "string"}), true),
            (json!({"type": ["string", "null"]}), true),
            (json!({"anyOf": [{"type": "integer"}, {"type": "string"}]}), true),
            (json!({"enum": ["a", "b"]}), true),
            (json!({}), true),
            (json!({"type": "integer"}), false),
            (json!({"type": "array", "items": {"type": "string"}}), false),
            (json!({"$ref": "#/$defs/n"}), false),
            (json!({"enum": [1, 2]}), false),
            (json!({"properties": {"a": {}}}), false),
        ] {
            assert_eq!(accepts_text(&schema, Some(&root), 0), expected, "{schema}");
        }
    }
}
