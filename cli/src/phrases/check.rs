//! Words of `toolgraft mcp check`: its table, and what is doubtful in a server's words.

use super::{counts, phrases};

phrases! {
    CHECK:
    column_server = "server", "服务器";
    column_state = "state", "状态";
    column_ready = "ready in", "启动用时";
    column_tools = "tools", "工具";
    column_bytes = "schema bytes", "模式字节数";
    column_tokens = "prompt tokens", "提示词 token 数";
    row_total = "total", "合计";

    doubt_of(name, doubt) = "{name}: {doubt}", "{name}：{doubt}";
    doubt_of_resource(name, doubt) = "resource {name}: {doubt}", "资源 {name}：{doubt}";
    doubt_of_prompt(name, doubt) = "prompt {name}: {doubt}", "提示词 {name}：{doubt}";
    list_is_large(tokens) =
        "its list takes {tokens} tokens of every prompt: --tools lists fewer, --tool-budget lists them shorter",
        "它的列表在每个提示词中占 {tokens} 个 token：用 --tools 可以少列一些，用 --tool-budget 可以列得更短";
    lists_no_tool = "it lists no tool", "没有列出任何工具";
    name_is_shared(servers) = "{servers} has a tool of this name too", "{servers} 也有同名的工具";
    name_reads_as_anothers(server, pattern) =
        "it reads as a tool of the server {server}; --allow '{pattern}' means this one",
        "看起来像服务器 {server} 的工具；要允许这一个，请写 --allow '{pattern}'";
    name_reads_as_a_servers(server, pattern) =
        "it reads as a tool of a server {server}; --allow '{pattern}' means this one",
        "看起来像名为 {server} 的服务器的工具；要允许这一个，请写 --allow '{pattern}'";
    instructions_hidden =
        "its instructions have hidden characters, which no prompt shows",
        "它的使用说明中有隐藏字符，提示词中不会出现";
    instructions_order(order) = "its instructions: a text {order}", "它的使用说明{order}";
    tool_hidden(characters) = "its description has {characters}, which no prompt shows", "说明中有 {characters}，提示词中不会出现";
    description_hidden(characters) = "its description has {characters}", "说明中有 {characters}";
    description_is_long(n) = "its description has {n} characters", "说明有 {n} 个字符";
    description_order(order) = "its description {order}", "说明{order}";
    tool_order(order) =
        "a text of it {order}: read it before you allow this tool", "有一段文字{order}：允许这个工具之前请先读一读";
    schema_is_large(bytes) = "its schema has {bytes} bytes", "模式有 {bytes} 字节";
    has_no_schema = "it has no inputSchema, so any arguments are accepted", "没有 inputSchema，任何参数都会接受";
    schema_is_unusable(why) =
        "its schema cannot be used, so any arguments are accepted: {why}", "模式无法使用，任何参数都会接受：{why}";
    schema_fits_nothing = "no arguments fit its schema, so no call of it can be right", "没有参数符合它的模式，对它的调用都不会正确";
    schema_is_a_choice(keys) =
        "its schema has {keys} at the top, which endpoints refuse: requests have the properties of all its parts as one list",
        "模式的顶层有 {keys}，端点会拒绝：请求中改为列出各部分的全部属性";
    schema_requires_unknown(names) =
        "its schema requires {names} and does not say what that is", "模式要求 {names}，但没有说明它是什么";
    has_no_description = "it has no description", "没有说明";
    name_hidden(characters) = "its name has {characters}", "名字中有 {characters}";
    name_markup(sign) = "its name has markup ({sign})", "名字中有标记符号（{sign}）";
    name_is_long(n) = "its name has {n} characters", "名字有 {n} 个字符";

    // What kind of order a text gives.
    gives_order(what, words) = "gives an order {what} ({words})", "发出指令，{what}（{words}）";
    order_to_forget = "to forget other instructions", "要求忘记其他指令";
    order_to_keep_quiet = "to keep something from the user", "要求对用户隐瞒";
    order_in_a_tag = "in a tag that marks an order", "写在表示命令的标签里";
    order_of_a_template = "in the words of a chat template", "使用对话模板的标记";
    order_with_secrets = "with a place where secrets lie", "提到存放秘密的位置";
    order_about_tools = "about other tools", "涉及其他工具";
    order_as_new = "as a new instruction", "自称是新的指令";
    order_who_to_be = "who the model is to be", "规定模型扮演的身份";
}

counts! {
    hidden_characters = "hidden character", "个隐藏字符";
}
