//! What is known about a model from its name, as data.

use std::sync::LazyLock;

use regex::RegexSet;
use serde::{Deserialize, Serialize};

use crate::dialect::Dialect;
use crate::reasoning::{ReasoningCalls, ReasoningMode, keyword_enum};

/// Where the system text goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SystemPlacement {
    /// A system message of its own.
    System,
    /// In front of the first user message.
    User,
}

/// Language of the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lang {
    /// English.
    #[default]
    En,
    /// Chinese.
    Zh,
}

impl Lang {
    /// All languages.
    pub const ALL: &'static [Lang] = &[Lang::En, Lang::Zh];
}

keyword_enum!(SystemPlacement, "where the system text goes",
    "system" => SystemPlacement::System, "user" => SystemPlacement::User);
keyword_enum!(Lang, "a language", "en" => Lang::En, "zh" => Lang::Zh);

/// How to talk to a family of models.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// Name of the profile.
    pub name: &'static str,
    /// Regular expression for models' names, in any case; the first profile
    /// that matches is taken.
    pub pattern: &'static str,
    /// Call syntax to teach.
    pub dialect: Dialect,
    /// Where reasoning starts in its text.
    pub reasoning: ReasoningMode,
    /// What becomes of calls in its reasoning.
    pub reasoning_calls: ReasoningCalls,
    /// Whether the model is known to reason; `None` where nothing is known.
    pub reasons: Option<bool>,
    /// Where the system text goes.
    pub system: SystemPlacement,
    /// Language of the prompt.
    pub lang: Lang,
    /// Sampling temperature that its makers recommend.
    pub temperature: Option<f64>,
    /// Whether its native tool calling is known to work well (or not to);
    /// `None` where the endpoint has to say.
    pub native_tools: Option<bool>,
}

/// All profiles; the last one matches every name.
static PROFILES: &[Profile] = &[
    // Trained on `<use_mcp_tool>`, with the tool list in the system prompt
    // (github.com/MiroMindAI/MiroThinker, libs/miroflow-tools and apps/miroflow-agent,
    // `generate_mcp_system_prompt`). Stands first: its names may hold `Qwen3`.
    Profile {
        name: "mirothinker",
        pattern: "mirothinker",
        dialect: Dialect::UseMcpTool,
        reasoning: ReasoningMode::Auto,
        reasoning_calls: ReasoningCalls::Ignore,
        reasons: Some(true),
        system: SystemPlacement::System,
        lang: Lang::En,
        temperature: None,
        native_tools: Some(false),
    },
    // The API's name. Its endpoint moves the reasoning into `reasoning_content`,
    // and takes `temperature` without effect
    // (api-docs.deepseek.com/guides/reasoning_model).
    Profile {
        name: "deepseek-reasoner",
        pattern: "deepseek-reasoner",
        dialect: Dialect::TypeMarker,
        reasoning: ReasoningMode::Auto,
        reasoning_calls: ReasoningCalls::LastResort,
        reasons: Some(true),
        system: SystemPlacement::User,
        lang: Lang::En,
        temperature: None,
        native_tools: Some(false),
    },
    // Temperature 0.5 to 0.7, 0.6 recommended; no system prompt, all instructions
    // in the user prompt; output that starts in `<think>`, which the chat template
    // supplies (github.com/deepseek-ai/DeepSeek-R1, README, "Usage Recommendations").
    // The card of R1-0528 allows a system prompt and needs no forced `<think>`; an
    // opener of its own is read in `open` too, and a user message suits all of them.
    Profile {
        name: "deepseek-r1",
        pattern: r"deepseek[-_. ]?r1|\br1[-_](?:0528|distill|1776)",
        dialect: Dialect::TypeMarker,
        reasoning: ReasoningMode::Open,
        reasoning_calls: ReasoningCalls::LastResort,
        reasons: Some(true),
        system: SystemPlacement::User,
        lang: Lang::En,
        temperature: Some(0.6),
        native_tools: Some(false),
    },
    // Temperature 0.6 in thinking mode, which is the default and writes both think
    // tags itself; tool calling in both modes (huggingface.co/Qwen/Qwen3-8B,
    // "Best Practices"). Other members of the family do not reason, so tags decide.
    Profile {
        name: "qwen3",
        pattern: "qwen-?3",
        dialect: Dialect::UseMcpTool,
        reasoning: ReasoningMode::Auto,
        reasoning_calls: ReasoningCalls::Ignore,
        reasons: Some(true),
        system: SystemPlacement::System,
        lang: Lang::En,
        temperature: Some(0.6),
        native_tools: Some(true),
    },
    // Nothing is known. Elements say where a call ends, whatever stands around it.
    Profile {
        name: "default",
        pattern: "",
        dialect: Dialect::UseMcpTool,
        reasoning: ReasoningMode::Auto,
        reasoning_calls: ReasoningCalls::Ignore,
        reasons: None,
        system: SystemPlacement::System,
        lang: Lang::En,
        temperature: None,
        native_tools: None,
    },
];

static PATTERNS: LazyLock<RegexSet> = LazyLock::new(|| {
    RegexSet::new(PROFILES.iter().map(|profile| format!("(?i){}", profile.pattern)))
        .expect("the patterns of the table are tested")
});

impl Profile {
    /// All profiles, in the order in which they are tried.
    pub fn all() -> &'static [Profile] {
        PROFILES
    }

    /// The profile for a model by its name, as an endpoint spells it; the one
    /// named `default` where nothing is known.
    ///
    /// ```
    /// use toolgraft::profile::Profile;
    ///
    /// assert_eq!(Profile::for_model("deepseek-r1:14b").name, "deepseek-r1");
    /// assert_eq!(Profile::for_model("gemma-3").name, "default");
    /// ```
    pub fn for_model(model: &str) -> &'static Profile {
        let first = PATTERNS.matches(model).into_iter().next();
        &PROFILES[first.unwrap_or(PROFILES.len() - 1)]
    }

    /// The profile of this name.
    pub fn named(name: &str) -> Option<&'static Profile> {
        PROFILES.iter().find(|profile| profile.name == name)
    }
}

impl Default for &'static Profile {
    fn default() -> Self {
        &PROFILES[PROFILES.len() - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("gpt-4o", "default"),
            ("deepseek-chat", "default"),
            ("", "default"),
        ] {
            assert_eq!(Profile::for_model(model).name, profile, "{model}");
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
