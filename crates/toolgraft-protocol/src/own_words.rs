//! Separates a person's own words from what a client adds to them.

use serde_json::Value;

/// Tags in which clients add files, rules and the time to a user's message, each with the clients that use it.
const BESIDE: [(&str, &str); 17] = [
    ("system-reminder", "Claude Code, opencode"),
    ("local-command-caveat", "Claude Code"),
    ("local-command-stdout", "Claude Code"),
    ("command-name", "Claude Code"),
    ("command-message", "Claude Code"),
    ("ide_opened_file", "Claude Code in an editor"),
    ("ide_selection", "Claude Code in an editor"),
    ("environment_details", "Cline, Roo Code, Kilo Code"),
    ("environment_context", "Codex"),
    ("user_instructions", "Codex before AGENTS.md had a heading"),
    ("INSTRUCTIONS", "Codex: AGENTS.md"),
    ("environment_info", "Copilot Chat"),
    ("workspace_info", "Copilot Chat"),
    ("editorContext", "Copilot Chat"),
    ("reminderInstructions", "Copilot Chat"),
    ("attachments", "Copilot Chat"),
    ("info-msg", "goose"),
];

/// Returns the last text of a message's content that holds more than clients' additions, without these additions;
/// `None` if the user wrote nothing.
pub(crate) fn own_words(content: &Value) -> Option<String> {
    let own = |text: &str| Some(without(text)).filter(|text| !text.is_empty());
    match content {
        Value::String(text) => own(text),
        Value::Array(parts) => parts.iter().rev().find_map(|part| own(part["text"].as_str()?)),
        _ => None,
    }
}

/// Removes the tagged elements that clients add to a user's message.
fn without(text: &str) -> String {
    let mut own = String::new();
    let mut unclosed = [false; BESIDE.len()];
    let (mut rest, mut from) = (text, 0);
    while let Some(open) = rest[from..].find('<').map(|at| from + at) {
        let inner = &rest[open + 1..];
        let opens = |name: &str| inner.strip_prefix(name).is_some_and(|after| after.starts_with(['>', ' ', '\n']));
        from = open + 1;
        // A name whose closing tag is missing once is missing for all later tags as well. It is not searched
        // for again, so that the time stays linear.
        let Some(known) = BESIDE.iter().position(|(name, _)| opens(name)).filter(|known| !unclosed[*known]) else {
            continue;
        };
        match inner.split_once(&format!("</{}>", BESIDE[known].0)) {
            Some((_, after)) => {
                own.push_str(&rest[..open]);
                (rest, from) = (after, 0);
            }
            None => unclosed[known] = true,
        }
    }
    own.push_str(rest);
    own.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_client_adds_is_not_what_the_person_said() {
        let reminder = "<system-reminder>\nUse <b>four</b> spaces.\n</system-reminder>";
        let blocks = |texts: &[&str]| texts.iter().map(|text| json!({"type": "text", "text": text})).collect::<Value>();
        for (content, words) in [
            (json!("Mend it."), Some("Mend it.")),
            (json!(format!("{reminder}\nMend it.\n{reminder}")), Some("Mend it.")),
            (json!("<environment_details>\n# Time\n</environment_details>"), None),
            (json!("See <b>this</b> & a < b"), Some("See <b>this</b> & a < b")),
            (json!("<task>\nMend it.\n</task>"), Some("<task>\nMend it.\n</task>")),
            (
                json!("Why is <system-reminder> there, and <system-reminder> again?"),
                Some("Why is <system-reminder> there, and <system-reminder> again?"),
            ),
            (blocks(&[reminder, "The file a.rs.", "Mend it."]), Some("Mend it.")),
            (blocks(&["Mend it.", reminder, ""]), Some("Mend it.")),
            (blocks(&[reminder, reminder]), None),
            (json!([{"type": "image_url", "image_url": {"url": "data:"}}]), None),
            (Value::Null, None),
        ] {
            assert_eq!(own_words(&content).as_deref(), words, "{content}");
        }
    }
}
