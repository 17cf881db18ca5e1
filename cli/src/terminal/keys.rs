//! The meaning of Escape and Alt in every line editor.
//!
//! A terminal sends Alt with a letter as Escape and that letter, so they are distinguished by the time between. Escape
//! alone does nothing here; what is typed after it is text.

use rustyline::history::History;
use rustyline::{
    Cmd, ConditionalEventHandler, Editor, Event, EventContext, EventHandler, Helper, KeyCode, KeyEvent, Modifiers,
    RepeatCount,
};

/// Milliseconds after Escape in which a key belongs to it. Terminals send both at once.
pub(crate) const ESCAPE: u16 = 100;

/// Letters that edit a line with Alt, in both cases.
const EDITING: &str = "bcdfltuy";

/// Sets the keys of an editor.
pub(crate) fn bind<H: Helper, I: History>(editor: &mut Editor<H, I>) {
    editor.bind_sequence(Event::Any, EventHandler::Conditional(Box::new(Letters)));
}

/// Alt with a character that would do nothing is the character: it may have come after an Escape that was typed before
/// the editor was there.
struct Letters;

impl ConditionalEventHandler for Letters {
    fn handle(&self, event: &Event, n: RepeatCount, _: bool, context: &EventContext<'_>) -> Option<Cmd> {
        let Some(KeyEvent(KeyCode::Char(c), Modifiers::ALT)) = event.get(0) else { return None };
        is_text(*c, context.line().is_empty()).then_some(Cmd::SelfInsert(n, *c))
    }
}

fn is_text(c: char, in_empty_line: bool) -> bool {
    let edits = EDITING.contains(c.to_ascii_lowercase());
    // These go through the history, which an empty line has too.
    let moves = matches!(c, '<' | '>');
    // In an empty line there is nothing to edit, so that such a letter was typed after an Escape.
    !c.is_control() && !moves && (in_empty_line || !edits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_text_where_it_would_do_nothing_with_alt() {
        for (c, in_empty_line, text) in [
            ('h', true, true),
            ('h', false, true),
            ('H', false, true),
            ('天', false, true),
            ('d', true, true),
            ('D', false, false),
            ('b', false, false),
            ('<', true, false),
            ('\t', true, false),
        ] {
            assert_eq!(is_text(c, in_empty_line), text, "{c:?} {in_empty_line}");
        }
    }
}
