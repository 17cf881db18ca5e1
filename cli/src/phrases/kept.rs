//! Words of what is kept between two conversations: sessions, defaults, files of results.

use super::{counts, phrases};

phrases! {
    KEPT:
    still_open(conversations) =
        "{conversations} left: open in another chat", "保留 {conversations}：正在另一个 chat 中使用";
    by_process(process) = " (process {process})", "（进程 {process}）";
    is_a_copy(id, by, copy) =
        "the conversation {id} is open in another chat{by}: this one goes on with a copy of it, {copy}",
        "对话 {id} 正在另一个 chat 中使用{by}：这里用它的副本 {copy} 继续";
    is_written_by_another(file, by, copy) =
        "another chat{by} writes {file}: this one is saved in {copy}",
        "另一个 chat{by}正在写入 {file}：这里的对话保存到 {copy}";
    saved_from_now_on(file) = "it is saved in {file}", "它保存到 {file}";
    belongs_to_another(file, by) =
        "another chat{by} writes {file}: name another file", "另一个 chat{by}正在写入 {file}：请指定别的文件";
    passed_over(damaged, id) =
        "{damaged}; going on with {id}, the one before it", "{damaged}；改为继续它之前的 {id}";
    old_ones_are_gone(conversations, days) =
        "{conversations} without a word for {days} days deleted: `toolgraft config set session_days DAYS` keeps them longer",
        "已删除 {conversations}，它们已有 {days} 天没有新内容：用 `toolgraft config set session_days DAYS` 可保存更久";
    forgotten(conversations) = "{conversations} forgotten", "已删除 {conversations}";
    nothing_was_kept = "no conversation was kept", "没有保存过对话";
    none_has_these_words = "no conversation has these words", "没有包含这些词的对话";
    older_are_left_out(conversations) =
        "and {conversations} more: `--limit NUMBER` lists so many", "还有更早的 {conversations}：用 `--limit NUMBER` 指定列出多少个";
    tokens_read_and_written(read, written) =
        "{read} tokens read, {written} written", "读取 {read} 个 token，写出 {written} 个";
    with_cost(said, cost) = "{said}, cost {cost}", "{said}，费用 {cost}";
    last_word = "Last word", "最后一句话";
    call_of(name) = "[call {name}]", "[调用 {name}]";

    // Defaults.
    file_not_there(file) = "{file} (not there yet)", "{file}（还不存在）";
    folders_own = "this folder's own, in chat: /set, /allow", "此目录自己的设置，用于 chat：/set、/allow";
    key_is_set(key, file) = "{key} is set in {file}", "已在 {file} 中设置 {key}";
    key_is_unset(key, file) = "{key} is no longer set in {file}", "已从 {file} 中去掉 {key}";
    profile_called(name) = "the profile {name}", "模型配置 {name}";
    built_in = "built in", "内置";
    comes_from(source) = "from: {source}", "来自：{source}";
    key_base_url = "endpoint to talk to, as --base-url", "要连接的端点，同 --base-url";
    key_model = "model to ask, as --model", "要使用的模型，同 --model";
    key_profile =
        "profile to take instead of the one for the model's name", "使用这个模型配置，而不是按模型名字选择的那个";
    key_tools_mode =
        "how tools are offered: auto, native, prompt", "提供工具的方式：auto（自动）、native（原生）、prompt（通过提示词）";
    key_constrain =
        "whether answers are held to a form where one is due: auto, off, require",
        "需要特定格式的回答是否受其约束：auto（自动）、off（不约束）、require（必须）";
    key_way =
        "how it comes to a call: free, measured, chosen",
        "怎样决定是否调用：free（自由）、measured（按概率）、chosen（先选工具）";
    key_call_threshold =
        "logarithm of the probability from which on it is a call, for measured",
        "measured 下判定为调用的概率的对数";
    key_dialect = "call syntax to teach", "教给模型的调用语法";
    key_lang = "language of the prompt and of what chat says: en, zh", "提示词和 chat 自身文字的语言：en、zh";
    key_prompt_style =
        "how much the prompt says: full, compact", "提示词的详略：full（完整）、compact（精简）";
    key_listing =
        "how tools are listed: schema, signature, brief, index",
        "列出工具的方式：schema（完整模式）、signature（签名）、brief（首句说明）、index（只有名字）";
    key_tool_budget = "tokens that the list of tools may take", "工具列表最多占用的 token 数";
    key_temperature = "sampling temperature, from 0 to 2", "采样温度，0 到 2";
    key_carry_reasoning =
        "how much of its reasoning the model reads again: none, last, turn",
        "模型重新读到自己多少推理：none（不读）、last（最后一条）、turn（本轮全部）";
    key_max_rounds = "most requests for one question", "每个问题最多发出的请求数";
    key_max_tokens = "most tokens of one message of the model", "模型一条消息最多的 token 数";
    key_context = "tokens that the model's context has", "模型上下文的 token 数";
    key_system =
        "your own system text, which comes first; @FILE reads it from a file",
        "自己的系统文本，放在最前；@FILE 表示从文件读取";
    key_allow =
        "tools whose calls run without a question: globs over SERVER.TOOL",
        "不经询问就运行其调用的工具：对 SERVER.TOOL 的通配模式";
    key_deny = "tools whose calls never run", "从不运行其调用的工具";
    key_examples =
        "where examples of the compact style come from: schema, or made by the model",
        "compact 风格的示例来源：schema，或由模型编写（made）";
    key_untrusted =
        "servers whose results may be anybody's words: after one each call is asked about",
        "结果可能出自任何人的服务器：此后每次调用都会询问";
    key_reasoning_display =
        "how reasoning is shown: folded, full, hidden", "显示推理的方式：folded（折叠）、full（完整）、hidden（隐藏）";
    key_call_display =
        "how calls are shown at a terminal: box, or line, which /call N and /result N open",
        "终端上如何显示调用：box（方框）或 line（单行，用 /call N 和 /result N 展开）";
    key_history = "whether the history of your lines is kept", "是否保存输入行的历史";
    key_sessions = "whether conversations are kept by themselves", "是否自动保存对话";
    names_of_models =
        "names for endpoints and models, for --base-url and --model (`toolgraft config --help`)",
        "端点和模型的名称，用于 --base-url 和 --model（`toolgraft config --help`）";
    key_session_days =
        "days that a conversation is kept after its last word; 0 keeps it until you remove it",
        "对话在最后一句话之后保存的天数；0 表示一直保存，直到你删除它";

    reads_input = "reading standard input; Ctrl-D at the start of a line ends it", "正在读取标准输入；在行首按 Ctrl-D 结束";

    // Files of results.
    text_is_in(file) = "the text is in {file}", "文本在 {file} 中";
    medium_is_in(kind, bytes, file) = "{kind}, {bytes} bytes, is in {file}", "{kind}（{bytes} 字节）在 {file} 中";
}

counts! {
    conversations = "conversation", "个对话";
    questions = "question", "个问题";
}
