//! The request of a round: its model, its messages, and the parts of the history that it leaves out.

use std::collections::HashMap;
use std::sync::Arc;

use super::carry::thoughts;
use super::constrain::{calls, constraint};
use super::cost::{Cost, count};
use super::fit::{ContextSpace, context, fitting};
use crate::constrain::{Constrain, Narrowed, Way};
use crate::conversation::{Layout, Replies, SHORT_RESULT_BYTES, Trim};
use crate::dialect::SystemPlacement;
use crate::event::Call;
use crate::message::{FinishReason, Message, ReasoningMode, Role};
use crate::model::{ModelError, ModelFailure, NativeFault, Request};
use crate::outcome::{Status, noted};
use crate::parse::Parser;
use crate::tools::{BuiltIn, Said, ToolChoice, ToolsMode};
use crate::turn::config::{RoundInfo, RoundModel, TurnConfig};
use crate::turn::decide::{Asking, first};
use crate::turn::event::AgentEvent;
use crate::turn::io::Action;
use crate::turn::shared::Shared;
use crate::turn::stop::StopReason;
use crate::turn::warning::CallerWarning;
use crate::turn::wording::{Expected, ModelNote, Wording, WordingError};
use crate::wire::{ToolDefinition, wire_name};

/// Number of tokens of a request, by our own count, from which on the endpoint is asked for the length of the context:
/// half of the shortest default of a server (Ollama, 2,048), which leaves space for another tokenizer's count and the
/// reply.
const ASK_FROM: usize = 1_000;

/// Limit on the bytes of results up to which the answer is requested outside the conversation.
const MOST_ALONE: usize = 6_000;

/// Advice in the error if the endpoint refuses a request with images.
const WITHOUT_IMAGES: &str = "; where the model reads no images, ask without them (in a new conversation, if an \
                              earlier question had some), or take a model that reads images";

/// State of a turn's requests: the model of the round, its wordings, and the endpoint's reports.
pub(in crate::turn) struct Ask {
    /// The model of this round.
    pub(in crate::turn) model: RoundModel,
    /// For each model by its name, `true` if requests to it carry the tools.
    known: HashMap<Option<String>, bool>,
    /// The fault for which native calls were abandoned in this turn, until the prompt is known to work better.
    left: Option<NativeFault>,
    /// The wording for this conversation, if it decides which tools are listed.
    meant: Option<Arc<dyn Wording>>,
    /// Wording for this conversation in requests that carry the tools, if it decides which are offered.
    meant_native: Option<Arc<dyn Wording>>,
    pub(in crate::turn) cost: Cost,
    /// Number of tokens of the last request by our own count, and the trim of its history.
    last: (usize, Trim),
    /// `true` if the last request had images.
    has_images: bool,
    /// `true` if the round's request was already repeated with less content.
    cut_again: bool,
    /// Trim of the history that the caller was last warned about.
    trim_told: Trim,
}

impl Ask {
    pub(in crate::turn) fn new(config: &TurnConfig) -> Self {
        Ask {
            model: RoundModel::own(config),
            known: HashMap::new(),
            left: None,
            meant: None,
            meant_native: None,
            cost: Cost::default(),
            last: Default::default(),
            has_images: false,
            cut_again: false,
            trim_told: Trim::default(),
        }
    }

    /// Returns the wording for the requests of this round.
    pub(in crate::turn) fn wording<'s>(&'s self, shared: &'s Shared) -> &'s dyn Wording {
        if shared.native { self.native_wording(shared) } else { self.prompt_wording(shared) }
    }

    fn native_wording<'s>(&'s self, shared: &'s Shared) -> &'s dyn Wording {
        self.meant_native.as_deref().unwrap_or_else(|| shared.setup.native_wording())
    }

    fn prompt_wording<'s>(&'s self, shared: &'s Shared) -> &'s dyn Wording {
        self.meant.as_deref().unwrap_or_else(|| shared.setup.wording())
    }

    /// Chooses the model of the new round. Returns its parser if it differs from the last one's.
    pub(in crate::turn) fn choose_model(&mut self, shared: &Shared) -> Option<Parser> {
        let round = RoundInfo { round: shared.round, calls: shared.calls, corrections: shared.corrections };
        let config = &shared.setup.config;
        let chosen = config.round_model.as_ref().and_then(|choice| choice.of(round));
        let model = chosen.unwrap_or_else(|| RoundModel::own(config));
        let parser = (!model.reads_like(&self.model)).then(|| shared.setup.parser_for(&model));
        self.model = model;
        self.meant = shared.setup.wording().meant(&shared.said());
        parser
    }

    /// Decides how the next request offers the tools. Returns `true` if the endpoint has to be asked first.
    pub(in crate::turn) fn must_probe(&mut self, shared: &mut Shared) -> bool {
        let decided = shared.setup.natively(&self.model, self.model_name(shared));
        // What the configuration leaves open, the endpoint has said earlier in the turn.
        let decided = decided.or_else(|| self.known.get(&self.model.name).copied());
        self.set_native(decided == Some(true), shared);
        if decided.is_none() {
            shared.actions.push_back(Action::Probe(self.model.name.clone()));
        }
        decided.is_none()
    }

    /// Handles the endpoint's report whether requests may carry tools; without a report the profile decides.
    pub(in crate::turn) fn probed(&mut self, said: Option<bool>, shared: &mut Shared) {
        self.offers_natively(shared.setup.takes_tools(&self.model, said), shared);
    }

    fn offers_natively(&mut self, native: bool, shared: &mut Shared) {
        self.known.insert(self.model.name.clone(), native);
        self.set_native(native, shared);
    }

    fn set_native(&mut self, native: bool, shared: &mut Shared) {
        shared.native = native;
        self.meant_native = if native { shared.setup.native_wording().meant(&shared.said()) } else { None };
    }

    /// Returns `true` if requests carry the tools and could have them in the prompt instead.
    pub(in crate::turn) fn may_leave_native(&self, shared: &Shared) -> bool {
        shared.native && shared.setup.config.tools_mode == ToolsMode::Auto
    }

    /// Abandons native calls in favour of the prompt for the rest of the turn; with a `fault`, permanently once a
    /// message has arrived that way. Returns `true` if native calls were in use and could be abandoned.
    pub(in crate::turn) fn leave_native(&mut self, fault: Option<NativeFault>, shared: &mut Shared) -> bool {
        let leaves = self.may_leave_native(shared);
        if leaves {
            self.offers_natively(false, shared);
            self.left = fault;
        }
        leaves
    }

    /// Records that a message arrived: if its tools were in the prompt, that works better than the native calls that
    /// were abandoned.
    pub(in crate::turn) fn came(&mut self, shared: &Shared) {
        if let Some(fault) = self.left.take_if(|_| !shared.native) {
            shared.setup.ways().without_native(self.model_name(shared), fault);
        }
    }

    /// Sends the round's request. Returns `false` if the endpoint has to be asked for the length of its context first.
    pub(in crate::turn) fn send(&mut self, shared: &mut Shared) -> Result<bool, StopReason> {
        self.cut_again = false;
        let (request, trim) = self.fitting(shared)?;
        let tokens = self.count(&request, shared);
        // A short prompt fits every context, so the question is not worth its time.
        if tokens >= ASK_FROM && !shared.setup.measured.of(&self.model.name).asked {
            shared.actions.push_back(Action::AskContext(self.model.name.clone()));
            return Ok(false);
        }
        let model = request.model.clone();
        self.hand_over(request, tokens, &trim, shared);
        shared.emit(AgentEvent::RoundStarted { round: shared.round, model });
        self.tell_trim(trim, shared);
        Ok(true)
    }

    fn count(&self, request: &Request, shared: &Shared) -> usize {
        count(&shared.setup.config.tokens.clone().unwrap_or_default(), request)
    }

    /// Handles an endpoint that refused the tools: the request is repeated with the tools in the prompt, unless a part
    /// of an answer arrived or the tools must be in the request.
    pub(in crate::turn) fn send_without_tools(
        &mut self,
        error: ModelError,
        has_begun: bool,
        shared: &mut Shared,
    ) -> Result<(), StopReason> {
        // `Native` forbids the prompt, a request without tools was refused for another reason, and a message
        // that has begun cannot be requested again.
        if shared.setup.config.tools_mode != ToolsMode::Auto || !shared.native || has_begun {
            let help = if shared.native { "; without native calls the prompt describes the tools" } else { "" };
            return Err(StopReason::ModelFailed(ModelFailure::from(error).with_help(help)));
        }
        self.offers_natively(false, shared);
        shared.warn(CallerWarning::ToolsRefused { message: error.to_string() });
        self.fitting(shared).map(|(request, trim)| self.resend(request, trim, shared))
    }

    /// Handles a prompt that is too long for the endpoint: a shorter one is sent once, unless a part of an answer
    /// arrived.
    pub(in crate::turn) fn send_less(
        &mut self,
        (prompt, context): (Option<usize>, Option<usize>),
        message: String,
        has_begun: bool,
        shared: &mut Shared,
    ) -> Result<(), StopReason> {
        let reply = shared.setup.config.max_tokens.map_or(0, |tokens| tokens as usize);
        shared.setup.measured.refused(&self.model.name, (self.last.0, reply), prompt, context);
        let exceeded = StopReason::ContextExceeded { prompt, context, message };
        // The endpoint's numbers are known after the first refusal, so a second shorter request would not
        // help.
        if std::mem::replace(&mut self.cut_again, true) || has_begun {
            return Err(exceeded);
        }
        match self.fitting(shared) {
            // An equal trim is the request that was refused.
            Ok((request, trim)) if trim != self.last.1 => {
                self.resend(request, trim, shared);
                Ok(())
            }
            Ok(_) | Err(StopReason::ContextTooSmall { .. }) => Err(exceeded),
            Err(reason) => Err(reason),
        }
    }

    /// Returns the reason that ends the turn after an error of the model.
    pub(in crate::turn) fn failed(&self, error: ModelError) -> StopReason {
        let help = if self.has_images && error.refuses_images() { WITHOUT_IMAGES } else { "" };
        StopReason::ModelFailed(ModelFailure::from(error).with_help(help))
    }

    /// Ends the round and reports its usage. `spoken` is the answer and the reasoning.
    pub(in crate::turn) fn finish_round(
        &mut self,
        finish: Option<FinishReason>,
        spoken: impl FnOnce() -> (String, String),
        shared: &mut Shared,
    ) {
        shared.context_full = None;
        if finish == Some(FinishReason::Length) {
            shared.context_full = self.full(shared);
        }
        // The tokens of images vary too much to calibrate the count of text.
        if let Some(read) = self.cost.read().filter(|_| !self.has_images) {
            shared.setup.measured.counted(&self.model.name, self.last.0, read);
        }
        let usage = self.cost.round(shared.setup.config.tokens.as_ref(), spoken);
        shared.emit(AgentEvent::RoundFinished { round: shared.round, finish, usage });
        if let Some(notice) = self.cost.cut(usage) {
            shared.warn(notice);
        }
    }

    /// Returns the stop reason if the context cut the message off, rather than a limit on the answer: prompt and answer
    /// fill the context, except for the few tokens that servers reserve.
    fn full(&self, shared: &Shared) -> Option<StopReason> {
        let (prompt, answer) = self.cost.tokens()?;
        // An answer of the configured length was ended by that limit.
        let limited = shared.setup.config.max_tokens.is_some_and(|most| answer >= u64::from(most));
        let measure = shared.setup.measured.of(&self.model.name);
        let context = context(&shared.setup.config, measure).filter(|_| !limited)?;
        let is_full = prompt + answer + (context as u64 / 128).max(2) >= context as u64;
        let remedy = shared.setup.measured.remedy();
        is_full.then_some(StopReason::ContextFull { context, prompt, answer, remedy })
    }

    /// Queues a request of this number of tokens, and records its size, trim and constraint.
    fn hand_over(&mut self, request: Request, tokens: usize, trim: &Trim, shared: &mut Shared) {
        let counter = shared.setup.config.tokens.as_ref();
        self.cost.sends(counter, &request);
        shared.held = request.constraint.as_ref().map(|constraint| constraint.of);
        self.last = (tokens, trim.clone());
        self.has_images = request.has_images();
        shared.actions.push_back(Action::Send(request));
    }

    /// Sends a changed request in the same round.
    fn resend(&mut self, request: Request, trim: Trim, shared: &mut Shared) {
        let tokens = self.count(&request, shared);
        self.hand_over(request, tokens, &trim, shared);
        self.tell_trim(trim, shared);
    }

    /// Warns the caller about the omitted history whenever the omission has grown.
    fn tell_trim(&mut self, trim: Trim, shared: &mut Shared) {
        let measure = shared.setup.measured.of(&self.model.name);
        let context = context(&shared.setup.config, measure).filter(|_| trim != self.trim_told);
        let Some(context) = context else { return };
        let (rounds, questions, results) = (trim.rounds, trim.questions, trim.results);
        self.trim_told = trim;
        if rounds + questions + results > 0 {
            let remedy = shared.setup.measured.remedy();
            let notice = CallerWarning::HistoryLeftOut { rounds, questions, results, context, remedy };
            shared.warn(notice);
        }
    }

    /// Returns the next request, with as much of the history as fits the context, and the trim of the history.
    fn fitting(&self, shared: &Shared) -> Result<(Request, Trim), StopReason> {
        let windows = ContextSpace::all(&shared.setup.config, shared.setup.measured.of(&self.model.name));
        match (fitting(&shared.conversation, &windows, |trim| self.request(trim, shared))?, windows.first()) {
            (Some(found), _) => Ok(found),
            (None, Some(usual)) => Err(self.too_small(usual, shared)?),
            (None, None) => Ok((self.request(Trim::default(), shared)?, Trim::default())),
        }
    }

    fn too_small(&self, window: &ContextSpace, shared: &Shared) -> Result<StopReason, StopReason> {
        let shortest = self.request(shared.conversation.trim_all(SHORT_RESULT_BYTES), shared)?;
        let without_messages = Request { messages: Vec::new(), ..shortest.clone() };
        let system = self.system(shared).map_err(failed)?;
        Ok(StopReason::ContextTooSmall {
            context: window.context,
            reply: window.reply,
            system: window.count_text(&system) + window.count(&without_messages),
            request: window.count(&shortest),
            remedy: shared.setup.measured.remedy(),
        })
    }

    /// Returns the request with the history trimmed by `trim`.
    fn request(&self, trim: Trim, shared: &Shared) -> Result<Request, StopReason> {
        let mut layout = self.layout(shared).map_err(failed)?;
        if trim.rounds + trim.questions > 0 {
            layout.trim_note = noted(&self.wording(shared).note(ModelNote::LeftOut));
        }
        layout.trim = trim;
        layout.reads = self.model.reads;
        let messages = match self.alone(&shared.asking, shared) {
            Some(messages) => messages,
            None => self.messages(&layout, shared).map_err(failed)?,
        };
        let mut request = Request::new(messages);
        request.model.clone_from(&self.model.name);
        request.temperature = self.model.temperature;
        request.max_tokens = shared.setup.config.max_tokens;
        request.stop.clone_from(&shared.setup.config.stop);
        self.offer(&mut request, shared);
        let missing = shared.setup.ways().missing(self.model_name(shared));
        // Masked probabilities say nothing, a structure that is refused masks nothing, and reasoning comes
        // before the call.
        let is_told_under_grammar = !(missing.unmasked || missing.structure || self.reasons());
        request.constraint = constraint(shared.native, &self.model, is_told_under_grammar, shared);
        if let Some(last) = request.messages.last_mut()
            && let Some(closed) = self.closed(&last.content, shared)
        {
            last.content = closed;
        }
        request.alternatives = shared.asking == Asking::Measured;
        Ok(request)
    }

    /// Returns the messages of a request for only the answer or a text, outside the conversation; `None` if it must be
    /// requested in the conversation: after earlier questions, to which it may refer, and if the results are long.
    pub(in crate::turn) fn alone(&self, asking: &Asking, shared: &Shared) -> Option<Vec<Message>> {
        let of = match asking {
            Asking::Answer => None,
            Asking::Text { call, member } => Some(described(call, member)),
            _ => return None,
        };
        let request = shared.request()?;
        let is_first = shared.said().iter().all(|said| !matches!(said, Said::Question(text) if *text != request));
        // A request with tools keeps its history, and the form of an output is in the system text.
        if shared.native || shared.output.is_some() || !is_first {
            return None;
        }
        let made = shared.answered();
        if made.iter().map(|answered| answered.outcome.text.len()).sum::<usize>() > MOST_ALONE {
            return None;
        }
        let changes = made.iter().any(|answered| shared.changes(answered.call));
        let expected = match &of {
            Some(of) => Expected::Text { of },
            None if shared.missing.is_none() && shared.ends_with_change() => Expected::Done,
            None => Expected::Answer { missing: shared.missing.as_deref() },
        };
        let (system, text) = self.wording(shared).alone(request, &made, changes, expected)?;
        let system = system.map(|text| Message::new(Role::System, text));
        Some(system.into_iter().chain([Message::new(Role::User, text)]).collect())
    }

    /// Returns the text of a request's last message with its last line set to what the model must write next; `None` if
    /// the turn does not know that.
    pub(in crate::turn) fn closed(&self, text: &str, shared: &Shared) -> Option<String> {
        let unused = match shared.asking {
            Asking::Step | Asking::Narrowed(_) => shared.unused(),
            Asking::Answer => Vec::new(),
            _ => return None,
        };
        let closing = self.wording(shared).closing(&unused, shared.missing.as_deref())?;
        let rest = text.strip_suffix(closing.either)?;
        Some(format!("{rest}{}", if shared.asking == Asking::Answer { &closing.answer } else { &closing.call }))
    }

    /// Returns the purpose of the next request of a round in which the model may either call or answer.
    pub(in crate::turn) fn asking(&self, shared: &Shared) -> Asking {
        let config = &shared.setup.config;
        // A required call, a correction and a last round leave the model no choice.
        let is_open = shared.choice == ToolChoice::Auto && shared.mending.is_none() && shared.may_call();
        let is_free =
            shared.client.is_free || shared.native || config.way == Way::Free || config.constrain == Constrain::Off;
        // Without a constraint for calls the model's decision could not be enforced.
        if is_free || !is_open || calls(&shared.choice, &self.model, shared).is_none() {
            return Asking::Free;
        }
        let missing = shared.setup.ways().missing(self.model_name(shared));
        // A model that reasons decides about the next step in its reasoning.
        let follows_results = !self.reasons() && shared.follows_results();
        match first(config.way, missing, follows_results) {
            Asking::Step => step(shared),
            asking => asking,
        }
    }

    /// Returns `true` if the model decides in its reasoning, so that an answer without reasoning must not be
    /// constrained.
    fn reasons(&self) -> bool {
        self.model.reasons == Some(true) || self.model.reasoning == ReasoningMode::Open
    }

    /// Returns the model's name as the endpoint reports it.
    pub(in crate::turn) fn model_name<'s>(&'s self, shared: &'s Shared) -> &'s Option<String> {
        if shared.client.model.is_some() { &shared.client.model } else { &self.model.name }
    }

    /// Sends another request in the same round; its message replaces the last request's.
    pub(in crate::turn) fn send_instead(
        &mut self,
        spoken: (String, String),
        shared: &mut Shared,
    ) -> Result<(), StopReason> {
        self.cost.leaves(shared.setup.config.tokens.as_ref(), spoken);
        self.fitting(shared).map(|(request, trim)| self.resend(request, trim, shared))
    }

    /// Returns the system text and, if they are separate messages, the examples. If the system text is in a user
    /// message, the examples stay in it, because the question follows it there.
    fn layout(&self, shared: &Shared) -> Result<Layout, WordingError> {
        let Some((text, examples)) = self.examples(shared) else {
            return Ok(Layout::new(self.system(shared)?, self.model.placement));
        };
        let mut layout = Layout::new(self.with_form(text, shared)?, self.model.placement);
        layout.before = examples;
        Ok(layout)
    }

    /// Returns the system text without its examples, and the examples, if they are separate messages.
    pub(in crate::turn) fn examples(&self, shared: &Shared) -> Option<(String, Vec<Message>)> {
        let apart = self.wording(shared).system_apart(&shared.choice);
        let (text, examples) = apart.filter(|_| self.model.placement == SystemPlacement::System)?;
        let messages = examples
            .into_iter()
            .flat_map(|shown| [Message::new(Role::User, shown.question), Message::new(Role::Assistant, shown.call)]);
        Some((text, messages.collect()))
    }

    fn system(&self, shared: &Shared) -> Result<String, WordingError> {
        self.with_form(self.wording(shared).system(&shared.choice), shared)
    }

    /// Returns the system text followed by the instruction about the schema of the answer, if there is one.
    fn with_form(&self, mut text: String, shared: &Shared) -> Result<String, WordingError> {
        let wording = self.wording(shared);
        if let Some(schema) = &shared.output {
            let form = wording.output(schema)?;
            text = [text.as_str(), &form].into_iter().filter(|t| !t.is_empty()).collect::<Vec<_>>().join("\n\n");
        }
        Ok(text)
    }

    fn messages(&self, layout: &Layout, shared: &Shared) -> Result<Vec<Message>, WordingError> {
        self.messages_of(shared.native, layout, shared)
    }

    /// Returns the conversation as the messages of a request with the tools in the prompt, without a system text; empty
    /// if they cannot be written.
    pub(in crate::turn) fn by_prompt(&self, shared: &Shared) -> Vec<Message> {
        self.messages_of(false, &Layout::new("", SystemPlacement::System), shared).unwrap_or_default()
    }

    fn messages_of(&self, native: bool, layout: &Layout, shared: &Shared) -> Result<Vec<Message>, WordingError> {
        let wording = if native { self.native_wording(shared) } else { self.prompt_wording(shared) };
        // The results of the last round's calls would not be read any more.
        // Only where the model chooses: a required call still has to be made, and a request for the answer
        // says so itself. In the only round there is no result yet.
        let closes = shared.is_last_round()
            && shared.round > 1
            && shared.choice == ToolChoice::Auto
            && shared.asking != Asking::Answer;
        if native {
            let mut messages = shared.conversation.render_native(layout, |replies| wording.replies(replies))?;
            if let (true, Some(last)) = (closes, messages.last_mut().filter(|last| last.role != Role::Assistant)) {
                last.content = format!("{}\n\n{}", last.content, noted(&wording.note(ModelNote::LastRound)));
            }
            return Ok(messages);
        }
        let thoughts = thoughts(&shared.setup.config, &shared.conversation);
        shared.conversation.render(layout, |replies| {
            let thought = thoughts.get(replies.later).map(String::as_str);
            // If results have to be shortened, reasoning is not shown.
            let thought = thought.filter(|text| !text.is_empty() && replies.result_bytes.is_none());
            let replies = Replies { thought, ..replies.clone() };
            let text = wording.replies(&replies)?;
            // Results are far from the system text, so a line about the answer's form follows them.
            let has_results = replies.answered.iter().any(|a| a.outcome.status != Status::Displayed);
            let mut texts = vec![text];
            texts.extend((closes && replies.later == 0).then(|| noted(&wording.note(ModelNote::LastRound))));
            texts.extend((shared.output.is_some() && has_results).then(|| noted(&wording.note(ModelNote::OutputDue))));
            Ok(texts.join("\n\n"))
        })
    }

    /// Adds the tools to a request that carries them.
    fn offer(&self, request: &mut Request, shared: &Shared) {
        if !shared.native {
            return;
        }
        let wording = self.native_wording(shared);
        request.tools = match wording.offered() {
            Some(offered) => offered.definitions.clone(),
            None => shared.setup.natives.definitions(),
        };
        let shown = wording.shown_of_results();
        if shared.results().any(|(_, text)| text.len() > shown) {
            request.tools.extend(shared.setup.catalog.built_in(BuiltIn::Read).map(ToolDefinition::from));
        }
        request.by_prompt = self.may_leave_native(shared);
        request.tool_choice = match &shared.choice {
            choice @ ToolChoice::Named(_) => {
                let tool = shared.setup.catalog.offered().find(|t| choice.admits(t.server.as_deref(), &t.name));
                // The wording has reported a name that no tool has.
                tool.map_or(ToolChoice::Required, |t| ToolChoice::Named(wire_name(t.server.as_deref(), &t.name)))
            }
            choice => choice.clone(),
        };
    }
}

/// Returns the purpose of the next request after results: a particular call, any next call, or the answer.
fn step(shared: &Shared) -> Asking {
    let admitted = |narrowed: &Narrowed| shared.setup.admits(narrowed);
    // What the request says comes before what results lead to.
    let named = shared.looked_up_by_name().or_else(|| shared.searched_wider());
    let named = named.or_else(|| shared.searched_as_said()).or_else(|| shared.listed_lookup());
    let named = named.or_else(|| shared.found_file());
    match named.or_else(|| shared.made_good()).filter(admitted) {
        Some(narrowed) => Asking::Narrowed(narrowed),
        None if shared.is_all_done() || shared.is_all_looked_up() => Asking::Answer,
        // A question is answered by reading.
        None if shared.asks_a_question() && admitted(&Narrowed::Reads) => Asking::Narrowed(Narrowed::Reads),
        None => Asking::Step,
    }
}

/// Returns the subject of the text for a member of a call: the only other text among the arguments, or `tool.member`.
fn described(call: &Call, member: &str) -> String {
    let others = call.arguments.as_object().into_iter().flatten().filter(|(name, _)| *name != member);
    match &others.filter_map(|(_, value)| value.as_str()).collect::<Vec<_>>()[..] {
        [thing] => (*thing).to_owned(),
        _ => format!("{}.{member}", call.tool),
    }
}

fn failed(WordingError { message, source }: WordingError) -> StopReason {
    StopReason::PromptFailed { message, source }
}
