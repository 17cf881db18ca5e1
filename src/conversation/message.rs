//! A message of the model, in parts.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::dialect::{NamedArguments, Shape};
use crate::event::{Call, MarkerKind, Rejected, RejectedKind};
use crate::message::{Image, Message, NativeCall, image};
use crate::outcome::{FILE, break_tokens, framed, rebreak_tokens, told_apart};

/// Maximum number of bytes of a rejected call's text that is sent back to the model.
pub const MAX_REJECTED_BYTES: usize = 16 << 10;

/// A message of the user: a text, and images for a model that reads images.
///
/// Everything that the user did not type is data: add the content of a file, a pipe or a resource by
/// [`User::with_file`], so that a call that occurs in it is [`Provenance::Echoed`](crate::event::Provenance::Echoed).
///
/// ```
/// use toolgraft::Conversation;
/// use toolgraft::conversation::User;
/// use toolgraft::message::Image;
///
/// let image = Image::new(b"GIF89a\x01\x00\x01\x00")?.with_name("dot.gif");
/// let conversation = Conversation::from_user(User::new("What colour is it?").with_image(image));
/// # Ok::<(), toolgraft::message::ImageError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct User {
    /// Text of the message.
    pub text: String,
    /// Images that belong to the message, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
}

impl User {
    /// Creates a message of text only.
    pub fn new(text: impl Into<String>) -> Self {
        User { text: text.into(), images: Vec::new() }
    }

    /// Appends text of the user as a new paragraph.
    #[must_use]
    pub fn with_words(mut self, words: &str) -> Self {
        if !self.text.is_empty() && !words.is_empty() {
            self.text.push_str("\n\n");
        }
        self.text.push_str(words);
        self
    }

    /// Adds a text that the user did not type, byte for byte, in a frame of this name that the text cannot close. A
    /// call that the model copies from it needs approval, as it is not the user's.
    ///
    /// ```
    /// use toolgraft::conversation::User;
    /// use toolgraft::outcome::{FILE, foreign_in_frames};
    ///
    /// let said = User::new("Sum it up.").with_file("notes.txt", "Milk </file>");
    /// assert_eq!(foreign_in_frames(FILE, &said.text).collect::<Vec<_>>(), ["Milk </file>"]);
    /// ```
    #[must_use]
    pub fn with_file(self, name: &str, text: &str) -> Self {
        // Written as a JSON string, it stays on one line whatever characters the name has.
        let name = format!(" name={}", Value::from(name));
        let frame = framed(FILE, &name, &self.text, text);
        self.with_words(&frame)
    }

    /// Adds an image to the message.
    #[must_use]
    pub fn with_image(mut self, image: Image) -> Self {
        self.images.push(image);
        self
    }

    /// Returns the message as text for display: its text, then a line for each image.
    pub fn shown(&self) -> Cow<'_, str> {
        image::shown(&self.text, &self.images)
    }

    /// Returns the message of a request to the model, with control tokens in the text defused.
    pub(super) fn as_message(&self) -> Message {
        Message { images: self.images.clone(), ..Message::user(break_tokens(&told_apart(&self.text))) }
    }
}

impl<T: Into<String>> From<T> for User {
    fn from(text: T) -> Self {
        User::new(text)
    }
}

/// A message of the model.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct Assistant {
    /// Text, syntax and calls of the message, in the order in which the model wrote them.
    pub parts: Vec<Part>,
    /// Reasoning of the model for this message. It is sent back to the model only if the settings or the endpoint
    /// require it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// `true` if the message ended before the model had finished it: it was cancelled, was cut off, or reached the
    /// output limit.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cut_off: bool,
}

/// A part of a model's message: text, syntax or a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Part {
    /// Text of the answer, which the user sees.
    Text {
        /// The answer's text, verbatim.
        text: String,
    },
    /// Syntax around calls and answers, a think tag or a special token, which the user does not see.
    Marker {
        /// Kind of the syntax.
        kind: MarkerKind,
        /// Text of the syntax, verbatim.
        text: String,
    },
    /// A call that may run. The conversation must contain its outcome before the next message.
    Call(HistoryCall),
    /// A call that was rejected and must not run.
    Rejected {
        /// The rejected call with the reason.
        rejected: Box<Rejected>,
        /// `true` if a message about the rejection is sent to the model.
        feedback: bool,
        /// The call as the endpoint reported it in a field of its own; `None` if it was in the text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        native: Option<NativeCall>,
    },
}

/// A call in a message of a conversation, with its id.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct HistoryCall {
    /// Id of the call, unique in the conversation.
    pub id: String,
    /// The call, with its arguments after validation.
    pub call: Box<Call>,
    /// Text of the call as the model wrote it.
    pub raw: String,
    /// `true` if the call was promoted although it may be only a draft: the message should have begun with reasoning,
    /// and it has no think tag.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub untagged: bool,
}

impl HistoryCall {
    /// Creates a call with its id and its text as the model wrote it.
    pub fn new(id: impl Into<String>, call: Call, raw: impl Into<String>) -> Self {
        HistoryCall { id: id.into(), call: Box::new(call), raw: raw.into(), untagged: false }
    }

    /// Returns the call's text as the model wrote it, with control tokens in its arguments defused. Those of the call
    /// syntax itself stay.
    fn written(&self) -> Cow<'_, str> {
        let spec = self.call.dialect.spec();
        if spec.template.is_some() {
            // The taught call syntaxes have no control tokens of their own.
            return rebreak_tokens(&self.raw);
        }
        let arguments = self.call.raw_arguments.as_str();
        match rebreak_tokens(arguments) {
            // Tokens between the arguments are the syntax of some dialects, and must stay whole.
            Cow::Owned(broken) if !puts_texts_between_tokens(&spec.shape) => {
                Cow::Owned(self.raw.replacen(arguments, &broken, 1))
            }
            _ => Cow::Borrowed(&self.raw),
        }
    }
}

fn puts_texts_between_tokens(shape: &Shape) -> bool {
    let Shape::Named(named) = shape else { return false };
    named.calls.iter().any(|call| match &call.arguments {
        NamedArguments::Delimited(_) => true,
        // Kimi K3's tags are tokens.
        NamedArguments::Tags { close, .. } => matches!(rebreak_tokens(close), Cow::Owned(_)),
        _ => false,
    })
}

impl Assistant {
    /// Creates a message that is only text.
    pub fn text(text: impl Into<String>) -> Self {
        Assistant { parts: vec![Part::Text { text: text.into() }], ..Assistant::default() }
    }

    /// Returns `true` if the endpoint separated reasoning of this message from its answer, by a think tag or in a field
    /// of its own. Reasoning without a tag does not count in a message that was cut off: it may have been open.
    #[cfg(feature = "agent")]
    pub(crate) fn tells_reasoning(&self) -> bool {
        let is_tag =
            |part: &Part| matches!(part, Part::Marker { kind: MarkerKind::ThinkOpen | MarkerKind::ThinkClose, .. });
        self.parts.iter().any(is_tag) || !(self.cut_off || self.reasoning.is_empty())
    }

    /// Returns the message's calls that may run, in the order of the message.
    pub fn calls(&self) -> impl Iterator<Item = &HistoryCall> {
        self.parts.iter().filter_map(|part| match part {
            Part::Call(call) => Some(call),
            _ => None,
        })
    }

    /// Returns the rejected calls about which a message is sent to the model, in the order of the message.
    pub fn feedback(&self) -> impl Iterator<Item = &Rejected> {
        self.parts.iter().filter_map(|part| match part {
            Part::Rejected { rejected, feedback: true, .. } => Some(&**rejected),
            _ => None,
        })
    }

    /// Returns the text that the user saw: without calls and markers, but with quoted calls.
    pub fn content(&self) -> String {
        let seen = self.parts.iter().filter_map(|part| match part {
            Part::Text { text } => Some(text.as_str()),
            Part::Rejected { rejected, .. } if rejected.kind == RejectedKind::Quoted || rejected.in_text => {
                Some(rejected.raw.as_str())
            }
            _ => None,
        });
        seen.collect()
    }

    /// Returns the text that the model reads as its own message: text, calls and call syntax as it wrote them, without
    /// think tags, leaked tokens and the calls of its reasoning. Control tokens in text and arguments are defused.
    pub fn written(&self) -> String {
        let mut written = String::new();
        for part in &self.parts {
            match part {
                Part::Text { text } => written.push_str(&rebreak_tokens(text)),
                Part::Marker { kind, text } if kind.is_call_syntax() => written.push_str(text),
                Part::Marker { .. } => {}
                Part::Call(call) => written.push_str(&call.written()),
                // The text of a near call is in the message's text already.
                Part::Rejected { rejected, .. }
                    if matches!(rejected.kind, RejectedKind::InReasoning | RejectedKind::NearCall) => {}
                Part::Rejected { rejected, .. } => push_bounded(&mut written, &rejected.raw),
            }
        }
        written.trim().to_owned()
    }
}

/// Appends the first [`MAX_REJECTED_BYTES`] of `raw`, with an ellipsis if it was cut.
pub(super) fn push_bounded(written: &mut String, raw: &str) {
    let end = raw.floor_char_boundary(MAX_REJECTED_BYTES);
    written.push_str(&raw[..end]);
    if end < raw.len() {
        written.push('…');
    }
}
