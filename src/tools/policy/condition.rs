//! Conditions on the arguments of a call, which a pattern may end with.
//!
//! ```text
//! files.write_file(path=/home/kim/notes)   the argument `path` is this folder, or is inside it
//! web.fetch(url=example.org)               the argument `url` is a URL of this host
//! web.fetch(url=*.example.org)             the argument `url` is a URL of a host below this one
//! mail.send(to=kim@example.org, cc=)       several conditions; `cc=` requires that `cc` is absent or null
//! ```
//!
//! Paths are compared as text: a symbolic link inside a folder may point outside it.

use serde_json::{Map, Value};

/// The result of comparing a condition with the arguments of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Held {
    No,
    /// The argument cannot be compared, such as a relative path, a URL with a user, or a value that is not text.
    Unknown,
    Yes,
}

/// Splits a pattern into its names and its conditions, which keep their brackets and are empty if it has none.
pub(super) fn part(text: &str) -> (&str, &str) {
    let is_open = |at: &usize| text[..*at].bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 0;
    let open = text.match_indices('(').map(|(at, _)| at).find(is_open);
    match open.filter(|at| text.ends_with(')') && text[*at..].contains('=')) {
        Some(at) => text.split_at(at),
        None => (text, ""),
    }
}

/// Compares conditions with the arguments of a call, and returns the lowest of the results.
pub(super) fn held(conditions: &str, arguments: &Map<String, Value>) -> Held {
    let inside = conditions.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or_default();
    let one = |condition: &str| match condition.split_once('=') {
        Some((name, limit)) => lies_in(arguments.get(name.trim()), limit.trim()),
        // A comma is inside a value: the condition cannot be read, and allows nothing.
        None => Held::Unknown,
    };
    if conditions.is_empty() { Held::Yes } else { inside.split(',').map(one).min().unwrap_or(Held::Unknown) }
}

fn lies_in(value: Option<&Value>, limit: &str) -> Held {
    match value {
        None | Some(Value::Null) if limit.is_empty() => Held::Yes,
        None | Some(Value::Null) => Held::No,
        Some(_) if limit.is_empty() => Held::No,
        Some(Value::String(text)) if is_path(limit) => path_lies_in(text, limit),
        Some(Value::String(text)) => text_lies_in(text, limit),
        Some(Value::Array(values)) if !values.is_empty() => {
            values.iter().map(|value| lies_in(Some(value), limit)).min().unwrap_or(Held::Unknown)
        }
        Some(_) => Held::Unknown,
    }
}

/// Returns `true` for an absolute path of Unix or Windows.
fn is_path(text: &str) -> bool {
    text.starts_with('/') || text.get(1..3).is_some_and(|drive| matches!(drive, ":\\" | ":/"))
}

fn path_lies_in(text: &str, limit: &str) -> Held {
    let (Some(path), Some(folder)) = (parts(text), parts(limit)) else { return Held::Unknown };
    let begins = |is_same: fn(&str, &str) -> bool| {
        path.len() >= folder.len() && path.iter().zip(&folder).all(|(one, other)| is_same(one, other))
    };
    if begins(|one, other| one == other) {
        return Held::Yes;
    }
    // They may be the same path on a file system that ignores case.
    if begins(|one, other| one.to_lowercase() == other.to_lowercase()) { Held::Unknown } else { Held::No }
}

/// Returns the parts of an absolute path after `.` and `..` are resolved.
fn parts(path: &str) -> Option<Vec<&str>> {
    if !is_path(path) || path.contains('\0') {
        return None;
    }
    let mut parts = Vec::new();
    for part in path.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    Some(parts)
}

/// Compares the host of a URL with `limit`, or any other text with it.
fn text_lies_in(text: &str, limit: &str) -> Held {
    let Some(host) = host(text) else {
        return if text == limit { Held::Yes } else { Held::Unknown };
    };
    let (host, limit) = (host.to_ascii_lowercase(), limit.to_ascii_lowercase());
    let is_in = match limit.strip_prefix('*').filter(|above| above.starts_with('.')) {
        Some(above) => host.ends_with(above) && host.len() > above.len(),
        None => host == limit,
    };
    if is_in { Held::Yes } else { Held::No }
}

/// Returns the host of a simple HTTP URL; `None` if URL parsers might disagree about the host.
fn host(url: &str) -> Option<&str> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, port) = rest[..end].split_once(':').unwrap_or((&rest[..end], ""));
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let is_whole = !host.is_empty() && host.chars().all(is_plain) && port.bytes().all(|byte| byte.is_ascii_digit());
    is_whole.then(|| host.trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn conditions_are_parted_from_the_names() {
        for (text, parted) in [
            ("files.write(path=/a)", ("files.write", "(path=/a)")),
            ("files.write", ("files.write", "")),
            (r"math/f\(x=1)", (r"math/f\(x=1)", "")),
            (r"math/f\(x)(y=1)", (r"math/f\(x)", "(y=1)")),
            ("odd(name)", ("odd(name)", "")),
        ] {
            assert_eq!(part(text), parted, "{text}");
        }
    }

    #[test]
    fn a_path_lies_in_a_folder_and_a_url_at_a_host() {
        let held =
            |condition: &str, value: Value| held(&format!("(x={condition})"), &Map::from_iter([("x".into(), value)]));
        for (condition, value, expected) in [
            ("/home/kim", json!("/home/kim"), Held::Yes),
            ("/home/kim/", json!("/home/kim/a/../b.txt"), Held::Yes),
            ("/home/kim", json!("/home/kim/../eve/x"), Held::No),
            ("/home/kim", json!("/home/kimberly/x"), Held::No),
            ("/home/kim", json!("/HOME/kim/x"), Held::Unknown),
            ("/home/kim", json!("notes/x"), Held::Unknown),
            ("/home/kim", json!("~/x"), Held::Unknown),
            ("/home/kim", json!(["/home/kim/a", "/home/kim/b"]), Held::Yes),
            ("/home/kim", json!(["/home/kim/a", "/etc/passwd"]), Held::No),
            ("/home/kim", json!([]), Held::Unknown),
            ("/home/kim", json!({"path": "/home/kim"}), Held::Unknown),
            (r"C:\kim", json!("C:/kim/x"), Held::Yes),
            ("example.org", json!("https://example.org/x?y=//eve.net"), Held::Yes),
            ("example.org", json!("http://EXAMPLE.org.:8080"), Held::Yes),
            ("example.org", json!("https://www.example.org"), Held::No),
            ("*.example.org", json!("https://www.example.org"), Held::Yes),
            ("*.example.org", json!("https://example.org"), Held::No),
            ("*.example.org", json!("https://evilexample.org"), Held::No),
            ("example.org", json!("https://example.org@eve.net"), Held::Unknown),
            ("example.org", json!("https://eve.net\\@example.org"), Held::Unknown),
            ("example.org", json!("https://eve.net#example.org"), Held::No),
            ("example.org", json!("ftp://example.org"), Held::Unknown),
            ("kim@example.org", json!("kim@example.org"), Held::Yes),
            ("kim@example.org", json!("eve@example.org"), Held::Unknown),
            ("", json!(null), Held::Yes),
            ("", json!("x"), Held::No),
        ] {
            assert_eq!(held(condition, value.clone()), expected, "{condition} {value}");
        }
        assert_eq!(super::held("(x=/a)", &Map::new()), Held::No);
        assert_eq!(super::held("(x=)", &Map::new()), Held::Yes);
        assert_eq!(super::held("(x=/a,b)", json!({"x": "/a/secret"}).as_object().unwrap()), Held::Unknown);
        let both = json!({"from": "/a/1", "to": "/b/1"});
        for (conditions, expected) in [("(from=/a, to=/b)", Held::Yes), ("(from=/a,to=/a)", Held::No)] {
            assert_eq!(super::held(conditions, both.as_object().unwrap()), expected, "{conditions}");
        }
    }
}
