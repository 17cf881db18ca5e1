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

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde_json::{Map, Value};

/// Result of comparing a condition of a pattern with the arguments of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Held {
    No,
    /// The argument cannot be compared, such as a relative path, a URL with a user, or a value that is not text.
    Unknown,
    Yes,
}

/// Splits a pattern into its names and its conditions, which keep their brackets and are empty if it has none.
pub(super) fn part(text: &str) -> (&str, &str) {
    // `\(` is a bracket in the tool's own name; `\\(` is a backslash and an open one.
    let is_open = |at: &usize| text[..*at].bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 0;
    let open = text.match_indices('(').map(|(at, _)| at).find(is_open);
    // Without `=` the bracket belongs to the name.
    match open.filter(|at| text[*at..].contains('=')) {
        Some(at) => (text[..at].trim_end(), text[at..].trim_end()),
        None => (text, ""),
    }
}

/// Returns the names and values of conditions.
///
/// # Errors
/// Fails if they cannot be read, with the offset of the fault and what is expected there.
pub(super) fn read(conditions: &str) -> Result<Vec<(&str, &str)>, (usize, &'static str)> {
    let Some(inside) = conditions.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) else {
        return Err((conditions.len(), "`)` is missing"));
    };
    // `f(a=1)(b=2)` would read as one condition with the value `1)(b=2`.
    if let Some(at) = inside.find(")(") {
        return Err((at + ")(".len(), "conditions are separated by `,` in one pair of brackets"));
    }
    let mut end = 0;
    let read = inside.split(',').map(|condition| {
        let start = end + 1;
        end = start + condition.len();
        let (name, limit) = condition.split_once('=').unwrap_or_default();
        if name.trim().is_empty() { Err((start, "`name=value` is expected")) } else { Ok((name.trim(), limit.trim())) }
    });
    read.collect()
}

/// Compares conditions with the arguments of a call, and returns the lowest of the results. For a list, `of` combines
/// the results of two elements: with `Ord::min` all elements must match, with `Ord::max` any.
pub(super) fn held(conditions: &str, arguments: &Map<String, Value>, of: fn(Held, Held) -> Held) -> Held {
    if conditions.is_empty() {
        return Held::Yes;
    }
    // What cannot be read allows nothing, and prevents no denial.
    let Ok(conditions) = read(conditions) else { return Held::Unknown };
    let held = conditions.into_iter().map(|(name, limit)| lies_in(arguments.get(name), limit, of));
    held.min().unwrap_or(Held::Unknown)
}

fn lies_in(value: Option<&Value>, limit: &str, of: fn(Held, Held) -> Held) -> Held {
    match value {
        None | Some(Value::Null) if limit.is_empty() => Held::Yes,
        None | Some(Value::Null) => Held::No,
        Some(_) if limit.is_empty() => Held::No,
        // The pattern decides how values are compared: a relative path in a call must not pass as a text.
        Some(Value::String(text)) if is_path(limit) => path_lies_in(text, limit),
        Some(Value::String(text)) => text_lies_in(text, limit),
        Some(Value::Array(values)) => {
            let held = values.iter().map(|value| lies_in(Some(value), limit, of));
            held.reduce(of).unwrap_or(Held::Unknown)
        }
        Some(_) => Held::Unknown,
    }
}

/// Returns `true` for an absolute path of Unix or Windows.
fn is_path(text: &str) -> bool {
    text.starts_with('/') || has_drive(text)
}

fn has_drive(text: &str) -> bool {
    text.get(1..3).is_some_and(|drive| matches!(drive, ":\\" | ":/"))
}

/// Compares a path with a folder. A backslash separates only the parts of paths of Windows. Which system a server runs
/// on is not known, so the result is only certain if it is the same for both.
fn path_lies_in(text: &str, limit: &str) -> Held {
    // What a relative path means depends on the server's folder; a NUL ends a path for some programs.
    if !is_path(text) || text.contains('\0') {
        return Held::Unknown;
    }
    let windows = begins_with(&parts(text, &['/', '\\']), &parts(limit, &['/', '\\']));
    let unix = begins_with(&parts(text, &['/']), &parts(limit, &['/']));
    if has_drive(limit) || windows == unix { windows } else { Held::Unknown }
}

fn begins_with(path: &[&str], folder: &[&str]) -> Held {
    let begins = |is_same: &dyn Fn(&str, &str) -> bool| {
        path.len() >= folder.len() && path.iter().zip(folder).all(|(one, other)| is_same(one, other))
    };
    // A file system may ignore the case, and Windows dots and spaces at the end of a name.
    let folded = |name: &str| name.trim_end_matches(['.', ' ']).to_lowercase();
    match begins(&|one, other| one == other) {
        true => Held::Yes,
        false if begins(&|one, other| folded(one) == folded(other)) => Held::Unknown,
        false => Held::No,
    }
}

/// Returns the parts of an absolute path after `.` and `..` are resolved.
fn parts<'p>(path: &'p str, separators: &[char]) -> Vec<&'p str> {
    let mut parts = Vec::new();
    for part in path.split(separators) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts
}

/// Compares a text with the value `limit` of a condition: an HTTP URL by its host, any other text as a whole.
fn text_lies_in(text: &str, limit: &str) -> Held {
    match Site::of(text) {
        _ if text == limit => Held::Yes,
        Some(site) if !site.scheme.is_empty() => site.lies_at(limit),
        _ if is_other_text(text, limit) => Held::No,
        _ => Held::Unknown,
    }
}

/// Returns `true` if a text certainly is another one than `limit`: both are plain words, without escapes, quotes and
/// letters of other scripts, and it does not contain `limit`. A name with a dot may be a host or a file, which other
/// texts can name too.
fn is_other_text(text: &str, limit: &str) -> bool {
    let is_plain = |text: &str, signs: &[u8]| text.bytes().all(|b| b.is_ascii_alphanumeric() || signs.contains(&b));
    let signs: &[u8] = if limit.contains('.') { b" ._-@+," } else { b" ._-@+,/=~" };
    let may_be_host = match (Site::of(text), Site::of(limit)) {
        (Some(site), Some(limit)) => site.host == limit.host,
        // A number may be an address.
        (None, Some(limit)) => limit.host.parse::<IpAddr>().is_ok(),
        (_, None) => false,
    };
    // All four must hold, or a server may read the text as `limit`: by an escape, as the same host, or as a
    // part of it.
    is_plain(limit, b" ._-@+,")
        && is_plain(text, signs)
        && !may_be_host
        && !text.to_ascii_lowercase().contains(&limit.to_ascii_lowercase())
}

/// The parts of a simple HTTP URL, or of a host with or without a port; the scheme is empty if there is none.
struct Site<'t> {
    scheme: &'static str,
    host: String,
    port: &'t str,
    rest: &'t str,
}

impl<'t> Site<'t> {
    /// Returns the parts of a URL or host; `None` if parsers of URLs might disagree about the host.
    fn of(text: &'t str) -> Option<Self> {
        let begins = |scheme: &&str| text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
        let scheme = ["https://", "http://"].into_iter().find(begins).unwrap_or_default();
        let rest = &text[scheme.len()..];
        let (authority, rest) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let (host, port) = match authority.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
            Some((host, "")) => (host, ""),
            Some((host, port)) => (host, port.strip_prefix(':')?),
            // An address of IPv6 without brackets has colons that begin no port.
            None if authority.parse::<Ipv6Addr>().is_ok() => (authority, ""),
            None => authority.split_once(':').unwrap_or((authority, "")),
        };
        let is_port = port.bytes().all(|byte| byte.is_ascii_digit());
        host_name(host).filter(|_| is_port).map(|host| Site { scheme, host, port, rest })
    }

    /// Compares the URL with the pattern of a condition: the host, and if it is equal, the scheme and port of the
    /// pattern.
    fn lies_at(&self, pattern: &str) -> Held {
        let above = pattern.strip_prefix("*.");
        let Some(limit) = Site::of(above.unwrap_or(pattern)) else {
            // The name in another script may be the one that is encoded here.
            let is_other = !pattern.is_ascii() && !self.host.contains("xn--");
            return if is_other { Held::No } else { Held::Unknown };
        };
        let before = self.host.strip_suffix(&limit.host);
        let is_host = before.is_some_and(|before| match above {
            // `*.example.org` is neither `example.org` nor `badexample.org`.
            Some(_) => before.len() > 1 && before.ends_with('.'),
            None => before.is_empty(),
        });
        let is_same = |own: &str, limit: &str| limit.is_empty() || own == limit;
        match is_host {
            // Of a URL only scheme, host and port are compared, so a pattern with a path is never certain.
            true if is_same(self.scheme, limit.scheme) && is_same(self.port, limit.port) && limit.rest.len() < 2 => {
                Held::Yes
            }
            // An address of IPv6 may be translated to one of IPv4.
            false if !self.host.contains(':') => Held::No,
            _ => Held::Unknown,
        }
    }
}

/// Returns the normal form of a host for comparisons: in lower case, without a last dot, and an address of IPv4 in its
/// usual form. `None` for other forms, such as `127.1` and `0177.0.0.1`, which programs read differently.
fn host_name(host: &str) -> Option<String> {
    if let Ok(address) = host.parse::<Ipv6Addr>() {
        return Some(address.to_ipv4_mapped().map_or_else(|| address.to_string(), |address| address.to_string()));
    }
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let last = host.rsplit('.').next().unwrap_or_default();
    let is_number = last.bytes().all(|byte| byte.is_ascii_digit()) || last.starts_with("0x");
    (host.chars().all(is_plain) && (!is_number || host.parse::<Ipv4Addr>().is_ok())).then_some(host)
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
            ("files.write (path=/a) ", ("files.write", "(path=/a)")),
            ("files.write(path=/a", ("files.write", "(path=/a")),
            (r"math/f\(x=1)", (r"math/f\(x=1)", "")),
            (r"math/f\(x)(y=1)", (r"math/f\(x)", "(y=1)")),
            ("odd(name)", ("odd(name)", "")),
        ] {
            assert_eq!(part(text), parted, "{text}");
        }
    }

    #[test]
    fn a_path_lies_in_a_folder_and_a_url_at_a_host() {
        let held = |condition: &str, value: Value| {
            held(&format!("(x={condition})"), &Map::from_iter([("x".into(), value)]), Ord::min)
        };
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
            ("kim@example.org", json!("eve@example.org"), Held::No),
            ("/w/notes", json!(r"/w/notes/a\b"), Held::Yes),
            ("/w/notes", json!(r"/w/notes/a\b/../../x"), Held::Unknown),
            ("/w/notes", json!(r"/w/x\..\notes/a"), Held::Unknown),
            (r"C:\kim", json!(r"C:\KIM.\a"), Held::Unknown),
            ("rm", json!("rm"), Held::Yes),
            ("rm", json!("ls -l /home"), Held::No),
            ("rm", json!("/bin/RM -r x"), Held::Unknown),
            ("rm", json!("r\\m x"), Held::Unknown),
            ("rm", json!("ｒｍ"), Held::Unknown),
            ("~/notes", json!("/home/kim/notes"), Held::Unknown),
            ("example.org", json!("HTTPS://example.org"), Held::Yes),
            ("example.org.", json!("https://example.org"), Held::Yes),
            ("example.org.", json!("example.org"), Held::Unknown),
            ("example.org:8080", json!("https://example.org:8080/x"), Held::Yes),
            ("example.org:8080", json!("https://example.org"), Held::Unknown),
            ("https://example.org", json!("https://example.org/x"), Held::Yes),
            ("https://example.org", json!("http://example.org/x"), Held::Unknown),
            ("https://example.org/a", json!("https://example.org/b"), Held::Unknown),
            ("https://example.org/a", json!("https://eve.net/a"), Held::No),
            ("bücher.example", json!("https://xn--bcher-kva.example"), Held::Unknown),
            ("bücher.example", json!("https://example.org"), Held::No),
            ("127.0.0.1", json!("http://[::ffff:127.0.0.1]:80/"), Held::Yes),
            ("127.0.0.1", json!("http://[::1]"), Held::Unknown),
            ("::1", json!("http://[0:0::1]/x"), Held::Yes),
            ("127.0.0.1", json!("http://127.0.0.2"), Held::No),
            ("*.", json!("https://example.org"), Held::Unknown),
            ("", json!(null), Held::Yes),
            ("", json!("x"), Held::No),
        ] {
            assert_eq!(held(condition, value.clone()), expected, "{condition} {value}");
        }
        for host in ["127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0x7f.1", "127.0.0.01"] {
            for value in [json!(format!("http://{host}/")), json!(host)] {
                assert_eq!(held("127.0.0.1", value), Held::Unknown, "{host}");
            }
        }
        assert_eq!(super::held("(x=/a)", &Map::new(), Ord::min), Held::No);
        assert_eq!(super::held("(x=)", &Map::new(), Ord::min), Held::Yes);
        let list = json!({"x": ["https://example.org/", "https://eve.net/"]});
        for (of, expected) in [(Ord::min as fn(Held, Held) -> Held, Held::No), (Ord::max, Held::Yes)] {
            assert_eq!(super::held("(x=eve.net)", list.as_object().unwrap(), of), expected);
        }
        for (conditions, at) in [("(x=/a,b)", 6), ("(x=/a", 5), ("(x=/a)(y=1)", 6), ("(x=1, =2)", 5)] {
            assert_eq!(read(conditions).unwrap_err().0, at, "{conditions}");
            assert_eq!(super::held(conditions, json!({"x": "/b"}).as_object().unwrap(), Ord::min), Held::Unknown);
        }
        let both = json!({"from": "/a/1", "to": "/b/1"});
        for (conditions, expected) in [("(from=/a, to=/b)", Held::Yes), ("(from=/a,to=/a)", Held::No)] {
            assert_eq!(super::held(conditions, both.as_object().unwrap(), Ord::min), expected, "{conditions}");
        }
    }
}
