//! The meaning of Escape and Alt in every line editor.
//!
//! A terminal sends Alt with a letter as Escape and that letter, so they are distinguished by the time between. Escape
//! alone does nothing here; what is typed after it is text.

use rustyline::history::History;
use rustyline::{
    Cmd, ConditionalEventHandler, Editor, Event, EventContext, EventHandler, Helper, KeyCode, KeyEvent, Modifiers,
    RepeatCount,
};

/// Milliseconds after Escape within which a key belongs to it, since terminals send both at once for Alt with a key.
pub(crate) const ESCAPE: u16 = 100;

/// Letters that are editing commands with Alt, in both cases.
const EDITING: &str = "bcdfltuy";

/// Binds the keys of a line editor.
pub(crate) fn bind<H: Helper, I: History>(editor: &mut Editor<H, I>) {
    editor.bind_sequence(Event::Any, EventHandler::Conditional(Box::new(Letters)));
}

/// Key handler that inserts a character pressed with Alt if that combination has no function: it may have been typed
/// after an Escape before the editor started.
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
