//! Marks around reasoning, by family.
//!
//! `<think>` and `<thinking>`, in any case, count wherever they stand, and either closes
//! either. The others count in pairs, where a message or a line begins.

/// Tags around reasoning. They do not nest, and any closes any.
pub const THINK_TAGS: [&str; 2] = ["think", "thinking"];

/// What stands around the reasoning of some models; each is closed by its own closer only.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReasoningMark {
    /// What opens it; begins with `<`, `[` or `◁`.
    pub open: &'static str,
    /// A word that may stand behind it, alone on its line or in the block, and belongs to it.
    pub label: Option<&'static str>,
    /// What closes it.
    pub close: &'static str,
    /// The models that write it, and where that is written down; short names as in
    /// `docs/families.md`.
    pub source: &'static str,
}

impl ReasoningMark {
    /// The name, where the mark is a tag: a tool or a parameter of that name is none.
    pub fn tag(&self) -> Option<&'static str> {
        let name = self.open.strip_prefix('<')?.strip_suffix('>')?;
        name.bytes().all(|b| b.is_ascii_lowercase()).then_some(name)
    }
}

const fn mark(open: &'static str, close: &'static str, source: &'static str) -> ReasoningMark {
    ReasoningMark { open, label: None, close, source }
}

/// All such marks; none begins another. Harmony has channels instead (`parse/marks/channel.rs`).
pub const REASONING_MARKS: &[ReasoningMark] = &[
    mark("<thought>", "</thought>", "prompted, many models"),
    mark("<reasoning>", "</reasoning>", "prompted, many models"),
    mark("[THINK]", "[/THINK]", "Magistral, Ministral 3: mistral-common base.py; SGR (MistralDetector)"),
    mark("<seed:think>", "</seed:think>", "Seed-OSS: VR/seed_oss_reasoning_parser.py"),
    mark("◁think▷", "◁/think▷", "Kimi-VL-Thinking, Kimi k1.5: SGR (KimiDetector)"),
    mark("<mm:think>", "</mm:think>", "MiniMax M3: SGR; IK/MiniMax-M3.jinja"),
    mark("<longcat_think>", "</longcat_think>", "LongCat-Flash-Thinking: VR/longcat_reasoning_parser.py"),
    mark("<|START_THINKING|>", "<|END_THINKING|>", "Cohere Command R7B, A: SGR; SG/cohere_command4_detector.py"),
    mark("<|inner_prefix|>", "<|inner_suffix|>", "Apertus: PP/Apertus-8B-Instruct.jinja"),
    mark("<|thought_start|>", "<|thought_end|>", "MiniCPM3: docs/families.md"),
    mark(
        "<|begin_of_thought|>",
        "<|end_of_thought|>",
        "Sky-T1, OpenThinker: SkyThought skythought/tools/util/model_utils.py",
    ),
    mark("<|think:start|>", "<|think:end|>", "Solar Open 2: VR/solar_open2_reasoning_parser.py"),
    mark("<|open|>think<|sep|>", "<|close|>think<|sep|>", "Kimi K3: LC/Kimi-K3.jinja; SG/kimik3_format.py"),
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
        assert_eq!(tags, ["thought", "reasoning"]);
    }
}
