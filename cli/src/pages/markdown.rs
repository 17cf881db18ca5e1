//! Markdown as a tree that a page builds its elements from: each node is a text, or
//! `[TAG, CHILD, …]`, or for a link `["a", {"href": URL}, CHILD, …]`. HTML stays text, images
//! become links, so that nothing is loaded. Where a link's text is not its target, the target follows it. A
//! page without a script has the same tree as HTML.

use pulldown_cmark::{CodeBlockKind, CowStr, Event, HeadingLevel, Options, Parser, Tag};
use serde_json::{Value, json};

/// Deepest node; what stands deeper is not nested any more.
const DEEPEST: usize = 24;

/// The nodes of a text.
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

/// Returns the address of a link, if its text is different.
fn target(node: &[Value]) -> Option<Value> {
    let href = node.get(1)?.get("href")?.as_str()?;
    let said: String = node[2..].iter().map(said).collect();
    (said != href).then(|| json!(format!(" ({href})")))
}

/// The text of a node.
fn said(node: &Value) -> String {
    match node {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().skip(1).map(said).collect(),
        _ => String::new(),
    }
}

/// The same as HTML, in which only the tags are ours; `None` for paragraphs of plain text.
pub(crate) fn html(source: &str) -> Option<String> {
    let nodes = tree(source);
    let is_plain =
        |node: &Value| node[0] == "p" && node.as_array().is_some_and(|parts| parts.iter().all(Value::is_string));
    if nodes.iter().all(is_plain) {
        return None;
    }
    let mut page = String::new();
    nodes.iter().for_each(|node| grow(node, &mut page));
    Some(page)
}

fn grow(node: &Value, page: &mut String) {
    let parts = match node {
        Value::Array(parts) => parts.as_slice(),
        other => return page.push_str(&escaped(other.as_str().unwrap_or_default())),
    };
    let Some(tag) = parts.first().and_then(Value::as_str) else { return };
    page.push_str(&format!("<{tag} dir=\"auto\""));
    for part in &parts[1..] {
        match (part.get("href").and_then(Value::as_str), part.get("start")) {
            (Some(href), _) => {
                page.push_str(&format!(" href=\"{}\" target=\"_blank\" rel=\"noopener noreferrer\"", escaped(href)));
            }
            (None, Some(start)) => page.push_str(&format!(" start=\"{start}\"")),
            (None, None) => {}
        }
    }
    page.push('>');
    parts[1..].iter().filter(|part| !part.is_object()).for_each(|part| grow(part, page));
    if !matches!(tag, "br" | "hr") {
        page.push_str(&format!("</{tag}>"));
    }
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#39;")
}

fn text_of(text: &CowStr<'_>) -> Value {
    Value::String(text.to_string())
}

/// A node without its children.
fn head(tag: &Tag<'_>) -> Vec<Value> {
    let name = match tag {
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

/// Returns `true` if a link only opens a web page or writes a mail.
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
    fn the_html_of_a_text_has_no_tag_of_the_texts_own() {
        for (source, page) in [
            ("Hi *you* & <b>me</b>\n\n---", "<p>Hi <em>you</em> &amp; &lt;b&gt;me&lt;/b&gt;</p><hr>"),
            ("3. a", "<ol start=\"3\"><li>a</li></ol>"),
            (
                "[a](https://x.y/?a=\"b\"&c)",
                "<p><a href=\"https://x.y/?a=&quot;b&quot;&amp;c\" target=\"_blank\" rel=\"noopener noreferrer\">a</a> (https://x.y/?a=&quot;b&quot;&amp;c)</p>",
            ),
        ] {
            assert_eq!(html(source).unwrap().replace(" dir=\"auto\"", ""), page, "{source}");
        }
        assert_eq!(html("Two lines\nof <b>text</b>.\n\nAnd a third."), None);
    }

    #[test]
    fn what_stands_deep_is_flat_and_loses_nothing() {
        let deep = format!("{}x", ">".repeat(10_000));
        let text = Value::Array(tree(&deep)).to_string();
        assert_eq!((text.matches("blockquote").count(), text.matches('x').count()), (DEEPEST, 1));
    }
}
