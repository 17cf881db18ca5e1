//! Markdown as a tree that a page builds its elements from: each node is a text, or
//! `[TAG, CHILD, …]`, or for a link `["a", {"href": URL}, CHILD, …]`. HTML stays text, images
//! become links, so that nothing is loaded. Where a link's text is not its target, the target follows it. The template
//! `pages/block.html` writes the elements.

use pulldown_cmark::{CodeBlockKind, CowStr, Event, HeadingLevel, Options, Parser, Tag};
use serde_json::{Value, json};

/// Maximum nesting depth of elements; deeper elements are left out, and their text is added to the innermost one.
const DEEPEST: usize = 24;

/// Parses Markdown into nodes: a string, or an element `[TAG, CHILD, …]`.
pub(crate) fn tree(source: &str) -> Vec<Value> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut open: Vec<Vec<Value>> = vec![Vec::new()];
    // Tags that were opened without a node of their own.
    let mut passed_over = 0;
    for event in Parser::new_ext(source, options) {
        let node = match event {
            Event::Start(_) if open.len() > DEEPEST => {
                passed_over += 1;
                continue;
            }
            Event::Start(tag) => {
                open.push(head(&tag));
                continue;
            }
            Event::End(_) if passed_over > 0 => {
                passed_over -= 1;
                continue;
            }
            Event::End(_) => match open.pop() {
                Some(node) if !open.is_empty() => {
                    let target = target(&node);
                    open.last_mut().into_iter().for_each(|parent| parent.push(Value::Array(node.clone())));
                    match target {
                        Some(target) => target,
                        None => continue,
                    }
                }
                // Each end has its start.
                _ => continue,
            },
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => text_of(&text),
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => json!(["code", text_of(&text)]),
            Event::SoftBreak => json!("\n"),
            Event::HardBreak => json!(["br"]),
            Event::Rule => json!(["hr"]),
            Event::TaskListMarker(done) => json!(if done { "☑ " } else { "☐ " }),
            Event::FootnoteReference(name) => json!(format!("[{name}]")),
        };
        open.last_mut().into_iter().for_each(|parent| parent.push(node.clone()));
    }
    open.swap_remove(0)
}

/// Returns the address of a link as the text ` (URL)`; `None` if the link's text is the address, or for other nodes.
fn target(node: &[Value]) -> Option<Value> {
    let href = node.get(1)?.get("href")?.as_str()?;
    let said: String = node[2..].iter().map(said).collect();
    (said != href).then(|| json!(format!(" ({href})")))
}

/// Returns the text of a node and its children, without markup.
fn said(node: &Value) -> String {
    match node {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().skip(1).map(said).collect(),
        _ => String::new(),
    }
}

/// Parses the Markdown of an answer into nodes, as [`tree`]; `None` if all are paragraphs of plain text.
pub(crate) fn formatted(source: &str) -> Option<Vec<Value>> {
    let nodes = tree(source);
    let is_plain =
        |node: &Value| node[0] == "p" && node.as_array().is_some_and(|parts| parts.iter().all(Value::is_string));
    (!nodes.iter().all(is_plain)).then_some(nodes)
}

fn text_of(text: &CowStr<'_>) -> Value {
    Value::String(text.to_string())
}

/// Returns the element of a Markdown tag without its children: the HTML tag name, and attributes if it has some.
fn head(tag: &Tag<'_>) -> Vec<Value> {
    let name = match tag {
        // The page has an `h1` of its own.
        Tag::Heading { level: HeadingLevel::H1, .. } => "h2",
        Tag::Heading { level: HeadingLevel::H2, .. } => "h3",
        Tag::Heading { .. } => "h4",
        Tag::BlockQuote(_) => "blockquote",
        Tag::CodeBlock(CodeBlockKind::Fenced(_) | CodeBlockKind::Indented) => "pre",
        Tag::List(None) => "ul",
        Tag::List(Some(start)) => return vec![json!("ol"), json!({"start": start})],
        Tag::Item => "li",
        Tag::Table(_) => "table",
        Tag::TableHead => "thead",
        Tag::TableRow => "tr",
        Tag::TableCell => "td",
        Tag::Emphasis => "em",
        Tag::Strong => "strong",
        Tag::Strikethrough => "del",
        Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } if is_web(dest_url) => {
            return vec![json!("a"), json!({"href": dest_url.as_ref()})];
        }
        Tag::Link { .. } | Tag::Image { .. } => "span",
        _ => "p",
    };
    vec![json!(name)]
}

/// Returns `true` if an address begins with `http://`, `https://` or `mailto:`; other links are not made.
fn is_web(url: &str) -> bool {
    let url = url.to_ascii_lowercase();
    ["http://", "https://", "mailto:"].iter().any(|scheme| url.starts_with(scheme))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_becomes_nodes_and_nothing_in_it_is_html() {
        for (source, nodes) in [
            ("Hi *you*", json!([["p", "Hi ", ["em", "you"]]])),
            ("a <b>x</b>", json!([["p", "a ", "<b>", "x", "</b>"]])),
            ("<script>x</script>", json!([["p", "<script>x</script>"]])),
            ("```sh\nls\n```", json!([["pre", "ls\n"]])),
            ("3. a\n", json!([["ol", {"start": 3}, ["li", "a"]]])),
            ("[a](https://x.y)", json!([["p", ["a", {"href": "https://x.y"}, "a"], " (https://x.y)"]])),
            ("<https://x.y>", json!([["p", ["a", {"href": "https://x.y"}, "https://x.y"]]])),
            (
                "[https://good.y](https://evil.y)",
                json!([["p", ["a", {"href": "https://evil.y"}, "https://good.y"], " (https://evil.y)"]]),
            ),
            ("![a](http://x.y/z.png)", json!([["p", ["a", {"href": "http://x.y/z.png"}, "a"], " (http://x.y/z.png)"]])),
            ("[a](javascript:alert(1))", json!([["p", ["span", "a"]]])),
            ("|a|\n|-|\n|`b`|", json!([["table", ["thead", ["td", "a"]], ["tr", ["td", ["code", "b"]]]]])),
        ] {
            assert_eq!(Value::Array(tree(source)), nodes, "{source}");
        }
    }

    #[test]
    fn paragraphs_of_plain_text_need_no_form() {
        assert_eq!(formatted("Two lines\nof <b>text</b>.\n\nAnd a third."), None);
        assert_eq!(formatted("Two\n\n---").map(|nodes| nodes.len()), Some(2));
    }

    #[test]
    fn what_stands_deep_is_flat_and_loses_nothing() {
        let deep = format!("{}x", ">".repeat(10_000));
        let text = Value::Array(tree(&deep)).to_string();
        assert_eq!((text.matches("blockquote").count(), text.matches('x').count()), (DEEPEST, 1));
    }
}
