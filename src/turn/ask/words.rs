//! The wording of a turn, from the prompt's templates.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::reading::read;
use crate::conversation::{Answered, Replies};
use crate::dialect::{Dialect, Introductions, Lang, PromptStyle};
use crate::outcome::{Neutraliser, Outcome, noted};
use crate::prompt::{Example, OfferedTools, Options, Prompt, PromptError, reason_in};
use crate::tools::{Catalog, Said, ToolChoice};
use crate::turn::config::TurnConfig;
use crate::turn::wording::{Closing, Expected, ModelNote, Wanted, Wording, WordingError};
use crate::validate::OutputSchema;

/// Limit on the characters of the problem with an answer, as the model is told.
const PROBLEM_CHARS: usize = 1_500;

/// The wording of the prompt's templates, for the tools of one catalog.
#[derive(Debug)]
pub struct PromptWording {
    templates: Arc<WordingInput>,
    system: Arc<SystemText>,
    kind: WordingKind,
    /// `true` if not all tools fit the budget, so that a conversation decides which are listed.
    chooses: bool,
    /// `true` if all examples are in the system text.
    in_text: bool,
    /// The indices of the tools that the last conversation suggested, and the wording for them.
    last: Mutex<Option<(Vec<usize>, Arc<PromptWording>)>>,
}

/// The kind of requests that a wording is for.
#[derive(Debug, Clone)]
enum WordingKind {
    /// The prompt describes the tools. Contains the wording for requests that carry the tools.
    Prompt(Arc<PromptWording>),
    /// Requests carry the tools, so the prompt has no listing and no syntax.
    Native(Offer),
}

/// The tools of requests that carry them.
#[derive(Debug, Clone, Default)]
struct Offer {
    /// `true` if descriptions of tools without a server are not cut.
    whole: bool,
    /// The indices of the tools that the conversation suggests.
    meant: Vec<usize>,
    /// Tools as a request carries them; built on first use, `None` if that fails.
    made: OnceLock<Option<Arc<OfferedTools>>>,
}

/// Tools and prompt from which the wordings for both kinds of requests are made.
#[derive(Debug)]
struct WordingInput {
    catalog: Arc<Catalog>,
    prompt: Prompt,
    /// Prompt for the time after the tool choice is met, if that differs.
    once_met: Option<Prompt>,
}

/// The system text for the configured tool choice, and for the time after it is met.
#[derive(Debug, Clone)]
struct SystemText {
    due: PromptText,
    /// System text for the time after the tool choice is met, if that differs.
    met: Option<PromptText>,
}

impl SystemText {
    fn without_examples_apart(&mut self) {
        std::iter::once(&mut self.due).chain(&mut self.met).for_each(|told| told.apart = None);
    }
}

#[derive(Debug, Clone)]
struct PromptText {
    text: String,
    /// System text without its examples, and the examples, if they can be separate messages.
    apart: Option<(String, Vec<Example>)>,
}

impl PromptWording {
    /// Creates the wording for these tools, as [`Options::callable`] returns them. Tool choice, the number of calls in
    /// one message and the token counter, if set, are those of `config`.
    ///
    /// # Errors
    /// The tool choice does not fit the tools, or a template fails.
    pub fn new(catalog: Arc<Catalog>, options: &Options, config: &TurnConfig) -> Result<Self, PromptError> {
        let with = |tool_choice: ToolChoice| {
            let tokens = config.tokens.as_ref().unwrap_or(&options.tokens).clone();
            Prompt::new(Options { tool_choice, max_calls: config.max_calls, tokens, ..options.clone() })
        };
        let prompt = with(config.tool_choice.clone())?;
        // The prompt of a required call says that one is required, so there is another one for the time after
        // it.
        let met = Some(config.tool_choice.after_first_call()).filter(|met| *met != config.tool_choice);
        let once_met = met.map(with).transpose()?;
        let native = |prompt: &Prompt| -> Result<PromptText, PromptError> {
            Ok(PromptText { text: prompt.native_system(&catalog)?, apart: None })
        };
        let native_system = SystemText { due: native(&prompt)?, met: once_met.as_ref().map(native).transpose()? };
        let templates = Arc::new(WordingInput { catalog, prompt, once_met });
        let of = |system, kind, chooses| {
            let (templates, last) = (templates.clone(), Mutex::default());
            PromptWording { templates, system: Arc::new(system), kind, chooses, in_text: false, last }
        };
        let (system, chooses) = templates.told(&[])?;
        let native = of(native_system, WordingKind::Native(Offer::default()), false);
        Ok(of(system, WordingKind::Prompt(Arc::new(native)), chooses))
    }

    /// Returns the number of listed tools whose description is cut, at the start of a conversation.
    pub fn cut_descriptions(&self) -> Result<usize, PromptError> {
        self.templates.prompt.cut_descriptions(&self.templates.catalog)
    }

    /// Keeps all examples in the system text, for a system text that is part of a user message.
    pub fn with_examples_in_text(mut self) -> Self {
        Arc::make_mut(&mut self.system).without_examples_apart();
        self.in_text = true;
        self
    }

    /// Keeps the descriptions of tools without a server uncut in requests that carry the tools: for a program whose
    /// client sent them to such an endpoint.
    pub fn with_whole_descriptions(mut self) -> Self {
        if let WordingKind::Prompt(native) = &self.kind {
            let offer = Offer { whole: true, ..Offer::default() };
            self.kind = WordingKind::Prompt(Arc::new(native.with(native.system.clone(), WordingKind::Native(offer))));
        }
        self
    }

    fn is_native(&self) -> bool {
        matches!(self.kind, WordingKind::Native(_))
    }

    /// Creates the wording for one conversation, with its system text.
    fn with(&self, system: Arc<SystemText>, kind: WordingKind) -> PromptWording {
        let (templates, in_text) = (self.templates.clone(), self.in_text);
        PromptWording { templates, system, kind, chooses: false, in_text, last: Mutex::default() }
    }

    /// Creates the wording for a conversation that suggests these tools. `None` if it fails: the templates have been
    /// rendered before, and their errors were reported then.
    fn meaning(&self, meant: &[usize], said: &[Said<&str>]) -> Option<PromptWording> {
        match &self.kind {
            WordingKind::Prompt(_) => {
                let mut system = self.templates.told(said).ok()?.0;
                if self.in_text {
                    system.without_examples_apart();
                }
                Some(self.with(Arc::new(system), self.kind.clone()))
            }
            WordingKind::Native(offer) => {
                let offer = Offer { whole: offer.whole, meant: meant.to_vec(), made: OnceLock::new() };
                Some(self.with(self.system.clone(), WordingKind::Native(offer)))
            }
        }
    }
}

impl WordingInput {
    /// Returns the system text for the conversation `said` so far, and `true` if the conversation decides which tools
    /// it lists.
    fn told(&self, said: &[Said<&str>]) -> Result<(SystemText, bool), PromptError> {
        let told = |prompt: &Prompt| -> Result<(PromptText, bool), PromptError> {
            let (text, chooses) = prompt.system_for(&self.catalog, said)?;
            let apart = prompt.system_apart(&self.catalog, said)?;
            Ok((PromptText { text, apart }, chooses))
        };
        let (due, chooses) = told(&self.prompt)?;
        let met = self.once_met.as_ref().map(told).transpose()?.map(|(met, _)| met);
        Ok((SystemText { due, met }, chooses))
    }

    fn system<'t>(&self, text: &'t SystemText, choice: &ToolChoice) -> &'t PromptText {
        let is_due = self.prompt.options().tool_choice == *choice;
        text.met.as_ref().filter(|_| !is_due).unwrap_or(&text.due)
    }

    fn results(&self, replies: &Replies<'_>) -> Result<String, WordingError> {
        self.prompt.results(&self.catalog, replies).map_err(failed)
    }

    fn note(&self, note: ModelNote<'_>) -> String {
        let lang = self.prompt.options().lang;
        match note {
            ModelNote::OutputMismatch(problem) => {
                // The problem may quote the model's text.
                let problem = reason_in(lang, problem);
                let problem = Neutraliser::new(&self.catalog).describe(&problem, PROBLEM_CHARS);
                ModelNote::OutputMismatch(&problem).text(lang)
            }
            note => note.text(lang),
        }
    }
}

impl Wording for PromptWording {
    fn system(&self, choice: &ToolChoice) -> String {
        self.templates.system(&self.system, choice).text.clone()
    }

    fn system_apart(&self, choice: &ToolChoice) -> Option<(String, Vec<Example>)> {
        self.templates.system(&self.system, choice).apart.clone()
    }

    fn replies(&self, replies: &Replies<'_>) -> Result<String, WordingError> {
        let WordingInput { catalog, prompt, .. } = &*self.templates;
        if self.is_native() {
            return prompt.native_results(catalog, replies).map_err(failed);
        }
        let thought = replies.thought.map(|text| prompt.thought(catalog, text));
        let mut texts: Vec<String> = Vec::new();
        texts.extend(thought.transpose().map_err(failed)?);
        texts.extend(replies.notes.iter().map(|note| noted(note)));
        // Notes alone need no results message; without them there must be some text.
        if !(replies.answered.is_empty() && replies.rejected.is_empty()) || replies.notes.is_empty() {
            texts.push(self.templates.results(replies)?);
        }
        Ok(texts.join("\n\n"))
    }

    fn closing(&self, unused: &[String], missing: Option<&str>) -> Option<Closing> {
        let options = self.templates.prompt.options();
        let either = Introductions::of(options.lang).next;
        let unused = unused.join(if options.lang == Lang::En { ", " } else { "、" });
        let call = match (options.lang, &*unused) {
            (Lang::En, "") => "What is the next step? Make the next call.".to_owned(),
            (Lang::En, things) => format!("What is the next step for {things}? Make the next call."),
            (Lang::Zh, "") => "下一步是什么？请写出下一个调用。".to_owned(),
            (Lang::Zh, things) => format!("对于 {things}，下一步是什么？请写出下一个调用。"),
        };
        let answer = answer(options.lang, missing);
        // Only the compact style ends its results with the line that is replaced here.
        (!self.is_native() && options.style == PromptStyle::Compact).then_some(Closing { either, call, answer })
    }

    fn alone(
        &self,
        request: &str,
        made: &[Answered<'_>],
        changes: bool,
        expected: Expected<'_>,
    ) -> Option<(Option<String>, String)> {
        let missing = if let Expected::Answer { missing } = expected { missing } else { None };
        let either = self.closing(&[], missing)?.either;
        let told = |answered: &Answered<'_>| {
            let text = self.replies(&Replies { answered: vec![*answered], ..Replies::default() }).ok()?;
            let text = text.strip_suffix(either).unwrap_or(&text).trim_end();
            Some(format!("{} {}\n{text}", answered.call.tool, answered.call.arguments))
        };
        let done = made.iter().map(told).collect::<Option<Vec<_>>>()?.join("\n\n");
        let options = self.templates.prompt.options();
        let lang = around(request, options.lang);
        let answer = match (lang, expected) {
            (_, Expected::Answer { .. }) => answer(lang, missing),
            // Asked for names, numbers and times, small models make some up for a change.
            (Lang::En, Expected::Done) => "Tell me in one sentence what was done.".to_owned(),
            (Lang::Zh, Expected::Done) => "请用一句话告诉我做了什么。".to_owned(),
            (Lang::En, Expected::Text { of }) => format!("Write the text of {of}, and nothing else."),
            (Lang::Zh, Expected::Text { of }) => format!("请写出 {of} 的内容，不写其他任何内容。"),
        };
        let text = match (lang, changes) {
            _ if made.is_empty() && missing.is_none() => request.to_owned(),
            _ if made.is_empty() => format!("{request}\n\n{answer}"),
            (Lang::En, true) => format!("{request}\n\nThis is what was done, with the results:\n\n{done}\n\n{answer}"),
            (Lang::En, false) => {
                format!("This is what was done, with the results:\n\n{done}\n\nI asked: {request}\n\n{answer}")
            }
            (Lang::Zh, true) => format!("{request}\n\n已经做了这些，结果如下：\n\n{done}\n\n{answer}"),
            (Lang::Zh, false) => format!("已经做了这些，结果如下：\n\n{done}\n\n我的问题：{request}\n\n{answer}"),
        };
        Some((options.system.clone(), text))
    }

    fn note(&self, note: ModelNote<'_>) -> String {
        let text = self.templates.note(note);
        match note {
            _ if self.is_native() => text,
            ModelNote::CallRequired | ModelNote::ToolRequired(_) => {
                self.templates.results(&Replies { unmet: true, ..Replies::default() }).unwrap_or(text)
            }
            // Outside a results message the dialect's reminder is missing, so it is added here.
            ModelNote::EmptyAnswer | ModelNote::ActWithoutCall => {
                let reminder = self.templates.results(&Replies::default()).unwrap_or_default();
                format!("{}\n\n{reminder}", noted(&text)).trim_end().to_owned()
            }
            _ => text,
        }
    }

    fn output(&self, schema: &OutputSchema) -> Result<String, WordingError> {
        let WordingInput { catalog, prompt, .. } = &*self.templates;
        prompt.output(catalog, schema.schema(), schema.example().as_ref()).map_err(failed)
    }

    fn describe(&self, catalog: &Catalog, name: &str) -> Outcome {
        let described = self.templates.prompt.describe(catalog, name);
        described.unwrap_or_else(|error| Outcome::error(error.to_string()))
    }

    fn find(&self, catalog: &Catalog, query: &str) -> Outcome {
        let prompt = &self.templates.prompt;
        let found = if self.is_native() { prompt.native_find(catalog, query) } else { prompt.find(catalog, query) };
        found.unwrap_or_else(|error| Outcome::error(error.to_string()))
    }

    fn read(&self, text: &str, wanted: Wanted<'_>) -> Outcome {
        read(self.templates.prompt.options().lang, text, wanted, self.shown_of_results())
    }

    fn shown_of_results(&self) -> usize {
        let options = self.templates.prompt.options();
        if self.is_native() { options.result_bytes } else { options.shown_of_results(options.result_bytes) }
    }

    fn meant(&self, said: &[Said<&str>]) -> Option<Arc<dyn Wording>> {
        let WordingInput { catalog, prompt, .. } = &*self.templates;
        let options = prompt.options();
        let is_over = || self.offered().is_some_and(|offered| offered.listed.unlisted > 0);
        let chooses = match &self.kind {
            WordingKind::Prompt(_) => self.chooses,
            WordingKind::Native(_) => options.chooses(catalog.offered().count()) || is_over(),
        };
        if !chooses {
            return None;
        }
        // The results of searches are part of the history if the tools are in the prompt.
        let counts = |said: &&Said<&str>| self.is_native() || !matches!(said, Said::Searched(_));
        let said: Vec<Said<&str>> = said.iter().filter(counts).copied().collect();
        let meant = Some(options.meant(catalog, &said)).filter(|meant| !meant.is_empty())?;
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, words)) = last.as_ref().filter(|(places, _)| *places == meant) {
            return Some(words.clone());
        }
        let words = Arc::new(self.meaning(&meant, &said)?);
        *last = Some((meant, words.clone()));
        Some(words)
    }

    fn offered(&self) -> Option<Arc<OfferedTools>> {
        let WordingKind::Native(offer) = &self.kind else { return None };
        let WordingInput { catalog, prompt, .. } = &*self.templates;
        let make = || prompt.offer_meant(catalog, offer.whole, &|| offer.meant.clone()).ok().map(Arc::new);
        offer.made.get_or_init(make).clone()
    }

    fn dialect(&self) -> Dialect {
        self.templates.prompt.options().dialect
    }

    fn native(&self) -> Option<Arc<dyn Wording>> {
        match &self.kind {
            WordingKind::Prompt(native) => Some(native.clone()),
            WordingKind::Native(_) => None,
        }
    }
}

fn failed(error: PromptError) -> WordingError {
    WordingError::caused(error)
}

/// Returns the language of the words around a request that is sent alone: Chinese around a Chinese one, whose answer
/// would be English otherwise.
fn around(request: &str, lang: Lang) -> Lang {
    let is_of_another = |c: char| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{ac00}'..='\u{d7a3}');
    let is_chinese = request.contains(|c| matches!(c, '\u{4e00}'..='\u{9fff}')) && !request.contains(is_of_another);
    if is_chinese { Lang::Zh } else { lang }
}

/// Returns the sentence that requests the answer; `missing` names the identifier that the user has to give first.
fn answer(lang: Lang, missing: Option<&str>) -> String {
    match (lang, missing) {
        // Asked for one sentence, small models left out what the results say: 39 of 58 answers of a 0.5B were right, 44
        // with these words; 51 and 53 of a 1.5B.
        (Lang::En, None) => {
            "Answer in one or two sentences, with the names, numbers and times from the results.".to_owned()
        }
        (Lang::En, Some(member)) => {
            format!("It is not done: I did not say which {member} is meant. Ask me for it in one sentence.")
        }
        (Lang::Zh, None) => "请用一两句话回答，并给出结果中的名称、数字和时间。".to_owned(),
        (Lang::Zh, Some(member)) => format!("还没有完成：我没有说明 {member} 是哪一个。请用一句话向我询问。"),
    }
}

/// Generates the texts of notes to the model from rows with their English and Chinese text.
macro_rules! said {
    ($($kind:ident$(($data:pat))? => $english:literal, $chinese:literal;)+) => {
        impl ModelNote<'_> {
            /// Returns the text of the note in a language.
            pub fn text(self, lang: Lang) -> String {
                match (self, lang) {
                    $(
                        (ModelNote::$kind$(($data))?, Lang::En) => format!($english),
                        (ModelNote::$kind$(($data))?, Lang::Zh) => format!($chinese),
                    )+
                }
            }
        }

        #[cfg(test)]
        const KINDS: &[&str] = &[$(stringify!($kind)),+];
    };
}

said! {
    EmptyAnswer => "Your last message has no answer and no call. Write your answer, or call a tool.",
        "你的上一条消息里没有回答，也没有调用。请写出回答，或者调用工具。";
    EmptyText => "Your last message has no answer. Write your answer.", "你的上一条消息里没有回答。请写出回答。";
    CallRequired => "Your last message had to call a tool, and did not. Write the call now.",
        "你的上一条消息必须调用工具，但没有调用。请现在写出调用。";
    ToolRequired(tool) => "Your last message had to call {tool}, and did not. Write the call now.",
        "你的上一条消息必须调用 {tool}，但没有调用。请现在写出调用。";
    CallsOff => "No tool may be called now. Answer without tools.", "现在不能调用任何工具。请直接回答。";
    OnlyTool(tool) => "Only {tool} may be called now.", "现在只能调用 {tool}。";
    TooManyCalls(max) => "At most {max} calls of one message are run. Make this call again if you still need it.",
        "一条消息最多执行 {max} 个调用。如果仍然需要这个调用，请重新写出。";
    NoSuchResult("") => "There is no result with omitted content.", "没有被省略内容的结果。";
    NoSuchResult(ids) => "There is no such result. Something is left out of: {ids}.",
        "没有这样的结果；有省略内容的结果：{ids}。";
    NotAllowed => "This tool is not allowed here. Go on without it.",
        "这里不允许使用这个工具。请不用它继续完成任务。";
    Changed =>
        "This call did not run: the tool has changed since it was allowed, and nobody has accepted what it is now. Go on \
        without it.",
        "这个调用没有执行：这个工具在获得允许之后发生了变化，而且还没有人认可它现在的样子。请不用它继续完成任务。";
    MayBeDraft =>
        "This call did not run, since it may only be a draft: it follows other text where reasoning was expected. A \
         message that begins with the call is taken as meant.",
        "这个调用没有执行，因为它可能只是草稿：它写在其他文字之后，而那里本应是思考内容。以调用开头的消息会被视为正式调用。";
    MayBeExample =>
        "This call did not run, since it may be an example: there is other text beside it. A message that is the \
        call alone is taken as meant.",
        "这个调用没有执行，因为它旁边有其他文字，可能只是示例。只包含调用的消息会被视为正式调用。";
    Mended =>
        "This call did not run: a value of it is text without quotation marks. Write the call again with its arguments \
        as a JSON object.",
        "这个调用没有执行：它的一个值是没有引号的文字。请把参数写成 JSON 对象，重新写出这个调用。";
    Echoed =>
        "This call did not run: it, or a text in it, is a copy from a result, a file, the description of \
        another server or a message of the system. Make a call of your own, or answer.",
        "这个调用没有执行：它或其中的文字是从某个结果、文件、其他服务器的说明或系统消息中照抄的。请写出你自己的调用，或者回答。";
    InsteadOfRead =>
        "This call did not run: it may change what your rejected call only wanted to read, and no user is present to \
         approve it. Write the call that reads again, corrected, or answer.",
        "这个调用没有执行：它可能会修改被拒绝的调用原本只想读取的内容，而现在没有人可以批准。请改正后重新写出读取的调用，\
        或者回答。";
    Ungrounded =>
        "This call did not run: it may destroy something that neither the user nor any result named. Look up which \
        one is meant, then call again, or answer.",
        "这个调用没有执行：它可能会破坏用户和所有结果都没有提到过的内容。请先查明指的是哪一个，再调用，或者回答。";
    Declined => "The user declined this call.", "用户拒绝了这个调用。";
    Cancelled => "The task was stopped before this call was over.", "任务在这个调用结束之前被中止了。";
    NotBegun => "This call did not run: the task was stopped before it began.",
        "这个调用没有执行：任务在它开始之前被中止了。";
    NoRoundLeft => "The call did not run: the task had no round left.",
        "这个调用没有执行：任务已经没有剩余的轮次。";
    SameResult(tool) =>
        "Do not make the call of {tool} again: it gave the same result as the equal call before it. Make another call, \
        or write your answer.",
        "不要再次做同样的 {tool} 调用：它与之前相同的调用得到了同样的结果。请改做别的调用，或者写出回答。";
    NotRunAgain(times) =>
        "Go on with the result that you have: this call was not run, since equal calls gave the same result {times} \
        times in a row, and only tools that change nothing ran between them.",
        "请根据已有的结果继续：这个调用没有执行，因为相同的调用已连续 {times} 次得到同样的结果，期间只运行了不改变任何内容的工具。";
    NotRunAfter("") =>
        "This call was not run: a call before it in the same message could not be read. Make it again if it is still \
        needed.",
        "这个调用没有执行：同一条消息中在它之前有一个调用无法读取。如果仍然需要，请重新写出。";
    NotRunAfter(tool) =>
        "This call was not run: the call of {tool} before it in the same message did not succeed. Make it again if it \
        is still needed.",
        "这个调用没有执行：同一条消息中在它之前的 {tool} 调用没有成功。如果仍然需要，请重新写出。";
    EqualCalls(max) =>
        "Your last message made the same call more than {max} times and was ended there. What came after the first \
        {max} was not read.",
        "你的上一条消息把同一个调用写了超过 {max} 次，因此在那里被中止。前 {max} 次之后的内容没有被读取。";
    LastRound => "Write the answer to my request now, without a call: no further call will run.",
        "请现在写出对我的要求的回答，不要写调用：之后的调用都不会执行。";
    ForgedResult =>
        "Your last message begins with a result that no tool gave. Only the system writes results. Answer in your \
        own words, or call a tool.",
        "你的上一条消息开头写了结果，但没有工具给出过这个结果。结果只由系统写出。请用自己的话回答，或者调用工具。";
    ActWithoutCall =>
        "Your last message describes an action and has no call, so nothing was done. Write the call now, or say that \
        it is not done.",
        "你的上一条消息说要做或已经做了某件事，但其中没有调用，所以什么也没有执行。请现在写出调用，或者说明没有做。";
    Displayed => "Shown to the user.", "已展示给用户。";
    OutputDue => "Your final answer must be JSON that the schema in your instructions accepts, and nothing else.",
        "你的最终回答必须是符合上述 schema 的 JSON，不写其他任何内容。";
    OutputMismatch(problem) =>
        "Your answer was not accepted: it must be JSON that the schema in your instructions accepts.\nProblem: \
        {problem}\nWrite the whole JSON again, corrected, and nothing else.",
        "你的回答没有被接受：它必须是符合上述 schema 的 JSON。\n问题：{problem}\n请改正后重新写出完整的 JSON，不写其他任何内容。";
    LeftOut =>
        "The oldest part of this conversation was left out, since it is too long. Ask if you need something from \
        it.",
        "对话太长，最早的部分已省略。如果需要其中的内容，请询问用户。";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::{Assistant, Conversation, HistoryCall, Layout, Part};
    use crate::dialect::{Profile, SystemPlacement};
    use crate::outcome::{Status, holds_frame};
    use crate::tools::Tool;

    fn wording(lang: Lang, dialect: Dialect, choice: ToolChoice) -> PromptWording {
        let catalog = Arc::new(Catalog::from_tools([Tool::new("search").with_server("web")]));
        let options = Options { lang, dialect, ..Options::for_profile(<&Profile>::default()) };
        let config = TurnConfig { tool_choice: choice, ..TurnConfig::default() };
        PromptWording::new(catalog, &options, &config).unwrap()
    }

    #[test]
    fn the_words_around_a_chinese_request_are_chinese() {
        for (request, expected) in [
            ("明天 Oslo 的天气怎么样？", Lang::Zh),
            ("Weather in Oslo?", Lang::En),
            ("オスロの天気は？", Lang::En),
            ("漢字의 뜻은?", Lang::En),
        ] {
            assert_eq!(around(request, Lang::En), expected, "{request}");
        }
        assert_eq!(around("Weather in Oslo?", Lang::Zh), Lang::Zh);
    }

    #[test]
    fn the_system_text_follows_what_is_due() {
        let wording = wording(Lang::En, Dialect::UseMcpTool, ToolChoice::Required);
        let (due, met) = (wording.system(&ToolChoice::Required), wording.system(&ToolChoice::Auto));
        assert!(due.contains("must call at least one tool") && !met.contains("must call at least one tool"));
    }

    #[test]
    fn a_choice_that_no_tool_fits_is_an_error() {
        let config = TurnConfig { tool_choice: ToolChoice::Named("sarch".into()), ..TurnConfig::default() };
        let catalog = Arc::new(Catalog::from_tools([Tool::new("search")]));
        let error = PromptWording::new(catalog, &Options::default(), &config).unwrap_err();
        assert!(error.to_string().contains("search"), "{error}");
    }

    #[test]
    fn results_recall_earlier_calls() {
        let wording = wording(Lang::En, Dialect::UseMcpTool, ToolChoice::Auto);
        let mut conversation = Conversation::from("Hi");
        for (id, query) in [("call_1", "rust"), ("call_2", "tokio")] {
            let call = crate::event::Call {
                server: Some("web".into()),
                tool: "search".into(),
                arguments: serde_json::json!({"query": query}),
                raw_arguments: String::new(),
                dialect: Dialect::UseMcpTool,
                repairs: Vec::new(),
                provenance: crate::event::Provenance::Plain,
            };
            let placed = HistoryCall { id: id.into(), call: Box::new(call), raw: "<call/>".into(), untagged: false };
            let message = Assistant { parts: vec![Part::Call(placed)], ..Assistant::default() };
            conversation.push_assistant(message).unwrap();
            conversation.answer(id, Outcome::result(format!("about {query}"))).unwrap();
        }
        let layout = Layout::new("", SystemPlacement::System);
        let messages = conversation.render(&layout, |replies| wording.replies(replies)).unwrap();
        let (first, second) = (&messages[2].content, &messages[4].content);
        assert!(
            first.starts_with("<tool_result end=") && first.contains("about rust") && !first.contains("earlier"),
            "{first}"
        );
        assert!(second.contains("about tokio") && second.contains("Calls made earlier"), "{second}");
        assert!(second.contains("rust") && !second.contains("about rust"), "{second}");
    }

    #[test]
    fn a_note_keeps_the_dialects_reminder() {
        for (lang, empty) in [(Lang::En, "has no answer"), (Lang::Zh, "没有回答")] {
            let wording = wording(lang, Dialect::TypeMarker, ToolChoice::Required);
            for (note, words) in [(ModelNote::EmptyAnswer, empty), (ModelNote::CallRequired, "search")] {
                let text = wording.note(note);
                assert!(text.contains(words), "{text}");
                assert_eq!(text.matches("`TYPE: MCP`").count(), 1, "{text}");
                let replies = Replies { notes: vec![&text], ..Replies::default() };
                assert_eq!(wording.replies(&replies).unwrap(), noted(&text));
            }
        }
    }

    const NOTES: &[ModelNote<'_>] = &[
        ModelNote::EmptyAnswer,
        ModelNote::EmptyText,
        ModelNote::CallRequired,
        ModelNote::ToolRequired("search"),
        ModelNote::CallsOff,
        ModelNote::OnlyTool("search"),
        ModelNote::TooManyCalls(3),
        ModelNote::NotAllowed,
        ModelNote::Changed,
        ModelNote::MayBeDraft,
        ModelNote::MayBeExample,
        ModelNote::Declined,
        ModelNote::Cancelled,
        ModelNote::NotBegun,
        ModelNote::NoRoundLeft,
        ModelNote::Displayed,
        ModelNote::SameResult("search"),
        ModelNote::LastRound,
        ModelNote::ForgedResult,
        ModelNote::ActWithoutCall,
        ModelNote::LeftOut,
        ModelNote::Echoed,
        ModelNote::InsteadOfRead,
        ModelNote::Ungrounded,
        ModelNote::Mended,
        ModelNote::NoSuchResult("call_1"),
        ModelNote::NotRunAgain(8),
        ModelNote::NotRunAfter(""),
        ModelNote::NotRunAfter("search"),
        ModelNote::EqualCalls(5),
        ModelNote::OutputDue,
        ModelNote::OutputMismatch("/n: expected number, found null"),
    ];

    #[test]
    fn every_note_is_there_in_both_languages_and_has_the_frame_of_the_program() {
        let kinds: Vec<String> = NOTES.iter().map(|note| format!("{note:?}")).collect();
        let is_listed = |kind: &&str| kinds.iter().any(|note| note.split('(').next() == Some(*kind));
        assert_eq!(KINDS.iter().find(|kind| !is_listed(kind)), None);
        for (lang, note) in NOTES.iter().flat_map(|note| [(Lang::En, *note), (Lang::Zh, *note)]) {
            let wording = wording(lang, Dialect::UseMcpTool, ToolChoice::Required);
            let said = wording.templates.note(note);
            match lang {
                Lang::En => assert!(said.is_ascii(), "{said}"),
                Lang::Zh => {
                    assert!(
                        said.ends_with(['。', '：']) && !said.contains("the ") && !said.contains("expected"),
                        "{said}"
                    );
                }
            }
            let note = wording.note(note);
            let told = wording.replies(&Replies { notes: vec![&note], ..Replies::default() }).unwrap();
            assert!(told.starts_with("<tool_status>") && holds_frame(&told), "{told}");
            for status in [Status::Denied, Status::TimedOut, Status::Cancelled] {
                let call = crate::event::Call::new(Dialect::UseMcpTool, "search", serde_json::json!({}));
                let outcome = Outcome::new(status, note.as_str());
                let replies =
                    Replies { answered: vec![Answered::new("call_1", &call, &outcome)], ..Replies::default() };
                for wording in [&wording as &dyn Wording, &*wording.native().unwrap()] {
                    let told = wording.replies(&replies).unwrap();
                    assert!(told.starts_with("<tool_status") && !told.contains("<tool_result"), "{told}");
                }
            }
        }
    }
}
