//! The examples of the compact style: few and short, since a small model follows each word of them.

use super::budget::Style;
use super::dialogue::{Dialogue, by_worth, chain_of};
use super::error::PromptError;
use super::example::{call_with, harmless, read_call};
use super::listing::{Example, named, readable, shown};
use super::options::TEXT_CHARS;
use super::writer::PromptDraft;
use crate::conversation::{Answered, Replies};
use crate::dialect::{Dialect, Lang};
use crate::event::Call;
use crate::message::TokenCounter;
use crate::outcome::Outcome;
use crate::tools::ToolChoice;

/// Maximum number of tools for which the examples are as short as possible.
const FEW_TOOLS: usize = 4;

/// Maximum number of tokens of all examples: for at most [`FEW_TOOLS`] tools, and for more.
const EXAMPLE_TOKENS: [usize; 2] = [140, 300];

/// The line before an answer in the dialect `type_marker`.
const ANSWERS: &str = "TYPE: ANSWER\n";

/// Returns two messages that need no tool, each with its answer. None is a question: the generated requests of the
/// other examples are instructions, and a small model would learn that questions need no tool.
fn without_tools(lang: Lang) -> [[&'static str; 2]; 2] {
    match lang {
        Lang::En => [["Say a word that rhymes with \"house\".", "Mouse."], ["Thank you!", "You are welcome!"]],
        Lang::Zh => [["说一个和“房子”意思相近的词。", "屋子。"], ["谢谢！", "不客气！"]],
    }
}

/// The number of tokens that further examples may use.
struct ExampleBudget<'r> {
    left: usize,
    counter: &'r TokenCounter,
}

impl ExampleBudget<'_> {
    /// Returns the examples and subtracts their tokens if they fit the budget, else returns none.
    fn take(&mut self, examples: Vec<Example>) -> Vec<Example> {
        let tokens = self.tokens(&examples);
        let fits = tokens <= self.left;
        self.left -= if fits { tokens } else { 0 };
        if fits { examples } else { Vec::new() }
    }

    fn tokens(&self, examples: &[Example]) -> usize {
        let texts = examples.iter().flat_map(|example| [&example.question, &example.call]);
        texts.map(|text| self.counter.count(text)).sum()
    }
}

impl PromptDraft<'_> {
    /// Returns the examples of the compact style. The last one is a question that is answered by one call after
    /// another, each with a value from the previous result. As far as there is space, these come before it: two
    /// messages that need no tool, a resource that is read, and calls of further tools if there are more than a few. If
    /// the choice names a tool, only that tool is shown.
    pub(super) fn examples(&self, styles: &[Style]) -> Result<Vec<Example>, PromptError> {
        let options = self.prompt.options();
        let named = named(self.catalog, &options.tool_choice)?;
        let tools = harmless(self.catalog, shown(self.catalog, styles, named));
        let left = EXAMPLE_TOKENS[usize::from(tools.len() > FEW_TOOLS)];
        let mut room = ExampleBudget { left, counter: &options.tokens };
        // If the choice names a tool, only that tool is shown; without calls nothing is read.
        let asks = named.is_none() && options.tool_choice != ToolChoice::None;
        let dialogues = by_worth(&tools, options, &self.neutraliser);
        // Where a call is required, no answer without one may be shown.
        let may_answer = options.tool_choice == ToolChoice::Auto && !dialogues.is_empty();
        let [words, thanks] = without_tools(options.lang).map(|said| self.plain(said, may_answer));
        let best = dialogues.first();
        // A written dialogue of one call is a better example than a generated one of several.
        let chain = chain_of(&tools, options.lang, &self.neutraliser)
            .filter(|chain| asks && best.is_none_or(|best| best.is_made || !chain.is_made));
        let mut last = best.map_or(Ok(Vec::new()), |best| self.messages(best))?;
        if room.tokens(&last) > room.left {
            // The call is needed, its result and the answer are not.
            last.truncate(1);
        }
        let mut shown = best;
        if let Some(chain) = &chain {
            let messages = self.messages(chain)?;
            // The example that needs no tool must fit as well.
            if room.tokens(&messages) + room.tokens(&words) <= room.left {
                (last, shown) = (messages, Some(chain));
            }
        }
        // One example is shown even if it is too long.
        room.left = room.left.saturating_sub(room.tokens(&last));
        let mut all = room.take(words);
        let read = if asks { self.reading() } else { None };
        let read = room.take(read.into_iter().collect());
        let thanks = room.take(thanks);
        let is_shown = |other: &&Dialogue<'_>| shown.is_some_and(|shown| shown.shares_a_tool(other));
        for further in dialogues.iter().filter(|_| tools.len() > FEW_TOOLS).filter(|other| !is_shown(other)) {
            all.extend(room.take(vec![self.call_of(further)]));
        }
        Ok(all.into_iter().chain(read).chain(thanks).chain(last).collect())
    }

    fn plain(&self, [said, answer]: [&str; 2], may_answer: bool) -> Vec<Example> {
        let example = Example::new(said, self.marked(answer));
        if may_answer { vec![example] } else { Vec::new() }
    }

    fn marked(&self, answer: &str) -> String {
        let is_marked = self.prompt.options().dialect == Dialect::TypeMarker;
        format!("{}{answer}", if is_marked { ANSWERS } else { "" })
    }

    fn calls(&self, dialogue: &Dialogue<'_>) -> Vec<String> {
        let dialect = self.prompt.options().dialect;
        let call = |(tool, arguments)| call_with(self.catalog, dialect, &self.neutraliser, (tool, arguments));
        dialogue.steps.iter().map(|step| call((step.tool, &step.arguments))).collect()
    }

    /// Returns the question of a dialogue and its first call, as one example.
    fn call_of(&self, dialogue: &Dialogue<'_>) -> Example {
        Example::new(dialogue.question.as_str(), self.calls(dialogue).into_iter().next().unwrap_or_default())
    }

    /// Returns the whole dialogue as examples; nothing follows the call of a display-only tool, which returns nothing.
    fn messages(&self, dialogue: &Dialogue<'_>) -> Result<Vec<Example>, PromptError> {
        let mut messages = vec![self.call_of(dialogue)];
        let answer = self.marked(&dialogue.answer);
        let then = self.calls(dialogue).into_iter().skip(1).chain([answer]);
        for (step, then) in dialogue.steps.iter().zip(then).filter(|(step, _)| !step.tool.display_only) {
            let outcome = Outcome::result(step.result.as_str());
            let call = Call::new(self.prompt.options().dialect, &*step.tool.name, step.arguments.clone().into());
            let call = Call { server: step.tool.server.clone(), ..call };
            let answered = vec![Answered::new("", &call, &outcome)];
            let replies = Replies { answered, later: 1, ..Replies::default() };
            let told = self.prompt.results(self.catalog, &replies)?;
            messages.push(Example { follows: true, ..Example::new(told, then) });
        }
        Ok(messages)
    }

    fn reading(&self) -> Option<Example> {
        let options = self.prompt.options();
        let (server, uri) = self.catalog.servers().iter().find_map(readable)?;
        let call = read_call(options.dialect, &self.neutraliser, server, uri);
        let uri = self.neutraliser.describe(uri, TEXT_CHARS);
        Some(match options.lang {
            Lang::En => Example::new(format!("Read the resource {uri}"), call),
            Lang::Zh => Example::new(format!("读取资源 {uri}"), call),
        })
    }
}
