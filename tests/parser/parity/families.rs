//! The dialect of each family of the corpora.

/// A family of records.
#[derive(Debug)]
pub(crate) struct Family {
    /// Name in the fixtures and in the tables.
    pub(crate) name: &'static str,
    /// Example of a call.
    pub(crate) looks: &'static str,
    /// Dialects that parse it in addition to `auto`; `None` if it is not parsed.
    pub(crate) dialects: Option<&'static [&'static str]>,
    /// Names in the corpora: the file, then the beginning of the dialect's name or of the path.
    pub(crate) members: &'static [(&'static str, &'static str)],
}

const fn read(
    name: &'static str,
    looks: &'static str,
    dialects: &'static [&'static str],
    members: &'static [(&'static str, &'static str)],
) -> Family {
    Family { name, looks, dialects: Some(dialects), members }
}

const fn not_read(name: &'static str, looks: &'static str, members: &'static [(&'static str, &'static str)]) -> Family {
    Family { name, looks, dialects: None, members }
}

const DYNAMO: &str = "dynamo_parity";
const LLAMACPP: &str = "llamacpp";
const SMG: &str = "smg";
const REASONING: &str = "reasoning";

pub(crate) const FAMILIES: &[Family] = &[
    read(
        "hermes",
        "`<tool_call>{\"name\": …}</tool_call>`",
        &["hermes"],
        &[
            (DYNAMO, "tool:hermes"),
            (DYNAMO, "tool:qwen25"),
            (LLAMACPP, "NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use"),
            (LLAMACPP, "ibm-granite-granite-4"),
            (LLAMACPP, "Reka-Edge"),
            (LLAMACPP, "Qwen-Qwen2.5-7B-Instruct"),
            (SMG, "qwen"),
            (SMG, "fallback"),
        ],
    ),
    read(
        "function_tag",
        "`<function=f><parameter=a>1</parameter></function>`",
        &["function_tag"],
        &[
            (DYNAMO, "tool:qwen3_coder"),
            (DYNAMO, "tool:nemotron_nano"),
            (LLAMACPP, "Qwen3.5-4B"),
            (LLAMACPP, "Qwen3-Coder"),
            (LLAMACPP, "NVIDIA-Nemotron-3-Nano"),
            (LLAMACPP, "StepFun3.5-Flash"),
            (SMG, "qwen_xml"),
            (LLAMACPP, "meetkai-functionary-medium-v3.1"),
        ],
    ),
    read(
        "jamba",
        "`<tool_calls>[{…}]</tool_calls>`",
        &["hermes"],
        &[(DYNAMO, "tool:jamba"), (LLAMACPP, "unsloth-Apriel-1.5")],
    ),
    read(
        "nemotron",
        "`<TOOLCALL>[{…}]</TOOLCALL>`",
        &["hermes"],
        &[(DYNAMO, "tool:nemotron_deci"), (LLAMACPP, "NVIDIA-Nemotron-Nano-v2")],
    ),
    read(
        "minimax",
        "`<minimax:tool_call><invoke name=\"f\">`",
        &["invoke"],
        &[(DYNAMO, "tool:minimax_m2"), (LLAMACPP, "MiniMax-M2"), (SMG, "minimax_m2")],
    ),
    read(
        "mistral",
        "`[TOOL_CALLS][{\"name\": …}]`, `[TOOL_CALLS]f[ARGS]{…}`",
        &["tool_calls"],
        &[
            (DYNAMO, "tool:mistral"),
            (LLAMACPP, "mistralai"),
            (LLAMACPP, "Mistral-Small"),
            (LLAMACPP, "unsloth-mistral"),
            (SMG, "mistral"),
        ],
    ),
    read(
        "llama_json",
        "`<|python_tag|>{\"name\": …}`, or the object alone",
        &["python_tag", "json"],
        &[(DYNAMO, "tool:llama3_json"), (LLAMACPP, "meta-llama-Llama-3"), (SMG, "llama")],
    ),
    read(
        "json",
        "`{\"name\": …}` as the whole message",
        &["json", "tool_calls", "hermes"],
        &[(SMG, "json"), (SMG, "edge_cases"), (SMG, "mixed_edge_cases"), (SMG, "partial_json")],
    ),
    read("pythonic", "`[f(a=1), g(b='x')]`", &["python"], &[(DYNAMO, "tool:pythonic"), (SMG, "pythonic")]),
    read(
        "deepseek_v3",
        "`<｜tool▁call▁begin｜>function<｜tool▁sep｜>f`, a fence",
        &["deepseek"],
        &[
            (DYNAMO, "tool:deepseek_v3"),
            (LLAMACPP, "llama-cpp-deepseek-r1"),
            (LLAMACPP, "deepseek-ai-DeepSeek-R1-Distill"),
            (SMG, "deepseek"),
        ],
    ),
    read(
        "deepseek_v3_1",
        "`<｜tool▁call▁begin｜>f<｜tool▁sep｜>{…}`",
        &["deepseek"],
        &[(DYNAMO, "tool:deepseek_v3_1"), (LLAMACPP, "deepseek-ai-DeepSeek-V3.1"), (SMG, "deepseek31")],
    ),
    read(
        "think",
        "`<think>…</think>`, no calls or calls as text",
        &[],
        &[
            (DYNAMO, "reasoning:deepseek_r1"),
            (DYNAMO, "reasoning:deepseek_v3"),
            (DYNAMO, "reasoning:deepseek_v4"),
            (DYNAMO, "reasoning:kimi_k25"),
            (DYNAMO, "reasoning:nemotron_deci"),
            (DYNAMO, "reasoning:qwen3"),
            (LLAMACPP, "Qwen-QwQ-32B"),
            (LLAMACPP, "ibm-granite-granite-3.3"),
            (LLAMACPP, "google-gemma-2-2b-it"),
            (REASONING, "deepseekr1"),
            (REASONING, "ernie45"),
            (REASONING, "glm4_moe"),
            (REASONING, "holo2"),
            (REASONING, "hy_v3"),
            (REASONING, "minimax_m2_reasoning"),
            (REASONING, "olmo3"),
            (REASONING, "qwen3"),
            (REASONING, "step3p5"),
        ],
    ),
    read(
        "deepseek_dsml",
        "`<｜DSML｜invoke name=\"f\">`",
        &["invoke"],
        &[
            (DYNAMO, "tool:deepseek_v3_2"),
            (DYNAMO, "tool:deepseek_v4"),
            (LLAMACPP, "deepseek-ai-DeepSeek-V3.2"),
            (LLAMACPP, "deepseek-ai-DeepSeek-V4"),
            (SMG, "deepseek_dsml"),
        ],
    ),
    read(
        "minicpm",
        "`<function name=\"f\"><param name=\"a\">1</param>`",
        &["invoke"],
        &[(LLAMACPP, "openbmb-MiniCPM5")],
    ),
    read("step3", "`<steptml:invoke name=\"f\">`", &["invoke"], &[(SMG, "step3")]),
    read(
        "seed_oss",
        "`<seed:tool_call><function=f>`, `<seed:think>`",
        &["function_tag"],
        &[(LLAMACPP, "ByteDance-Seed-OSS")],
    ),
    read(
        "lfm2",
        "`<|tool_call_start|>[f(a=1)]<|tool_call_end|>`",
        &["python"],
        &[(LLAMACPP, "none"), (LLAMACPP, "LFM2.5")],
    ),
    not_read("apertus", "`<|tools_prefix|>[{\"f\": {…}}]`", &[(LLAMACPP, "Apertus-8B-Instruct")]),
    not_read("apriel", "`[BEGIN FINAL RESPONSE]`", &[(LLAMACPP, "Apriel-1.6")]),
    read(
        "cohere",
        "`<|START_ACTION|>[{\"tool_name\": …}]`, `Action:` with a list",
        &["command", "json"],
        &[(LLAMACPP, "Cohere"), (SMG, "cohere"), (SMG, "cohere_cmd")],
    ),
    not_read("functionary", "`f`, a line break, `{…}`", &[(LLAMACPP, "meetkai-functionary-medium-v3.2")]),
    read(
        "gemma4",
        "`<|tool_call>call:f{a:<|\"|>x<|\"|>}`, `<|channel>`",
        &["gemma"],
        &[(DYNAMO, "tool:gemma4"), (DYNAMO, "reasoning:gemma4"), (LLAMACPP, "google-gemma-4"), (REASONING, "gemma4")],
    ),
    not_read("gigachat", "`function call<|role_sep|>{…}`, `<|function_call|>{…}`", &[(LLAMACPP, "GigaChat3")]),
    read(
        "glm",
        "`<tool_call>f<arg_key>a</arg_key><arg_value>1</arg_value>`",
        &["glm"],
        &[(DYNAMO, "tool:glm47"), (SMG, "glm47_moe"), (SMG, "glm4_moe")],
    ),
    not_read(
        "glm_others",
        "GLM's arguments in other tags",
        &[(LLAMACPP, "GLM-4"), (LLAMACPP, "Spark2.5"), (LLAMACPP, "inclusionai-ling")],
    ),
    not_read("granite", "`Here is my thought process:`", &[(DYNAMO, "reasoning:granite"), (REASONING, "granite")]),
    read(
        "harmony",
        "`<|channel|>commentary to=functions.f<|message|>{…}`",
        &["harmony"],
        &[(DYNAMO, "tool:harmony"), (DYNAMO, "reasoning:gpt_oss"), (LLAMACPP, "openai-gpt-oss")],
    ),
    not_read(
        "muse",
        "` to=user<|message|>`, a message of which the beginning is not there",
        &[(LLAMACPP, "muse-glimmer")],
    ),
    not_read("hunyuan", "`<think>…</think><answer>…</answer>`", &[(REASONING, "hunyuan")]),
    read(
        "kimi",
        "`<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{…}`",
        &["kimi"],
        &[(DYNAMO, "tool:kimi_k2"), (LLAMACPP, "moonshotai-Kimi-K2"), (SMG, "kimik2")],
    ),
    read("kimi_think", "`◁think▷…◁/think▷`", &[], &[(DYNAMO, "reasoning:kimi")]),
    read(
        "kimi_k3",
        "`<|open|>call tool=\"f\" index=\"1\"<|sep|>`",
        &["kimi_k3", "kimi"],
        &[(LLAMACPP, "Kimi-K"), (SMG, "kimi_k3")],
    ),
    not_read("minimax_m3", "`]<]minimax[>[<invoke name=\"f\">`", &[(LLAMACPP, "MiniMax-M3")]),
    not_read(
        "minimax_append_think",
        "the engine writes a `<think>` that the model did not",
        &[(DYNAMO, "reasoning:minimax_append_think"), (REASONING, "minimax_m2_append")],
    ),
    read(
        "phi4",
        "`functools[{…}]`",
        &["hermes"],
        &[(DYNAMO, "tool:phi4"), (LLAMACPP, "fireworks-ai-llama-3-firefunction")],
    ),
    read(
        "mistral_think",
        "`[THINK]…[/THINK]`",
        &["tool_calls"],
        &[(DYNAMO, "reasoning:mistral"), (LLAMACPP, "[THINK]")],
    ),
];

impl Family {
    /// Returns `true` if the arguments of its calls are between tags, as text.
    pub(crate) fn has_values_in_tags(&self) -> bool {
        self.dialects.is_some_and(|names| {
            names.iter().any(|name| matches!(*name, "function_tag" | "invoke" | "glm" | "kimi_k3"))
        })
    }
}

/// Returns the family of this name.
pub(crate) fn family(name: &str) -> &'static Family {
    FAMILIES.iter().find(|f| f.name == name).unwrap_or_else(|| panic!("no family {name:?}"))
}

/// Returns the family of a corpus's `member`: the one with the longest matching prefix.
pub(crate) fn family_of(corpus: &str, member: &str) -> &'static Family {
    let found = FAMILIES.iter().flat_map(|f| f.members.iter().map(move |m| (f, m)));
    let found = found.filter(|(_, (file, part))| *file == corpus && member.starts_with(part));
    let longest = found.max_by_key(|(_, (_, part))| part.len());
    longest.unwrap_or_else(|| panic!("{corpus}: no family has {member:?}")).0
}
