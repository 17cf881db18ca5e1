//! The parser, with the message that it has read so far.

use std::sync::Arc;

use toolgraft::event::{Assembled, Collector};
use toolgraft::message::{DeltaKind, FinishReason};
use toolgraft::parse::NotACall;
use toolgraft::validate::Validator;
use toolgraft::{Event, Parser};

use crate::tools::check;
use crate::{Mistake, ParserSettings, ToolSet};

const OVER: &str = "the message is finished: call `reset` before the next one";

/// A parser of one message, which can also check the message's calls and collect the message.
#[derive(Debug)]
pub struct MessageParser {
    parser: Parser,
    /// Validator of the message's calls; `None` if they are not checked.
    validator: Option<Arc<Validator>>,
    collects: bool,
    keeps_not_calls: bool,
    collected: Collector,
    is_over: bool,
}

impl MessageParser {
    /// Creates a parser with these settings. Reads the names of the tools in `known`, which takes
    /// time proportional to their number.
    pub fn new(reading: ParserSettings, known: &ToolSet) -> Self {
        let ParserSettings { config, validate, collect, not_calls } = reading;
        let mut parser = Parser::new(config.with_catalog(known.for_parser()));
        if not_calls {
            parser.keep_not_calls();
        }
        let validator = validate.then(|| Arc::clone(&known.validator));
        let collected = Collector::new();
        MessageParser { parser, validator, collects: collect, keeps_not_calls: not_calls, collected, is_over: false }
    }

    /// Returns `true` if the message has been finished.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Parses the next chunk of the answer's text, or of a separate reasoning field.
    ///
    /// # Errors
    ///
    /// [`Mistake::State`] if the message has been finished.
    pub fn push(&mut self, kind: DeltaKind, chunk: &str, sink: &mut impl FnMut(Event<'_>)) -> Result<(), Mistake> {
        self.open()?.take(kind, chunk, sink);
        Ok(())
    }

    fn take(&mut self, kind: DeltaKind, chunk: &str, sink: &mut impl FnMut(Event<'_>)) {
        let MessageParser { parser, collected, collects, .. } = self;
        let mut kept = |event: Event<'_>| keep(*collects, collected, event, sink);
        match kind {
            DeltaKind::Reasoning => parser.push_reasoning(chunk, &mut kept),
            _ => parser.push(chunk, &mut kept),
        }
    }

    /// Finishes the message with the endpoint's finish reason. `stop` are the stop sequences that
    /// the endpoint may have cut off, if they are known only now. If a text was meant as a call but
    /// fits no syntax, the last event is its rejection.
    ///
    /// # Errors
    ///
    /// [`Mistake::State`] if the message has been finished.
    pub fn finish(
        &mut self,
        reason: &str,
        stop: Option<&[String]>,
        sink: &mut impl FnMut(Event<'_>),
    ) -> Result<(), Mistake> {
        if let Some(stop) = stop {
            self.open()?.parser.set_stop(stop);
        }
        self.open()?.end(reason, sink);
        Ok(())
    }

    fn end(&mut self, reason: &str, sink: &mut impl FnMut(Event<'_>)) {
        let MessageParser { parser, validator, collected, collects, is_over, .. } = self;
        parser.finish(&FinishReason::from(reason), &mut |event| {
            // A call in a fence whose arguments do not fit the schema is only an example.
            if validator.as_deref().is_none_or(|validator| validator.admits(&event, collected)) {
                keep(*collects, collected, event, sink);
            }
        });
        *is_over = true;
        if let Some(near) = collects.then(|| parser.near_call(collected)).flatten() {
            keep(true, collected, near, sink);
        }
    }

    /// Returns the message after its end, and clears it: a second call returns an empty one.
    ///
    /// # Errors
    ///
    /// [`Mistake::State`] if the message is not finished, or was not collected.
    pub fn take_message(&mut self) -> Result<Assembled, Mistake> {
        if !self.collects {
            return Err(Mistake::State("the message was not collected: set `collect` to true".to_owned()));
        }
        if !self.is_over {
            return Err(Mistake::State("the message is not finished: call `finish` first".to_owned()));
        }
        Ok(check(self.validator.as_deref(), std::mem::take(&mut self.collected)))
    }

    /// Returns the texts of the message that looked like calls but are none; empty unless the settings collect them.
    pub fn not_calls(&self) -> &[NotACall] {
        self.parser.not_calls()
    }

    /// Begins another message with the same settings and tools.
    pub fn reset(&mut self) {
        self.parser.reset();
        (self.collected, self.is_over) = (Collector::new(), false);
    }

    /// Returns a further parser with the same settings, at the start of a message. The cost does
    /// not depend on the number of tools.
    #[must_use]
    pub fn fork(&self) -> Self {
        let mut parser = self.parser.fork();
        if self.keeps_not_calls {
            parser.keep_not_calls();
        }
        let (validator, collected) = (self.validator.clone(), Collector::new());
        MessageParser { parser, validator, collected, is_over: false, ..*self }
    }

    /// Parses a whole message with these settings, independently of the message in progress.
    pub fn parse(&self, text: &str, reasoning: &str, reason: &str) -> Assembled {
        let mut whole = MessageParser { collects: true, ..self.fork() };
        let sink = &mut |_: Event<'_>| {};
        whole.take(DeltaKind::Reasoning, reasoning, sink);
        whole.take(DeltaKind::Content, text, sink);
        whole.end(reason, sink);
        check(whole.validator.as_deref(), whole.collected)
    }

    /// Returns `self` if its message is not finished; else fails.
    fn open(&mut self) -> Result<&mut Self, Mistake> {
        if self.is_over { Err(Mistake::State(OVER.to_owned())) } else { Ok(self) }
    }
}

fn keep(collects: bool, collected: &mut Collector, event: Event<'_>, sink: &mut impl FnMut(Event<'_>)) {
    if collects {
        collected.push(event.clone());
    }
    sink(event);
}
