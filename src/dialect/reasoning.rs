//! Marks around reasoning, by family.
//!
//! `<think>` and `<thinking>`, in any case, count wherever they stand, and either closes
//! either. The others count in pairs, where a message or a line begins.

/// Tags around reasoning. They do not nest, and any closes any.
pub const THINK_TAGS: [&str; 2] = ["think", "thinking"];

/// A pair of delimiters around the reasoning of some models; each is closed by its own closer only.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReasoningMark {
    /// The opener: begins with `<`, `[` or `◁`, or is a phrase, with which a message begins.
    pub open: &'static str,
    /// A word that may follow the opener, alone on its line or in the block, and belongs to it.
    pub label: Option<&'static str>,
    /// The closer.
    pub close: &'static str,
    /// The models that write it, and where that is written down; short names as in
    /// `docs/appendix/families.md`.
    pub source: &'static str,
}

impl ReasoningMark {
    /// The name, where the mark is a tag: a tool or a parameter of that name is none.
    pub fn tag(&self) -> Option<&'static str> {
        let name = self.open.strip_prefix('<')?.strip_suffix('>')?;
        name.bytes().all(|b| b.is_ascii_lowercase()).then_some(name)
    }

    /// Returns `true` if words open it.
    pub(crate) fn is_phrase(&self) -> bool {
        self.open.starts_with(|c: char| c.is_ascii_alphabetic())
    }

    /// Returns `true` if a text of a mark is found by its first bytes, as markers of calls are.
    pub(crate) fn is_marker(text: &str) -> bool {
        text.is_ascii() && text.starts_with(['<', '['])
    }
}

const fn mark(open: &'static str, close: &'static str, source: &'static str) -> ReasoningMark {
    ReasoningMark { open, label: None, close, source }
}

/// All such marks; none begins another. Harmony has channels instead (`parse/marks/channel.rs`).
pub const REASONING_MARKS: &[ReasoningMark] = &[
    mark("<thought>", "</thought>", "prompted, many models"),
    mark("<reasoning>", "</reasoning>", "prompted, many models"),
    mark("<thoughts>", "</thoughts>", "prompted, many models"),
    mark(
        "<reflection>",
        "</reflection>",
        "Reflection 70B: huggingface.co/mattshumer/Reflection-Llama-3.1-70B; prompted",
    ),
    mark("<scratchpad>", "</scratchpad>", "Anthropic's guide to prompts; prompted, many models"),
    mark("[THINKING]", "[/THINKING]", "prompted, many models"),
    mark("[THINK]", "[/THINK]", "Magistral, Ministral 3: mistral-common base.py; SGR (MistralDetector)"),
    mark("<seed:think>", "</seed:think>", "Seed-OSS: VR/seed_oss_reasoning_parser.py"),
    mark("◁think▷", "◁/think▷", "Kimi-VL-Thinking, Kimi k1.5: SGR (KimiDetector)"),
    mark("<mm:think>", "</mm:think>", "MiniMax M3: SGR; IK/MiniMax-M3.jinja"),
    mark("<longcat_think>", "</longcat_think>", "LongCat-Flash-Thinking: VR/longcat_reasoning_parser.py"),
    mark("<|START_THINKING|>", "<|END_THINKING|>", "Cohere Command R7B, A: SGR; SG/cohere_command4_detector.py"),
    mark("<|inner_prefix|>", "<|inner_suffix|>", "Apertus: PP/Apertus-8B-Instruct.jinja"),
    mark("<|thought_start|>", "<|thought_end|>", "MiniCPM3: docs/appendix/families.md"),
    mark(
        "<|begin_of_thought|>",
        "<|end_of_thought|>",
        "Sky-T1, OpenThinker: SkyThought skythought/tools/util/model_utils.py",
    ),
    mark("<|think:start|>", "<|think:end|>", "Solar Open 2: VR/solar_open2_reasoning_parser.py"),
    mark("<|open|>think<|sep|>", "<|close|>think<|sep|>", "Kimi K3: LC/Kimi-K3.jinja; SG/kimik3_format.py"),
    mark("<|think|>", "<|end|>", "Solar Open 100B: LC/upstage-Solar-Open-100B.jinja"),
    mark("<|content_thinking|>", "<|end_message|>", "Inkling: SG/inkling_detector.py"),
    mark("<think:opensource>", "</think:opensource>", "Hy3: LC/tencent-Hy3.jinja"),
    mark("<ifm|think>", "</ifm|think>", "K2 Horizon: sglang k2_v3_detector.py"),
    mark("<ifm|think_fast>", "</ifm|think_fast>", "K2 Horizon: sglang k2_v3_detector.py"),
    mark("<ifm|think_faster>", "</ifm|think_faster>", "K2 Horizon: sglang k2_v3_detector.py"),
    mark("<|plamo:begin_think:plamo|>", "<|plamo:end_think:plamo|>", "PLaMo 3: VR/plamo3_reasoning_parser.py"),
    mark("Here is my thought process:", "Here is my response:", "Granite 3.2: VR/granite_reasoning_parser.py"),
    mark("Here's my thought process:", "Here's my response:", "Granite 3.2: VR/granite_reasoning_parser.py"),
    mark("Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]", "Apriel 1.6: LC/Apriel-1.6-15b-Thinker-fixed.jinja"),
    ReasoningMark {
        label: Some("thought"),
        ..mark("<unused94>", "<unused95>", "MedGemma: huggingface.co/google/medgemma-27b-it; llama.cpp common/chat.cpp")
    },
    ReasoningMark {
        label: Some("thought"),
        ..mark("<|channel>", "<channel|>", "Gemma 4: LC/gemma4.jinja; SG/gemma4_detector.py")
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_mark_begins_another() {
        for mark in REASONING_MARKS {
            for other in REASONING_MARKS.iter().filter(|other| *other != mark) {
                assert!(!other.open.starts_with(mark.open) && !other.close.starts_with(mark.close), "{}", mark.open);
            }
        }
        let tags: Vec<_> = REASONING_MARKS.iter().filter_map(ReasoningMark::tag).collect();
        assert_eq!(tags, ["thought", "reasoning", "thoughts", "reflection", "scratchpad"]);
    }
}
