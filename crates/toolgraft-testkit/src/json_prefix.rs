//! Checks that a text is the beginning of a JSON text, and that it can become a given value.

use serde_json::Value;

/// A JSON value of a text that may be cut off, so that the value may be incomplete.
#[derive(Debug)]
pub(crate) enum Prefix {
    /// Token of a JSON number, or of a literal such as `true`; it may be incomplete unless `closed`.
    Scalar { text: String, closed: bool },
    /// A JSON string; its text is `None` if its escapes are not valid text.
    Text { text: Option<String>, closed: bool },
    /// A JSON array; more items may follow unless it is `closed`.
    Array { items: Vec<Prefix>, closed: bool },
    /// A JSON object; more members may follow unless it is `closed`.
    Object { members: Vec<(String, Prefix)>, closed: bool },
}

/// Parses the beginning of a JSON text; returns `None` if there is no token yet.
///
/// # Errors
/// Fails if the text cannot be the beginning of JSON.
pub(crate) fn read(text: &str) -> Result<Option<Prefix>, String> {
    let mut reader = Reader { text, at: 0 };
    let prefix = reader.value()?;
    reader.space();
    if reader.at < text.len() {
        return Err(format!("something after the value at byte {}", reader.at));
    }
    Ok(prefix)
}

impl Prefix {
    /// Returns `true` if the parsed beginning can be continued to a JSON text of `value`.
    pub(crate) fn begins(&self, value: &Value) -> bool {
        match (self, value) {
            (Prefix::Scalar { text, closed }, _) => match serde_json::from_str::<Value>(text) {
                Ok(read) => !closed || read == *value,
                Err(_) => true,
            },
            (Prefix::Text { text: None, .. }, Value::String(_)) => true,
            (Prefix::Text { text: Some(text), closed }, Value::String(full)) => {
                if *closed {
                    text == full
                } else {
                    full.starts_with(text.as_str())
                }
            }
            (Prefix::Array { items, closed }, Value::Array(full)) => {
                // An unclosed array may continue with the remaining items of `full`.
                items.len() <= full.len()
                    && (!closed || items.len() == full.len())
                    && items.iter().zip(full).all(|(item, full)| item.begins(full))
            }
            (Prefix::Object { members, closed }, Value::Object(full)) => {
                // An unclosed object may continue with the remaining members of `full`.
                (!closed || members.len() == full.len())
                    && members.iter().all(|(key, part)| full.get(key).is_some_and(|full| part.begins(full)))
            }
            _ => false,
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while self.peek().is_some_and(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn value(&mut self) -> Result<Option<Prefix>, String> {
        self.space();
        Ok(Some(match self.peek() {
            None => return Ok(None),
            Some(b'{') => self.object()?,
            Some(b'[') => self.array()?,
            Some(b'"') => {
                let (text, closed) = self.string()?;
                Prefix::Text { text, closed }
            }
            Some(_) => self.scalar()?,
        }))
    }

    fn array(&mut self) -> Result<Prefix, String> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.space();
            if self.peek() == Some(b']') && items.is_empty() {
                self.at += 1;
                return Ok(Prefix::Array { items, closed: true });
            }
            match self.value()? {
                Some(item) => items.push(item),
                None => return Ok(Prefix::Array { items, closed: false }),
            }
            match self.separator(b']')? {
                Some(true) => {}
                Some(false) => return Ok(Prefix::Array { items, closed: true }),
                None => return Ok(Prefix::Array { items, closed: false }),
            }
        }
    }

    fn object(&mut self) -> Result<Prefix, String> {
        self.at += 1;
        let mut members = Vec::new();
        loop {
            self.space();
            match self.peek() {
                None => return Ok(Prefix::Object { members, closed: false }),
                Some(b'}') if members.is_empty() => {
                    self.at += 1;
                    return Ok(Prefix::Object { members, closed: true });
                }
                Some(b'"') => {}
                Some(_) => return Err(format!("expected a key at byte {}", self.at)),
            }
            let (key, closed) = self.string()?;
            self.space();
            match self.peek() {
                None => return Ok(Prefix::Object { members, closed: false }),
                Some(b':') if closed => self.at += 1,
                Some(_) => return Err(format!("expected a colon at byte {}", self.at)),
            }
            let Some(value) = self.value()? else { return Ok(Prefix::Object { members, closed: false }) };
            if let Some(key) = key {
                members.push((key, value));
            }
            match self.separator(b'}')? {
                Some(true) => {}
                Some(false) => return Ok(Prefix::Object { members, closed: true }),
                None => return Ok(Prefix::Object { members, closed: false }),
            }
        }
    }

    /// Reads the separator after a JSON value: a comma (returns `true`), the closing bracket (`false`), or the end of
    /// the text (`None`).
    fn separator(&mut self, close: u8) -> Result<Option<bool>, String> {
        self.space();
        let found = match self.peek() {
            None => return Ok(None),
            Some(b',') => true,
            Some(byte) if byte == close => false,
            Some(_) => return Err(format!("expected a comma or bracket at byte {}", self.at)),
        };
        self.at += 1;
        Ok(Some(found))
    }

    fn string(&mut self) -> Result<(Option<String>, bool), String> {
        let start = self.at;
        self.at += 1;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    self.at += 1;
                    return Ok((serde_json::from_str(&self.text[start..self.at]).ok(), true));
                }
                b'\\' => self.escape()?,
                0..0x20 => return Err(format!("control character at byte {}", self.at)),
                _ => self.at += 1,
            }
        }
        // Without an incomplete escape at the end.
        let open = &self.text[start..];
        let whole = (0..=12)
            .filter_map(|less| open.get(..open.len().checked_sub(less)?))
            .find_map(|part| serde_json::from_str(&format!("{part}\"")).ok());
        Ok((whole, false))
    }

    fn escape(&mut self) -> Result<(), String> {
        self.at += 1;
        let Some(byte) = self.peek() else { return Ok(()) };
        self.at += 1;
        match byte {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Ok(()),
            b'u' => {
                for _ in 0..4 {
                    match self.peek() {
                        None => break,
                        Some(digit) if digit.is_ascii_hexdigit() => self.at += 1,
                        Some(_) => return Err(format!("bad escape at byte {}", self.at)),
                    }
                }
                Ok(())
            }
            _ => Err(format!("bad escape at byte {}", self.at - 1)),
        }
    }

    fn scalar(&mut self) -> Result<Prefix, String> {
        let start = self.at;
        while self.peek().is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.')) {
            self.at += 1;
        }
        let text = &self.text[start..self.at];
        let closed = self.at < self.text.len();
        let word = ["true", "false", "null"].iter().any(|w| if closed { w == &text } else { w.starts_with(text) });
        if text.is_empty() || !(word || number(text, closed)) {
            return Err(format!("no value at byte {start}"));
        }
        Ok(Prefix::Scalar { text: text.to_owned(), closed })
    }
}

/// Returns `true` if the text is a JSON number or, unless it is `closed`, can become one.
fn number(text: &str, closed: bool) -> bool {
    let mut state = 0;
    for byte in text.bytes() {
        state = match (state, byte) {
            (0, b'-') => 1,
            (0 | 1, b'0') => 2,
            (0 | 1, b'1'..=b'9') | (3, b'0'..=b'9') => 3,
            (2 | 3, b'.') => 4,
            (4 | 5, b'0'..=b'9') => 5,
            (2 | 3 | 5, b'e' | b'E') => 6,
            (6, b'+' | b'-') => 7,
            (6..=8, b'0'..=b'9') => 8,
            _ => return false,
        };
    }
    !closed || matches!(state, 2 | 3 | 5 | 8)
}
