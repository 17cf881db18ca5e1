//! A message that was told as reasoning and is an answer: no reasoning tag came.

use super::super::event::AgentEvent;
use super::message::Piece;
use super::{Body, Reader};
use crate::assemble::Entry;
use crate::event::Event;

impl Body {
    /// The same message, read as an answer from its beginning: its calls are shown, end it
    /// and are corrected as those of any other. They are told again, as what they are now.
    pub(super) fn read_as_answer(self, reader: &Reader<'_>, emit: &mut impl FnMut(AgentEvent)) -> Body {
        let Body { collector, pieces, restored, .. } = self;
        let mut entries = collector.finish().entries.into_iter().peekable();
        let mut answer = Body::default();
        let span = 0..0;
        for piece in pieces {
            match piece {
                Piece::Text(_, text) => {
                    answer.take(Event::Text { text: &text, span: span.clone() }, reader, &mut |_| {})
                }
                Piece::Marker(kind, text) | Piece::Syntax(kind, text) => {
                    let marker = Event::Marker { kind, text: &text, span: span.clone() };
                    answer.take(marker, reader, &mut |_| {});
                }
                Piece::Entry(index, _) => {
                    let Some(entry) = entries.next_if(|entry| entry.index == index) else { continue };
                    let tell = restored.contains(&index);
                    answer.read_entry(entry, reader, &mut |event| {
                        if tell {
                            emit(event)
                        }
                    });
                }
            }
        }
        Body { is_answer: true, ..answer }
    }

    fn read_entry(&mut self, entry: Entry, reader: &Reader<'_>, emit: &mut impl FnMut(AgentEvent)) {
        let Entry { index, result, raw, restated, promoted, .. } = entry;
        let result = result.and_then(|call| reader.validator.check(call, &raw).map_err(|rejected| *rejected));
        self.promotes = promoted && result.is_ok() && !reader.tells_reasoning();
        let end = Event::CallEnd { index, result: Box::new(result), raw: &raw, restated, span: 0..0 };
        self.take(end, reader, emit);
        if std::mem::take(&mut self.promotes) && !self.over {
            self.take(Event::Promoted { index, span: 0..0 }, reader, emit);
        }
    }
}

impl Reader<'_> {
    /// Whether the endpoint is known to tell reasoning from answers: then what comes
    /// without a tag is none.
    pub(super) fn tells_reasoning(&self) -> bool {
        // What another model does says nothing.
        self.config.round_model.is_none() && self.displays.conversation.messages().any(|m| m.tells_reasoning())
    }
}
