//! The parser, with what its message says so far.

use std::sync::Arc;

use toolgraft::event::{Assembled, Collector};
use toolgraft::message::FinishReason;
use toolgraft::parse::NotACall;
use toolgraft::validate::Validator;
use toolgraft::{Event, Parser};

use crate::tools::check;
use crate::{Known, Mistake, Reading};

const OVER: &str = "the message is over: `reset` begins another";

/// A parser of one message, its calls checked where that is wanted.
#[derive(Debug)]
pub struct Reader {
    parser: Parser,
    /// What calls are checked by, if they are.
    validator: Option<Arc<Validator>>,
    collects: bool,
    keeps_not_calls: bool,
    collected: Collector,
    is_over: bool,
}

impl Reader {
    /// Reads with these settings; of `known` it reads names, which takes as long as there are tools.
    pub fn new(reading: Reading, known: &Known) -> Self {
        let Reading { config, validate, collect, not_calls } = reading;
        let mut parser = Parser::new(config.with_catalog(known.for_parser()));
        if not_calls {
            parser.keep_not_calls();
        }
        let validator = validate.then(|| Arc::clone(&known.validator));
        let collected = Collector::new();
        Reader { parser, validator, collects: collect, keeps_not_calls: not_calls, collected, is_over: false }
    }

    /// Whether the message is over.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Takes the next piece of the answer's text.
    ///
    /// # Errors
    ///
    /// [`Mistake::State`] where the message is over.
    pub fn push(&mut self, chunk: &str, sink: &mut impl FnMut(Event<'_>)) -> Result<(), Mistake> {
        let Reader { parser, collected, collects, .. } = self.open()?;
        let collects = *collects;
        parser.push(chunk, &mut |event| keep(collects, collected, event, sink));
        Ok(())
    }

    /// Takes the next piece of a separate reasoning field.
    ///
    /// # Errors
    ///
    /// [`Mistake::State`] where the message is over.
    pub fn push_reasoning(&mut self, chunk: &str, sink: &mut impl FnMut(Event<'_>)) -> Result<(), Mistake> {
        let Reader { parser, collected, collects, .. } = self.open()?;
        let collects = *collects;
        parser.push_reasoning(chunk, &mut |event| keep(collects, collected, event, sink));
        Ok(())
    }

    /// Ends the message by the endpoint's word for why it ended. `stop` are the strings that the
    /// endpoint may have cut off, where they are known only now. Text that was meant as a call and
    /// fits no syntax of calls is the last event.
    ///
    /// # Errors
    ///
    /// [`Mistake::State`] where the message is over.
    pub fn finish(
        &mut self,
        reason: &str,
        stop: Option<&[String]>,
        sink: &mut impl FnMut(Event<'_>),
    ) -> Result<(), Mistake> {
        let Reader { parser, validator, collected, collects, is_over, .. } = self.open()?;
        if let Some(stop) = stop {
            parser.set_stop(stop);
        }
        let collects = *collects;
        parser.finish(&FinishReason::from(reason), &mut |event| {
            // What its schema refuses stays an example.
            if validator.as_deref().is_none_or(|validator| validator.admits(&event, collected)) {
                keep(collects, collected, event, sink);
            }
        });
        *is_over = true;
        if let Some(near) = collects.then(|| parser.near_call(collected)).flatten() {
            keep(true, collected, near, sink);
        }
        Ok(())
    }

    /// Takes what the message says, once it is over: the second time it says nothing.
    ///
    /// # Errors
    ///
    /// [`Mistake::State`] where the message is not over, or nothing of it was kept.
    pub fn take_message(&mut self) -> Result<Assembled, Mistake> {
        if !self.collects {
            return Err(Mistake::state("nothing of the message was kept: `collect` is false"));
        }
        if !self.is_over {
            return Err(Mistake::state("the message is not over: `finish` ends it"));
        }
        Ok(check(self.validator.as_deref(), std::mem::take(&mut self.collected)))
    }

    /// What looked like a call and is none, where that is kept.
    pub fn not_calls(&self) -> &[NotACall] {
        self.parser.not_calls()
    }

    /// Begins another message; settings and tools stay.
    pub fn reset(&mut self) {
        self.parser.reset();
        (self.collected, self.is_over) = (Collector::new(), false);
    }

    /// A further reader with the same settings, at the start of a message; cheap however many
    /// tools are known.
    #[must_use]
    pub fn fork(&self) -> Self {
        let mut parser = self.parser.fork();
        if self.keeps_not_calls {
            parser.keep_not_calls();
        }
        let (validator, collected) = (self.validator.clone(), Collector::new());
        Reader { parser, validator, collected, is_over: false, ..*self }
    }

    /// What a whole message says, read with these settings, whatever this reader is in the middle of.
    pub fn parse(&self, text: &str, reasoning: &str, reason: &str) -> Assembled {
        let (mut parser, validator) = (self.parser.fork(), self.validator.as_deref());
        let mut collected = Collector::new();
        let sink = &mut |event: Event<'_>| {
            if validator.is_none_or(|validator| validator.admits(&event, &collected)) {
                collected.push(event);
            }
        };
        parser.push_reasoning(reasoning, sink);
        parser.push(text, sink);
        parser.finish(&FinishReason::from(reason), sink);
        if let Some(near) = parser.near_call(&collected) {
            collected.push(near);
        }
        check(validator, collected)
    }

    /// Itself, while its message is not over.
    fn open(&mut self) -> Result<&mut Self, Mistake> {
        if self.is_over { Err(Mistake::state(OVER)) } else { Ok(self) }
    }
}

fn keep(collects: bool, collected: &mut Collector, event: Event<'_>, sink: &mut impl FnMut(Event<'_>)) {
    if collects {
        collected.push(event.clone());
    }
    sink(event);
}
