//! Why something is text and no call, and what to do about it.

use super::phrases;

phrases! {
    EXPLAIN:
    name_in_text = "the tool's name stands in the text without a call's syntax", "正文中只有工具名，没有调用语法";
    name_in_reasoning =
        "the tool's name stands in the reasoning without a call's syntax", "推理中只有工具名，没有调用语法";
    name_remedy =
        "none needed where the tool is only mentioned; else the call's syntax is missing",
        "如果只是提到工具，不需要处理；否则缺少调用语法";
    quoted(quote) = "it follows {quote} directly, so it is quoted", "它紧跟在 {quote} 之后，所以是引用";
    quoted_by_backslash = "it follows a backslash directly, so it is quoted", "它紧跟在反斜杠之后，所以是引用";
    quoted_remedy =
        "none needed for a mention; a call must not follow a quotation mark or backtick",
        "如果只是提到，不需要处理；调用不能紧跟在引号或反引号之后";
    dialect_off(dialect) = "the dialect {dialect} is not read", "没有读取方言 {dialect}";
    dialect_remedy(dialect) =
        "read it too: `--dialect {dialect}`, or `--dialect auto`", "也读取它：`--dialect {dialect}` 或 `--dialect auto`";
    stands_in_reasoning = "it stands in the reasoning", "它在推理中";
    tag_but_no_tools =
        "it looks like a tool's tag, but no tools are known, so `tool_tag` is off",
        "它像是某个工具的标签，但没有已知工具，因此 `tool_tag` 未启用";
    call_but_no_tools(dialect) =
        "it looks like a call, but no tools are known, so `{dialect}` is off",
        "它像是一个调用，但没有已知工具，因此 `{dialect}` 未启用";
    give_tools = "give the tools: `--tools FILE` or `--mcp-config FILE`", "给出工具：`--tools FILE` 或 `--mcp-config FILE`";
    no_such_tool = "no tool has this name", "没有叫这个名字的工具";
    listed_name =
        "use a listed name, or give the tool too with `--tools FILE`", "使用列出的名字，或用 `--tools FILE` 给出这个工具";
    listed_name_or_tools =
        "use a listed name, or give the tools with `--tools`", "使用列出的名字，或用 `--tools` 给出工具";
    same_line(text) = "{text} stands on the same line", "同一行上还有 {text}";
    before_on_line(text) = "{text} stands before it on its line", "同一行上它的前面有 {text}";
    before_it(text) = "{text} stands before it", "它的前面有 {text}";
    behind_it(text) = "{text} stands behind it", "它的后面有 {text}";
    behind_on_line(text) = "{text} stands behind it on its line", "同一行上它的后面有 {text}";
    marker_alone =
        "the marker must stand alone on its line, the JSON below it", "标记必须独占一行，JSON 写在它的下面";
    line_or_list =
        "none needed for a mention; a call must stand alone on its line, or in a list in square brackets",
        "如果只是提到，不需要处理；调用必须独占一行，或写在方括号列表中";
    begins_its_line =
        "none needed for a mention; a call's words must begin their line", "如果只是提到，不需要处理；调用的各行必须从行首开始";
    indented =
        "its line is indented by more than three spaces, so it is code", "这一行缩进超过三个空格，所以是代码";
    code_begins_line = "none needed for code; a call must begin its line", "如果是代码，不需要处理；调用必须从行首开始";
    no_server(name) = "{name} is no server that has the tool", "{name} 不是提供该工具的服务器";
    alone =
        "none needed for an answer; a call in JSON without a marker must be the whole message, or stand alone in its fence",
        "如果是回答，不需要处理；没有标记的 JSON 调用必须是整条消息，或单独放在代码块中";
    only_call =
        "none needed for an answer; a call has the tool's name, its arguments, and no key that calls do not have",
        "如果是回答，不需要处理；调用只有工具名和参数，没有其他键";
    ends_behind = "the answer ends behind it", "回答到此结束";
    cut_off_behind = "the answer was cut off behind it", "回答在此处被截断";
    opener_followed(next) = "the opener is followed by {next}", "开头标记后面是 {next}";
    opener_breaks_off(next) =
        "the opener breaks off and is followed by {next}", "开头标记不完整，后面是 {next}";
    no_object(next) = "{next} follows the marker, not a JSON object", "标记后面是 {next}，不是 JSON 对象";
    foreign_key = "it has a key that no call has", "它有调用中不会出现的键";
    foreign_text(next) = "no call has {next} there", "调用的这个位置不会出现 {next}";
    incomplete = "the tool's name or its arguments are missing", "缺少工具名或参数";
    definition =
        "a JSON Schema stands in place of the arguments, so it defines a tool",
        "参数的位置是 JSON Schema，所以这是工具的定义";
    definition_remedy =
        "none needed for a definition; a call has values under its arguments", "如果是定义，不需要处理；调用的参数是具体的值";
    damaged(why) = "its JSON cannot be read with certainty: {why}", "其中的 JSON 无法确定地读出：{why}";
    uncertain = "its JSON cannot be read with certainty", "其中的 JSON 无法确定地读出";
    damaged_remedy = "mend the JSON: what it says must be certain", "改正 JSON：含义必须是确定的";
    no_literal(text) = "{text} is no literal, or not what Python wants there", "{text} 不是字面值，或不符合 Python 在此处的语法";
    quotes_no_call = "what stands in the quotes is no call with literals", "引号中的内容不是参数为字面值的调用";
    string_ends_line = "its line ends in a string", "这一行在字符串中结束";
    literals =
        "values must be literals: texts, numbers, lists, dictionaries", "值必须是字面值：文本、数字、列表、字典";
    no_keyword =
        "a value has no keyword, and the tool has other than one parameter", "有一个值没有写参数名，而工具的参数不止一个或没有参数";
    name_parameters = "name the parameters: `f(a=1, b=2)`", "写出参数名：`f(a=1, b=2)`";
    no_further_call(next) =
        "{next} stands in the list and is no further call", "列表中的 {next} 不是调用";
    calls_only = "a list must hold calls only", "列表中只能有调用";
    code_around =
        "it is a part of the code, the comment or the heading on its line", "它是所在行的代码、注释或标题的一部分";
    code_remedy = "none needed for code", "如果是代码，不需要处理";
    link = "it is the text of a link", "它是链接的文字";
    link_remedy = "none needed for a link", "如果是链接，不需要处理";
    unclosed(next) = "{next} came before its last bracket", "最后一个括号之前出现了 {next}";
    close_brackets = "close its brackets", "补全括号";
    ended_uncertain =
        "the answer ended before it was certain to be a call", "在能确定它是调用之前，回答已经结束";
    cut_uncertain =
        "the answer was cut off before it was certain to be a call", "在能确定它是调用之前，回答已被截断";
    raise_limit = "raise the model's output limit, or ask for a shorter call", "提高模型的输出上限，或要求更短的调用";
    past_limit = "it is past the limit on a call's bytes or nesting", "它超出了调用的字节数或嵌套层数上限";
    less_at_once =
        "ask for less at once: smaller arguments, fewer calls in one message", "一次少要求一些：更小的参数，每条消息更少的调用";
    no_call(reason) = "it is no call ({reason})", "它不是调用（{reason}）";
    read_as(dialect, why) = "read as `{dialect}`: {why}", "按 `{dialect}` 读取：{why}";
    one_object(tool, arguments) =
        "none needed for a mention; a call is one JSON object with `{tool}` and `{arguments}` behind the marker",
        "如果只是提到，不需要处理；调用是标记后面的一个 JSON 对象，含有 `{tool}` 和 `{arguments}`";
    arguments_as_json = "write the arguments as JSON", "把参数写成 JSON";
    name_and_arguments =
        "none needed for a mention; a call must go on with the tool's name and its arguments",
        "如果只是提到，不需要处理；调用后面必须是工具名和参数";
    go_on_with(tags, last) =
        "none needed for a mention; a call must go on with {tags}{last}",
        "如果只是提到，不需要处理；调用后面必须是 {tags}{last}";
    or = " or ", " 或 ";
    no_known_tool = "no known tool is named", "没有写出已知工具的名字";
    not_known(name) = "{name} is no known tool", "{name} 不是已知工具";
    fence = "it stands in a code fence with other text", "它在还有其他文本的代码块中";
    fence_remedy =
        "a call must stand alone in its fence with nothing after it; better without a fence",
        "调用必须单独放在代码块中，后面没有内容；最好不用代码块";
    no_rule = "no rule that is known here fits", "没有符合的已知规则";
    look_at_events = "replay it with `--json` to see the events around it", "用 `--json` 重放，查看它周围的事件";
    draft_last_resort =
        "none needed: with `last_resort` a draft counts only where no answer and no other call follow",
        "不需要处理：使用 `last_resort` 时，只有后面没有回答也没有其他调用，草稿才算数";
    draft_remedy =
        "if such drafts should count, use `--reasoning-calls last_resort` (when nothing else follows) or `allow`",
        "如果这样的草稿应当算数，使用 `--reasoning-calls last_resort`（后面没有其他内容时）或 `allow`";
    invented_remedy =
        "stop the model where its message ends: give the endpoint the template's end token as a stop string",
        "让模型在消息结束处停下：把模板的结束标记作为停止字符串交给端点";
    example_remedy =
        "none needed for an example; a call begins a line of its own, with nothing around it",
        "如果是示例，不需要处理；调用要另起一行，前后没有其他内容";
    malformed_remedy = "mend what the message names; the model is told the same", "改正消息指出的问题；模型也会得知";
    arguments_remedy = "mend the argument that the message names", "改正消息指出的参数";
    near_remedy =
        "none needed for an example; write the marker, the brackets and the names of a call as the prompt shows them",
        "如果是示例，不需要处理；按提示词的样子写出调用的标记、括号和名字";
}
