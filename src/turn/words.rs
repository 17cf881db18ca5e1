//! A turn's words, from the prompt stage.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::config::TurnConfig;
use super::voice::{Remark, Voice, VoiceError};
use crate::catalog::Catalog;
use crate::conversation::{Answered, Replies, Reply};
use crate::dialect::Dialect;
use crate::outcome::{Neutraliser, Outcome};
use crate::profile::Lang;
use crate::prompt::{Earlier, Item, Options, Prompt, PromptError, Round};
use crate::tool::ToolChoice;
use crate::validate::OutputSchema;

/// Characters of what was wrong with an answer at most.
const PROBLEM_CHARS: usize = 1_500;

/// The words of the prompt's templates, for the tools of one catalog.
#[derive(Debug)]
pub struct PromptVoice {
    catalog: Arc<Catalog>,
    prompt: Prompt,
    /// The system text under the configured choice, and once that is met.
    due: String,
    met: String,
    /// The same for requests that carry the tools.
    native_due: String,
    native_met: String,
}

impl PromptVoice {
    /// The words for these tools, as [`Options::callable`] gives them. Tool choice
    /// and the number of calls in one message are those of `config`; so is the
    /// token counter, where it has one.
    ///
    /// # Errors
    /// The dialect is only read, the tool choice does not fit the tools, or a
    /// template fails.
    pub fn new(catalog: Arc<Catalog>, options: &Options, config: &TurnConfig) -> Result<Self, PromptError> {
        let with = |tool_choice: ToolChoice| {
            let tokens = config.tokens.as_ref().unwrap_or(&options.tokens).clone();
            Prompt::new(Options { tool_choice, max_calls: config.max_calls, tokens, ..options.clone() })
        };
        let prompt = with(config.tool_choice.clone())?;
        let due = prompt.system(&catalog)?;
        let once_met = with(met(&config.tool_choice))?;
        let met = once_met.system(&catalog)?;
        let (native_due, native_met) = (prompt.native_system(&catalog)?, once_met.native_system(&catalog)?);
        Ok(PromptVoice { catalog, prompt, due, met, native_due, native_met })
    }

    fn results(&self, round: &Round<'_>, limit: Option<usize>) -> Result<String, VoiceError> {
        let usual = self.prompt.options().result_bytes;
        let limit = limit.map_or(usual, |limit| limit.min(usual));
        self.prompt.results_within(&self.catalog, round, limit).map_err(|e| VoiceError(e.to_string()))
    }
}

/// What is due once a choice is met.
pub(super) fn met(choice: &ToolChoice) -> ToolChoice {
    match choice {
        ToolChoice::None => ToolChoice::None,
        _ => ToolChoice::Auto,
    }
}

impl Voice for PromptVoice {
    fn native_system(&self, choice: &ToolChoice) -> String {
        let due = self.prompt.options().tool_choice == *choice;
        if due { self.native_due.clone() } else { self.native_met.clone() }
    }

    fn native_reply(&self, reply: Reply<'_>) -> Result<String, VoiceError> {
        let nothing = Map::new();
        let (item, result_bytes) = match reply {
            Reply::Answered { answered, result_bytes } => (item(&answered, &nothing), result_bytes),
            Reply::Rejected(rejected) => (Item::Rejected(rejected), None),
        };
        self.prompt.native_reply(&self.catalog, &item, result_bytes).map_err(|e| VoiceError(e.to_string()))
    }

    fn native_remark(&self, remark: Remark<'_>) -> String {
        text(self.prompt.options().lang, remark)
    }

    fn dialect(&self) -> Dialect {
        self.prompt.options().dialect
    }

    fn system(&self, choice: &ToolChoice) -> String {
        let due = self.prompt.options().tool_choice == *choice;
        if due { self.due.clone() } else { self.met.clone() }
    }

    fn output(&self, schema: &OutputSchema) -> Result<String, VoiceError> {
        let form = self.prompt.output(&self.catalog, schema.schema(), schema.example().as_ref());
        form.map_err(|e| VoiceError(e.to_string()))
    }

    fn replies(&self, replies: &Replies<'_>) -> Result<String, VoiceError> {
        let nothing = Map::new();
        let answered = replies.answered.iter().map(|a| item(a, &nothing));
        let items: Vec<Item<'_>> = answered.chain(replies.rejected.iter().map(|r| Item::Rejected(r))).collect();
        let earlier: Vec<Earlier<'_>> = replies
            .earlier
            .iter()
            .map(|a| Earlier {
                server: a.call.server.as_deref(),
                tool: &a.call.tool,
                arguments: arguments(a, &nothing),
                status: a.outcome.status,
            })
            .collect();
        let thought = replies.thought.map(|text| self.prompt.thought(&self.catalog, text));
        let mut texts: Vec<String> = Vec::new();
        texts.extend(thought.transpose().map_err(|e| VoiceError(e.to_string()))?);
        texts.extend(replies.notes.iter().map(|note| (*note).to_owned()));
        if !items.is_empty() || replies.notes.is_empty() {
            let round = Round { items: &items, earlier: &earlier, request: replies.request };
            texts.push(self.results(&round, replies.result_bytes)?);
        }
        Ok(texts.join("\n\n"))
    }

    fn remark(&self, remark: Remark<'_>) -> String {
        if let Remark::OutputMismatch(problem) = remark {
            // It may quote what the model wrote.
            let problem = Neutraliser::new(&self.catalog).describe(problem, PROBLEM_CHARS);
            return text(self.prompt.options().lang, Remark::OutputMismatch(&problem));
        }
        let text = text(self.prompt.options().lang, remark);
        match remark {
            Remark::CallRequired | Remark::ToolRequired(_) => {
                let round = Round { items: &[Item::UnmetChoice], ..Round::default() };
                self.results(&round, None).unwrap_or(text)
            }
            // Outside a results message, the dialect's reminder belongs to it.
            Remark::EmptyAnswer => {
                let reminder = self.results(&Round::default(), None).unwrap_or_default();
                format!("{text}\n\n{reminder}").trim_end().to_owned()
            }
            _ => text,
        }
    }

    fn describe(&self, catalog: &Catalog, name: &str) -> Outcome {
        self.prompt.describe(catalog, name).unwrap_or_else(|error| Outcome::error(error.to_string()))
    }
}

fn item<'a>(answered: &Answered<'a>, nothing: &'a Map<String, Value>) -> Item<'a> {
    Item::Answered {
        id: answered.id,
        server: answered.call.server.as_deref(),
        tool: &answered.call.tool,
        arguments: arguments(answered, nothing),
        outcome: answered.outcome,
    }
}

fn arguments<'a>(answered: &Answered<'a>, nothing: &'a Map<String, Value>) -> &'a Map<String, Value> {
    answered.call.arguments.as_object().unwrap_or(nothing)
}

fn text(lang: Lang, remark: Remark<'_>) -> String {
    match lang {
        Lang::En => english(remark),
        Lang::Zh => chinese(remark),
    }
}

fn english(remark: Remark<'_>) -> String {
    match remark {
        Remark::EmptyAnswer => "Your last message was empty. Write your answer, or call a tool.".to_owned(),
        Remark::CallRequired => "Your last message had to call a tool, and did not. Write the call now.".to_owned(),
        Remark::ToolRequired(tool) => {
            format!("Your last message had to call {tool}, and did not. Write the call now.")
        }
        Remark::CallsOff => "No tool may be called now. Answer without tools.".to_owned(),
        Remark::OnlyTool(tool) => format!("Only {tool} may be called now."),
        Remark::TooManyCalls(max) => {
            format!("At most {max} calls of one message are run. Make this call again if you still need it.")
        }
        Remark::NotAllowed => "This tool is not allowed here. Go on without it.".to_owned(),
        Remark::MayBeDraft => "This call did not run, since it may only be a draft: it stands behind other text where \
             reasoning was expected. A message that begins with the call is taken as meant."
            .to_owned(),
        Remark::Declined => "The user declined this call.".to_owned(),
        Remark::Cancelled => "The task was stopped before this call was over.".to_owned(),
        Remark::NoRoundLeft => "The call did not run: the task had no round left.".to_owned(),
        Remark::Displayed => "Shown to the user.".to_owned(),
        Remark::OutputDue => {
            "Your final answer must be JSON that the schema in your instructions accepts, and nothing else.".to_owned()
        }
        Remark::OutputMismatch(problem) => format!(
            "Your answer was not accepted: it must be JSON that the schema in your instructions accepts.\n\
             Problem: {problem}\nWrite the whole JSON again, corrected, and nothing else."
        ),
        Remark::LeftOut => {
            "[The oldest part of this conversation was left out, since it is too long. Ask if you need something from it.]".to_owned()
        }
    }
}

fn chinese(remark: Remark<'_>) -> String {
    match remark {
        Remark::EmptyAnswer => "你的上一条消息是空的。请写出回答，或者调用工具。".to_owned(),
        Remark::CallRequired => "你的上一条消息必须调用工具，但没有调用。请现在写出调用。".to_owned(),
        Remark::ToolRequired(tool) => format!("你的上一条消息必须调用 {tool}，但没有调用。请现在写出调用。"),
        Remark::CallsOff => "现在不能调用任何工具。请直接回答。".to_owned(),
        Remark::OnlyTool(tool) => format!("现在只能调用 {tool}。"),
        Remark::TooManyCalls(max) => format!("一条消息最多执行 {max} 个调用。如果仍然需要这个调用，请重新写出。"),
        Remark::NotAllowed => "这里不允许使用这个工具。请不用它继续完成任务。".to_owned(),
        Remark::MayBeDraft => {
            "这个调用没有执行，因为它可能只是草稿：它写在其他文字之后，而那里本应是思考内容。以调用开头的消息会被视为正式调用。".to_owned()
        }
        Remark::Declined => "用户拒绝了这个调用。".to_owned(),
        Remark::Cancelled => "任务在这个调用结束之前被中止了。".to_owned(),
        Remark::NoRoundLeft => "这个调用没有执行：任务已经没有剩余的轮次。".to_owned(),
        Remark::Displayed => "已展示给用户。".to_owned(),
        Remark::OutputDue => "你的最终回答必须是符合上述 schema 的 JSON，不写其他任何内容。".to_owned(),
        Remark::OutputMismatch(problem) => format!(
            "你的回答没有被接受：它必须是符合上述 schema 的 JSON。\n问题：{problem}\n请改正后重新写出完整的 JSON，不写其他任何内容。"
        ),
        Remark::LeftOut => "【对话太长，最早的部分已省略。如果需要其中的内容，请询问用户。】".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::{Assistant, Conversation, Layout, Part, Placed};
    use crate::profile::{Profile, SystemPlacement};
    use crate::tool::Tool;

    fn voice(lang: Lang, dialect: Dialect, choice: ToolChoice) -> PromptVoice {
        let catalog = Arc::new(Catalog::from_tools([Tool::new("search").with_server("web")]));
        let options = Options { lang, dialect, ..Options::for_profile(<&Profile>::default()) };
        let config = TurnConfig { tool_choice: choice, ..TurnConfig::default() };
        PromptVoice::new(catalog, &options, &config).unwrap()
    }

    #[test]
    fn the_system_text_follows_what_is_due() {
        let voice = voice(Lang::En, Dialect::UseMcpTool, ToolChoice::Required);
        let (due, met) = (voice.system(&ToolChoice::Required), voice.system(&ToolChoice::Auto));
        assert!(due.contains("must call at least one tool") && !met.contains("must call at least one tool"));
    }

    #[test]
    fn a_choice_that_no_tool_fits_is_an_error() {
        let config = TurnConfig { tool_choice: ToolChoice::Named("sarch".into()), ..TurnConfig::default() };
        let catalog = Arc::new(Catalog::from_tools([Tool::new("search")]));
        let error = PromptVoice::new(catalog, &Options::default(), &config).unwrap_err();
        assert!(error.to_string().contains("search"), "{error}");
    }

    #[test]
    fn results_name_the_call_and_recall_earlier_ones() {
        let voice = voice(Lang::En, Dialect::UseMcpTool, ToolChoice::Auto);
        let mut conversation = Conversation::from("Hi");
        for (id, query) in [("call_1", "rust"), ("call_2", "tokio")] {
            let call = crate::call::Call {
                server: Some("web".into()),
                tool: "search".into(),
                arguments: serde_json::json!({"query": query}),
                raw_arguments: String::new(),
                dialect: Dialect::UseMcpTool,
                repairs: Vec::new(),
            };
            let placed =
                Placed { id: id.into(), call: Box::new(call), raw: "<call/>".into(), promoted: false, untagged: false };
            let message = Assistant { parts: vec![Part::Call(placed)], ..Assistant::default() };
            conversation.push_assistant(message).unwrap();
            conversation.answer(id, Outcome::result(format!("about {query}"))).unwrap();
        }
        let layout = Layout::new("", SystemPlacement::System);
        let messages = conversation.render(&layout, |replies| voice.replies(replies)).unwrap();
        let (first, second) = (&messages[2].content, &messages[4].content);
        assert!(first.contains("about rust") && first.contains("call_1") && !first.contains("earlier"), "{first}");
        assert!(second.contains("about tokio") && second.contains("Calls made earlier"), "{second}");
        assert!(second.contains("rust") && !second.contains("about rust"), "{second}");
    }

    #[test]
    fn a_note_keeps_the_dialects_reminder() {
        for (lang, empty) in [(Lang::En, "was empty"), (Lang::Zh, "是空的")] {
            let voice = voice(lang, Dialect::TypeMarker, ToolChoice::Required);
            for (remark, words) in [(Remark::EmptyAnswer, empty), (Remark::CallRequired, "search")] {
                let text = voice.remark(remark);
                assert!(text.contains(words), "{text}");
                assert_eq!(text.matches("`TYPE: MCP`").count(), 1, "{text}");
                let replies = Replies { notes: vec![&text], ..Replies::default() };
                assert_eq!(voice.replies(&replies).unwrap(), text);
            }
        }
    }

    #[test]
    fn every_remark_is_there_in_both_languages() {
        for remark in [
            Remark::EmptyAnswer,
            Remark::CallRequired,
            Remark::ToolRequired("search"),
            Remark::CallsOff,
            Remark::OnlyTool("search"),
            Remark::TooManyCalls(3),
            Remark::NotAllowed,
            Remark::MayBeDraft,
            Remark::Declined,
            Remark::Cancelled,
            Remark::NoRoundLeft,
            Remark::Displayed,
            Remark::LeftOut,
        ] {
            assert!(text(Lang::En, remark).is_ascii());
            assert!(text(Lang::Zh, remark).trim_end_matches('】').ends_with('。'));
        }
    }
}
