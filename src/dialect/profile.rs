//! Properties of a model that are known from its name, as data.

use std::sync::LazyLock;

use regex::{Regex, RegexSet};
use serde::{Deserialize, Serialize};

use super::table::{leaked, table};
use crate::dialect::Dialect;
use crate::message::{ReasoningCalls, ReasoningMode, keyword_enum};

/// The position of the system prompt in the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SystemPlacement {
    /// The system prompt is a system message of its own.
    System,
    /// The system prompt is at the beginning of the first user message.
    User,
}

/// Language of the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Lang {
    /// English.
    #[default]
    En,
    /// Chinese.
    Zh,
}

impl Lang {
    /// All languages that a prompt can be in.
    pub const ALL: &'static [Lang] = &[Lang::En, Lang::Zh];
}

/// The amount of text in a prompt, besides the tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PromptStyle {
    /// Instructions for calling, with rules; results with frames and notes.
    #[default]
    Full,
    /// The tools and a question with its call for each, no rules; results as
    /// `Result: …` and one closing sentence. For models that copy what they see.
    Compact,
}

impl PromptStyle {
    /// All prompt styles.
    pub const ALL: &'static [PromptStyle] = &[PromptStyle::Full, PromptStyle::Compact];
}

/// Number of parameters below which a model gets the compact style, unless its profile says otherwise. Only a model of
/// 135 million was measured, which ignores rules but follows examples (docs/prompt.md, "Styles"); models of eight
/// billion follow rules. The limit between the two is a choice.
pub const COMPACT_BELOW: u64 = 3_000_000_000;

keyword_enum!(PromptStyle, "a prompt style", "full" => PromptStyle::Full, "compact" => PromptStyle::Compact);
keyword_enum!(SystemPlacement, "a place of the system text",
    "system" => SystemPlacement::System, "user" => SystemPlacement::User);
keyword_enum!(Lang, "a language", "en" => Lang::En, "zh" => Lang::Zh);

/// The settings for a family of models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Profile {
    /// Name of the profile.
    pub name: &'static str,
    /// Regular expression for models' names, case-insensitive; the first profile
    /// whose expression matches is used.
    #[serde(deserialize_with = "leaked")]
    pub pattern: &'static str,
    /// Dialect that the prompt teaches.
    pub dialect: Dialect,
    /// Position in the model's text at which reasoning starts.
    pub reasoning: ReasoningMode,
    /// Treatment of calls inside the reasoning.
    pub reasoning_calls: ReasoningCalls,
    /// Opening delimiters of the model's reasoning, besides the think tags; each
    /// such block counts as reasoning (docs/parser.md, "What counts as a call").
    #[serde(borrow)]
    pub reasoning_marks: Vec<&'static str>,
    /// `true` if the model is known to reason, `false` if it is known not to; `None` if that is not known.
    pub reasons: Option<bool>,
    /// The position of the system prompt in the request.
    pub system: SystemPlacement,
    /// Language of the prompt.
    pub lang: Lang,
    /// The amount of text in the prompt; `None` if the model's size decides.
    pub style: Option<PromptStyle>,
    /// Sampling temperature that the model's makers recommend.
    pub temperature: Option<f64>,
    /// `true` if the model's native tool calling is known to work well, `false` if it is known not to; `None` if the
    /// endpoint decides.
    pub native_tools: Option<bool>,
}

/// All profiles; the pattern of the last one matches every name.
static PROFILES: LazyLock<Box<[Profile]>> = LazyLock::new(|| table!("profiles"));

impl Default for Profile {
    /// Returns the profile of an unknown model. Its dialect's calls have closing tags, which show their end in any
    /// text.
    fn default() -> Self {
        Profile {
            name: "default",
            pattern: "",
            dialect: Dialect::UseMcpTool,
            reasoning: ReasoningMode::Auto,
            reasoning_calls: ReasoningCalls::Ignore,
            reasoning_marks: Vec::new(),
            reasons: None,
            system: SystemPlacement::System,
            lang: Lang::En,
            style: None,
            temperature: None,
            native_tools: None,
        }
    }
}

static PATTERNS: LazyLock<RegexSet> = LazyLock::new(|| {
    RegexSet::new(PROFILES.iter().map(|profile| format!("(?i){}", profile.pattern)))
        .expect("the patterns of the table are tested")
});

impl Profile {
    /// Returns all profiles, in the order in which they are tried.
    pub fn all() -> &'static [Profile] {
        &PROFILES
    }

    /// Returns the profile for a model by its name, as an endpoint spells it; the profile
    /// named `default` if no other matches. Of a name that is a path, only the last
    /// component is matched.
    ///
    /// ```
    /// use toolgraft::dialect::Profile;
    ///
    /// assert_eq!(Profile::for_model("deepseek-r1:14b").name, "deepseek-r1");
    /// assert_eq!(Profile::for_model("llama-3.3").name, "default");
    /// ```
    pub fn for_model(model: &str) -> &'static Profile {
        let first = PATTERNS.matches(file_name(model)).into_iter().next();
        &PROFILES[first.unwrap_or(PROFILES.len() - 1)]
    }

    /// Returns the style of the prompt for a model of this profile. `parameters` is the number of parameters
    /// that its endpoint reports; without it, the name is searched ([`parameters_in_name`]).
    /// [`Full`](PromptStyle::Full) if neither has a number.
    pub fn style_for(&self, model: &str, parameters: Option<u64>) -> PromptStyle {
        let small = || parameters.or_else(|| parameters_in_name(model)).is_some_and(|size| size < COMPACT_BELOW);
        self.style.unwrap_or_else(|| if small() { PromptStyle::Compact } else { PromptStyle::Full })
    }

    /// Returns the opening delimiters of the model's reasoning, in the type that a parser's configuration has.
    pub fn marks(&self) -> Vec<String> {
        self.reasoning_marks.iter().map(|&open| open.to_owned()).collect()
    }

    /// Returns the profile with this name, `None` if there is none.
    pub fn named(name: &str) -> Option<&'static Profile> {
        PROFILES.iter().find(|profile| profile.name == name)
    }
}

/// Returns the last component of a model's name that is a path, else the name.
fn file_name(model: &str) -> &str {
    let path = model.trim_end_matches(['/', '\\']);
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Pattern of a model size in a name: `135M`, `0.5b`, `8x7B`.
static SIZE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)(?:^|[^a-z0-9.])(?:(\d{1,3})x)?(\d{1,4}(?:\.\d{1,3})?)([mb])(?:[^a-z0-9]|$)")
        .expect("the pattern is tested")
});

/// Returns the number of parameters in a model's name, such as `135M`, `0.5b` and `8x7B`; the largest, if it
/// has several; `None` if it has none.
///
/// Less than ten million is ignored, since it is the length of a context (`Qwen2.5-7B-Instruct-1M`).
pub fn parameters_in_name(model: &str) -> Option<u64> {
    let mut name = file_name(model);
    let mut most = None;
    while let Some(found) = SIZE.captures(name) {
        let number = |at| found.get(at).and_then(|text: regex::Match<'_>| text.as_str().parse::<f64>().ok());
        let millions = found[3].eq_ignore_ascii_case("m");
        let size = number(1).unwrap_or(1.0) * number(2).unwrap_or(0.0) * if millions { 1e6 } else { 1e9 };
        if !(millions && size < 1e7) {
            most = most.max(Some(size as u64));
        }
        // The character after a size may be the one before the next.
        name = &name[found.get(3).map_or(name.len(), |unit| unit.end())..];
    }
    most
}

impl Default for &'static Profile {
    fn default() -> Self {
        &PROFILES[PROFILES.len() - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::REASONING_MARKS;

    #[test]
    fn the_marks_of_profiles_stand_in_the_table_and_each_of_a_family_has_one() {
        let named: Vec<_> = PROFILES.iter().flat_map(|profile| &profile.reasoning_marks).copied().collect();
        for open in &named {
            assert!(REASONING_MARKS.iter().any(|mark| mark.open == *open), "{open}");
        }
        // Some are asked for by prompts, of whatever model.
        let prompted = ["<thought>", "<thoughts>", "<reasoning>", "<reflection>", "<scratchpad>", "[THINKING]"];
        for mark in REASONING_MARKS.iter().filter(|mark| !prompted.contains(&mark.open)) {
            assert!(named.contains(&mark.open), "no profile names {}", mark.open);
        }
    }

    #[test]
    fn models_are_known_by_their_names() {
        for (model, profile) in [
            ("deepseek-r1:14b", "deepseek-r1"),
            ("deepseek-r1-distill-qwen-7b", "deepseek-r1"),
            ("DeepSeek-R1-0528", "deepseek-r1"),
            ("deepseek-ai/DeepSeek-R1-0528-Qwen3-8B", "deepseek-r1"),
            ("deepseek-reasoner", "deepseek-reasoner"),
            ("Qwen3-8B", "qwen3"),
            ("qwen3:30b-a3b", "qwen3"),
            ("MiroThinker-v1.5", "mirothinker"),
            ("miromind-ai/MiroThinker-v1.0-8B", "mirothinker"),
            ("gpt-oss:20b", "gpt-oss"),
            ("openai/gpt-oss-120b", "gpt-oss"),
            ("mistralai/Magistral-Small-2509", "magistral"),
            ("mistralai/Ministral-3-8B-Reasoning-2512", "magistral"),
            ("mistralai/Ministral-3-8B-Instruct-2512", "default"),
            ("ByteDance-Seed/Seed-OSS-36B-Instruct", "seed-oss"),
            ("moonshotai/Kimi-VL-A3B-Thinking-2506", "kimi-thinking"),
            ("moonshotai/Kimi-VL-A3B-Instruct", "default"),
            ("moonshotai/Kimi-K2-Instruct", "default"),
            ("moonshotai/Kimi-K3", "kimi-k3"),
            ("MiniMaxAI/MiniMax-M3", "minimax-m3"),
            ("MiniMaxAI/MiniMax-M2", "default"),
            ("meituan-longcat/LongCat-Flash-Thinking", "longcat"),
            ("CohereLabs/command-a-reasoning-08-2025", "command"),
            ("command-r7b-12-2024", "command"),
            ("command-r-plus", "default"),
            ("swiss-ai/Apertus-8B-Instruct-2509", "apertus"),
            ("openbmb/MiniCPM3-4B", "minicpm3"),
            ("upstage/Solar-Open-2", "solar-open-2"),
            ("google/gemma-4-12b-it", "gemma-4"),
            ("gemma-3-12b-it", "gemma-3"),
            ("gemma3:4b", "gemma-3"),
            ("google/gemma-2-9b-it", "gemma-2"),
            ("gemma2:27b", "gemma-2"),
            ("gemma:7b", "gemma-2"),
            ("google/gemma-1.1-2b-it", "gemma-2"),
            ("google/medgemma-27b-it", "medgemma"),
            ("mistralai/Mistral-7B-Instruct-v0.2", "mistral-7b"),
            ("mistral:7b", "mistral-7b"),
            ("mistralai/Mixtral-8x7B-Instruct-v0.1", "mistral-7b"),
            ("mistralai/Mistral-Nemo-Instruct-2407", "mistral-nemo"),
            ("mistral-nemo:12b", "mistral-nemo"),
            ("microsoft/Phi-3.5-mini-instruct", "phi-3"),
            ("phi4-reasoning", "default"),
            ("gpt-4o", "default"),
            ("deepseek-chat", "default"),
            ("", "default"),
        ] {
            assert_eq!(Profile::for_model(model).name, profile, "{model}");
        }
    }

    #[test]
    fn a_folder_says_nothing_of_a_model() {
        for (model, profile) in [
            ("/home/qwen3/models/SmolLM2-135M-Instruct.Q4_1.gguf", "default"),
            ("deepseek-r1/llama-3-4b", "default"),
            (r"C:\deepseek-r1\phi-4.gguf", "default"),
            ("models/DeepSeek-R1-Distill-Qwen-7B.gguf", "deepseek-r1"),
            ("/models/deepseek-r1/", "deepseek-r1"),
        ] {
            assert_eq!(Profile::for_model(model).name, profile, "{model}");
        }
    }

    #[test]
    fn a_models_size_is_read_from_its_name() {
        for (model, size) in [
            ("SmolLM2-135M-Instruct.Q4_1.gguf", Some(135_000_000)),
            ("qwen2.5:0.5b", Some(500_000_000)),
            ("models/70b/llama-3.2-1b-instruct-4bit", Some(1_000_000_000)),
            ("Mixtral-8x7B-Instruct-v0.1", Some(56_000_000_000)),
            ("qwen3:30b-a3b", Some(30_000_000_000)),
            ("Qwen2.5-7B-Instruct-1M", Some(7_000_000_000)),
            ("qwen-turbo-1m", None),
            ("phi-4-mini-128k", None),
            ("gpt-4o", None),
            ("", None),
        ] {
            assert_eq!(parameters_in_name(model), size, "{model}");
        }
    }

    #[test]
    fn the_style_is_the_profiles_or_follows_from_the_size() {
        for (model, told, style) in [
            ("SmolLM2-135M", None, PromptStyle::Compact),
            ("SmolLM2-135M", Some(8_000_000_000), PromptStyle::Full),
            ("my-model", Some(134_515_008), PromptStyle::Compact),
            ("my-model", None, PromptStyle::Full),
            ("deepseek-r1:1.5b", None, PromptStyle::Compact),
            ("qwen3:8b", None, PromptStyle::Full),
            ("MiroThinker-1B", None, PromptStyle::Full),
        ] {
            assert_eq!(Profile::for_model(model).style_for(model, told), style, "{model} {told:?}");
        }
    }

    #[test]
    fn r1_has_no_system_role_and_starts_in_its_reasoning() {
        let r1 = Profile::for_model("DeepSeek-R1");
        assert_eq!(r1.system, SystemPlacement::User);
        assert_eq!(r1.reasoning, ReasoningMode::Open);
        assert_eq!(r1.reasoning_calls, ReasoningCalls::LastResort);
        assert_eq!(r1.temperature, Some(0.6));
        assert_eq!(Profile::for_model("deepseek-reasoner").reasoning, ReasoningMode::Auto);
    }

    #[test]
    fn profiles_are_found_by_name_and_the_last_is_the_default() {
        for profile in Profile::all() {
            assert_eq!(Profile::named(profile.name), Some(profile));
        }
        assert_eq!(<&Profile>::default().name, "default");
        assert_eq!(Profile::named("r2"), None);
    }
}
