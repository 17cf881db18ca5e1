//! The result of a request, as JSON text that is parsed on demand.
//!
//! The text is kept because numbers lose digits in a [`Value`]: `1.10` becomes `1.1`, and `1e400`
//! cannot be held at all.

use std::collections::HashSet;

use rmcp::model::{CustomResult, ServerResult};
use serde_json::Value;

use super::scan::{self, value};
use toolgraft::secrets::Secrets;
use toolgraft::wire::mend_surrogates;

/// Key in the `_meta` of a result with the JSON text of a list that rmcp has to parse itself.
pub(crate) const TEXT: &str = "toolgraft/text";

/// Annotation in a tool's schema of an argument that is also sent in an HTTP header.
pub(crate) const IN_HEADER: &str = "x-mcp-header";

/// The result of an MCP request, as JSON text. Its methods return it without the server's secrets.
#[derive(Debug)]
pub(crate) struct Answer<'s> {
    text: String,
    secrets: &'s Secrets,
    /// Names of the tools in the list that rmcp accepted; `None` if it has not checked their header annotations.
    accepted: Option<HashSet<String>>,
}

/// An entry of a server's list, such as a tool, or the reason that it cannot be read.
pub(crate) type Entry = Result<Value, Unread>;

/// The entry of a server's list that cannot be read, with the reason.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unread {
    /// The name of the entry; `None` if it is not readable.
    pub(crate) name: Option<String>,
    pub(crate) why: String,
}

impl<'s> Answer<'s> {
    pub(crate) fn new(result: ServerResult, secrets: &'s Secrets) -> Self {
        let (text, accepted) = match result {
            ServerResult::CustomResult(CustomResult(Value::String(text))) => (text, None),
            ServerResult::ListToolsResult(mut list) => {
                let text = list.meta.as_mut().and_then(|meta| meta.0.remove(TEXT));
                let accepted = list.tools.iter().map(|tool| tool.name.to_string()).collect();
                match text {
                    Some(Value::String(text)) => (text, Some(accepted)),
                    _ => (json(&list), None),
                }
            }
            known => (json(&known), None),
        };
        Answer { text, secrets, accepted }
    }

    /// Returns the result as a parsed JSON value. An `Err` names the unreadable part. Numbers that exceed the range of
    /// a 64-bit float become strings of their digits.
    pub(crate) fn value(&self) -> Result<Value, String> {
        let value = value(&self.text);
        let mut value = value.map_err(|why| format!("its answer cannot be read: {why}"))?;
        self.secrets.hide_in(&mut value);
        Ok(value)
    }

    /// Returns the result as compact JSON text. Numbers keep their digits.
    pub(crate) fn shown(&self) -> String {
        self.show(&self.text)
    }

    /// Returns a member of the result as compact JSON text; `None` if it is missing. Numbers keep their digits.
    pub(crate) fn shown_member(&self, name: &str) -> Option<String> {
        Some(self.show(scan::parts(&self.text)?.get(name)?))
    }

    /// Returns a member of the result as a result of its own; `None` if it is missing.
    pub(crate) fn into_member(self, name: &str) -> Option<Self> {
        let text = scan::parts(&self.text)?.get(name)?.to_owned();
        Some(Answer { text, ..self })
    }

    fn show(&self, text: &str) -> String {
        let text = mend_surrogates(text);
        scan::compact(&text, |string| self.secrets.hide(string).into_owned())
    }

    /// Returns the entries of the array `list` in the result, and the cursor of its next page, `None` for the last. An
    /// unreadable entry does not affect the others. `name` is the member that names an entry.
    pub(crate) fn entries(&self, list: &str, name: &str) -> Result<(Vec<Entry>, Option<String>), String> {
        let no_list = || format!("the answer has no array {list:?}");
        let parts = scan::parts(&self.text).ok_or_else(no_list)?;
        let entries = parts.get(list).and_then(scan::parts).filter(|parts| parts.is_array).ok_or_else(no_list)?;
        let next = parts.get("nextCursor").and_then(|next| value(next).ok()?.as_str().map(str::to_owned));
        let entries = entries.all.iter().map(|(_, entry)| self.entry(entry, name)).collect();
        Ok((entries, next.filter(|next| !next.is_empty())))
    }

    fn entry(&self, text: &str, name: &str) -> Entry {
        let named = || {
            let name = value(scan::parts(text)?.get(name)?).ok()?;
            Some(self.secrets.hide(name.as_str()?).into_owned())
        };
        let refused = |accepted: &HashSet<String>| named().is_none_or(|name| !accepted.contains(&name));
        match value(text) {
            // rmcp leaves out a tool whose annotations it refuses, and could not send its arguments in
            // headers.
            Ok(_) if text.contains(IN_HEADER) && self.accepted.as_ref().is_some_and(refused) => {
                Err(Unread { name: named(), why: format!("its {IN_HEADER:?} annotations are not valid") })
            }
            Ok(mut value) => {
                self.secrets.hide_in(&mut value);
                Ok(value)
            }
            Err(why) => Err(Unread { name: named(), why }),
        }
    }
}

fn json(result: &impl serde::Serialize) -> String {
    serde_json::to_string(result).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer<'s>(text: &str, secrets: &'s Secrets) -> Answer<'s> {
        Answer::new(ServerResult::CustomResult(CustomResult(text.into())), secrets)
    }

    fn deep(levels: usize) -> String {
        format!("{}1{}", "[".repeat(levels), "]".repeat(levels))
    }

    #[test]
    fn what_cannot_be_read_is_named_with_its_place() {
        let none = Secrets::default();
        let value = |text: &str| answer(text, &none).value();
        assert_eq!(value(r#"{"a":"\ud83d"}"#).unwrap()["a"], "\u{fffd}");
        assert_eq!(value(r#"{"a":[1e400]}"#).unwrap()["a"][0], "1e400");
        let nan = value(r#"{"structuredContent":{"n":[1e400,NaN]}}"#).unwrap_err();
        assert_eq!(nan, "its answer cannot be read: NaN is no JSON");
        assert!(value(&deep(200)).unwrap_err().contains("nested too deeply"));
        assert!(value(&deep(100_000)).is_err());
        assert!(value("{\"a\":\"b\nc\"}").unwrap_err().contains("control character"));
    }

    #[test]
    fn digits_are_shown_as_they_came_and_secrets_never() {
        let secrets = Secrets::new(["s3cret/of\"theirs"]);
        let text = r#"{"structuredContent": {"a": 1.10, "k": "x s3cret\/of\u0022theirs", "h": "\ud83d", "z": 1e400}}"#;
        let shown = answer(text, &secrets).shown_member("structuredContent").unwrap();
        assert_eq!(shown, "{\"a\":1.10,\"k\":\"x [redacted]\",\"h\":\"\u{fffd}\",\"z\":1e400}");
        assert_eq!(answer(text, &secrets).value().unwrap()["structuredContent"]["k"], "x [redacted]");
        assert_eq!(answer("[1.0, 2]", &secrets).shown(), "[1.0,2]");
    }

    #[test]
    fn an_entry_that_cannot_be_read_is_only_itself_lost() {
        let none = Secrets::default();
        for (bad, why) in [
            (r#"{"schema":NaN,"name":"b\ud83d"}"#.to_owned(), "NaN is no JSON"),
            (r#"{"name":"b\ud83d","max":-Infinity}"#.to_owned(), "-Infinity is no JSON"),
            (format!(r#"{{"name":"b\ud83d","deep":{}}}"#, deep(300)), "it is nested too deeply, more than 127 levels"),
        ] {
            let text = format!(r#"{{"tools":[{{"name":"a"}},{bad},{{"name":"half \ud83d"}}],"nextCursor":"2"}}"#);
            let (entries, next) = answer(&text, &none).entries("tools", "name").unwrap();
            assert_eq!(next.as_deref(), Some("2"));
            assert_eq!(entries[0].as_ref().unwrap()["name"], "a");
            assert_eq!(entries[1], Err(Unread { name: Some("b\u{fffd}".to_owned()), why: why.to_owned() }));
            assert_eq!(entries[2].as_ref().unwrap()["name"], "half \u{fffd}");
        }
        for text in ["{}", "null", "\"text\"", r#"{"tools":"none"}"#, r#"{"tools":{"a":NaN}}"#] {
            assert!(answer(text, &none).entries("tools", "name").is_err(), "{text}");
        }
    }

    #[test]
    fn a_tool_whose_headers_are_refused_is_left_out_by_name() {
        let annotated = |name: &str| format!(r#"{{"name":"{name}","inputSchema":{{"x-mcp-header":"H","n":1.10}}}}"#);
        let text = format!(r#"{{"tools":[{},{},{{"name":"plain"}}]}}"#, annotated("good"), annotated("bad"));
        let tool = serde_json::from_str(&annotated("good")).unwrap();
        let mut list = rmcp::model::ListToolsResult::with_all_items(vec![tool]);
        list.meta = Some(rmcp::model::MetaObject(serde_json::Map::from_iter([(TEXT.to_owned(), Value::from(text))])));
        let none = Secrets::default();
        let (entries, _) = Answer::new(ServerResult::ListToolsResult(list), &none).entries("tools", "name").unwrap();
        let why = "its \"x-mcp-header\" annotations are not valid".to_owned();
        assert_eq!(entries[1], Err(Unread { name: Some("bad".to_owned()), why }));
        assert_eq!((entries[0].as_ref().unwrap()["name"].as_str(), entries[2].is_ok()), (Some("good"), true));
    }
}
