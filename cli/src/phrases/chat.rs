//! Words of `toolgraft chat`: its first lines, its questions, what it says of a turn, and its
//! commands.

use super::{Phrases, counts, phrases};
use toolgraft::outcome::Status;
use toolgraft::prompt::{Listed, Listing};

phrases! {
    CHAT:
    found_at(program, url) = "{program} at {url}", "{program}（{url}）";
    chat_about(model, endpoint, profile) =
        "{model} · {endpoint} · profile {profile}", "{model} · {endpoint} · 模型配置 {profile}";
    page_about(endpoint, profile) = "{endpoint} · profile {profile}", "{endpoint} · 模型配置 {profile}";
    at_another_endpoint(name) =
        "{name} is at another endpoint, whose key --record and --trace do not know: start toolgraft chat -m {name}",
        "{name} 在另一个端点上，--record 和 --trace 不知道它的密钥：请另行运行 toolgraft chat -m {name}";
    names_no_model(name) = "{name} names an endpoint: name a model of it, as in {name}:MODEL", "{name} 是端点的名字：请写出它的模型，如 {name}:模型";
    no_tools = "no tools", "没有工具";
    tools_of(tools, servers, offer) = "{tools} of {servers}, {offer}", "{servers} 的 {tools}，{offer}";
    offered_natively = "native", "原生工具调用";
    offered_by_prompt(dialect, style) = "by prompt ({dialect}, {style})", "通过提示词（{dialect}，{style}）";
    offered_constrained(offer) = "{offer}, constrained where due", "{offer}，需要时约束输出形式";
    nothing_changes = "nothing changes", "没有变化";
    no_line_break = "no line break at the end", "末尾没有换行";
    starting(servers, names) = "starting {servers}: {names}", "正在启动 {servers}：{names}";
    started(list) = "started {list}", "已启动 {list}";
    started_in(name, time) = "{name} in {time}", "{name}（{time}）";
    no_servers =
        "no MCP servers are configured: name a file with --mcp-config FILE (see `toolgraft tools --help`)",
        "没有配置 MCP 服务器：用 --mcp-config FILE 指定配置文件（见 `toolgraft tools --help`）";
    going_on(messages) = "going on with a conversation of {messages}", "接着之前的对话：{messages}";
    last_question(text) = "you: {text}", "你：{text}";
    last_answer(text) = "the model: {text}", "模型：{text}";
    how_to_help = "/help lists the commands, Ctrl-D leaves", "/help 列出所有命令，Ctrl-D 退出";
    how_to_leave = "(Ctrl-C again leaves, as Ctrl-D does)", "（再按一次 Ctrl-C 退出，Ctrl-D 也可以）";
    kept_as(id) =
        "kept as {id}: `toolgraft chat --continue` goes on with it", "对话已保存为 {id}：用 `toolgraft chat --continue` 继续";
    not_kept(error) = "the conversation is not kept: {error}", "对话没有保存：{error}";
    warning_head = "warning:", "警告：";
    warning_line(text) = "warning: {text}", "警告：{text}";
    incomplete_recording(file, error) = "the recording {file} is incomplete: {error}", "会话记录 {file} 不完整：{error}";
    incomplete_trace(file, error) = "the trace {file} is incomplete: {error}", "原始数据记录 {file} 不完整：{error}";
    tools_are_large(tokens) =
        "the tools take about {tokens} in every request: list fewer with --tools GLOB, or shorter with \
         --tool-budget TOKENS",
        "工具在每次请求中约占 {tokens}：用 --tools GLOB 少列一些，或用 --tool-budget TOKENS 列得更短";
    over_budget(tokens, budget) =
        "the tools take {tokens} tokens, listed as short as they can be, and --tool-budget is {budget}: raise \
         the budget, or connect fewer servers",
        "工具已经列得尽可能短，仍占 {tokens} 个 token，而 --tool-budget 是 {budget}：请提高预算，或少连接一些服务器";
    tools_fitted(tokens, budget, listed) =
        "tools: {tokens} of {budget} tokens; {listed}", "工具：{tokens}/{budget} 个 token；{listed}";
    rest_on_request(listed) = "{listed} (describe_tool gives the rest)", "{listed}（其余由 describe_tool 给出）";
    history_unread(file, error) = "the history {file} cannot be read: {error}", "无法读取历史记录 {file}：{error}";
    history_unwritten(file, error) =
        "the history {file} cannot be written: {error}", "无法写入历史记录 {file}：{error}";
    question_is_large(tokens) =
        "this takes about {tokens}; Ctrl-C stops it", "这条消息约占 {tokens}；按 Ctrl-C 停止";
    so_many_tokens(tokens) = "{tokens} tokens", "{tokens} 个 token";
    tokens_of_context(tokens, context) =
        "{tokens} tokens of the {context} that the context has", "{tokens} 个 token（上下文共 {context} 个）";
    native_without_place =
        "--tools-mode native: the endpoint says that the model's chat template has no place for tools, so the model \
         may never see them: take --tools-mode prompt, or start the server with a template that has one",
        "--tools-mode native：端点表示模型的聊天模板没有工具的位置，模型可能根本看不到工具：请用 --tools-mode prompt，\
         或用带工具位置的模板启动服务器";
    no_such_glob(flag, glob) =
        "{flag} {glob}: no tool has such a name; `toolgraft tools` lists them", "{flag} {glob}：没有这样名字的工具；`toolgraft tools` 列出全部工具";

    // The choice of a model.
    has_models(endpoint) = "{endpoint} has these models:", "{endpoint} 有这些模型：";
    servers_here(n) =
        "{n} servers run on this machine, with these models:", "本机上运行着 {n} 个模型服务器，有这些模型：";
    which_model(n) = "Which one? [1-{n}] ", "选择哪一个？[1-{n}] ";
    number_or_name(n) = "a number from 1 to {n}, or a model's name", "请输入 1 到 {n} 的编号，或模型的名字";
    no_model_chosen = "no model was chosen: name one with --model", "没有选择模型：用 --model 指定";
    loads_its_model(endpoint) =
        "{endpoint} still loads its model: waiting for it", "{endpoint} 还在加载模型：正在等待";
    nothing_there = "nothing there", "没有服务";
    is_busy(seconds) =
        "busy: it took the connection and said nothing for {seconds} seconds", "繁忙：已连接，但 {seconds} 秒没有回应";
    wants_a_key = "it wants a key: --api-key KEY", "需要密钥：--api-key KEY";
    other_program(what) = "another program: {what}", "是别的程序：{what}";
    no_list_of_models(status) = "HTTP {status}, no list of models", "HTTP {status}，没有模型列表";
    tried_at(program, url, why) = "{program} at {url}: {why}", "{program}（{url}）：{why}";
    none_answered = "no model endpoint answered on this machine", "本机上没有端点正常应答";
    none_found = "no model endpoint was found on this machine", "本机上没有找到模型端点";
    start_one(what, tried) =
        "{what}; tried\n{tried}\n  Start one of them (LM Studio: its server is in the \
         Developer tab; Ollama: `ollama serve`; llama.cpp: `llama-server -m MODEL.gguf`), or name one with --base-url URL",
        "{what}；已尝试\n{tried}\n  请启动其中一个（LM Studio：服务器在 Developer 标签页中；Ollama：`ollama serve`；\
         llama.cpp：`llama-server -m MODEL.gguf`），或用 --base-url URL 指定端点";
    several_models(endpoint, list) =
        "{endpoint} has several models: name one with --model\n{list}", "{endpoint} 有多个模型：用 --model 指定一个\n{list}";
    several_servers(list) =
        "several servers run on this machine: name a model with --model, or one of them with --base-url URL\n{list}",
        "本机上运行着多个模型服务器：用 --model 指定模型，或用 --base-url URL 指定其中一个\n{list}";
    has_no_model(endpoint) =
        "{endpoint} has no model: load one (LM Studio), pull one (`ollama pull NAME`), or name one with --model",
        "{endpoint} 没有模型：请加载一个（LM Studio）、拉取一个（`ollama pull NAME`），或用 --model 指定";
    and_more(n) = "and {n} more", "还有 {n} 个";
    list_below(url, found) =
        "{url} has no list of models, {found} has: taking that", "{url} 没有模型列表，{found} 有：改用后者";

    // The question before a call runs.
    only_drafted =
        "The model only drafted this call in its reasoning.", "模型只是在推理中起草了这个调用。";
    maybe_drafted =
        "No reasoning tag came, so the model may only have drafted this call.",
        "没有出现推理标签，这个调用可能只是草稿。";
    maybe_fenced =
        "The call stands in a code fence with prose behind it and may be an example.",
        "调用在代码块中，后面还有正文，可能只是示例。";
    behind_untrusted =
        "A server whose words may be anybody's was called before: they may be what leads to this call.",
        "此前调用过一个内容可能出自任何人之手的服务器：这个调用可能是由那些内容引起的。";
    maybe_behind_prose =
        "The call stands behind prose without a marker and may be an example.",
        "调用在正文之后，没有标记，可能只是示例。";
    maybe_before_prose =
        "The call stands before prose without a marker and may be an example.",
        "调用在正文之前，没有标记，可能只是示例。";
    maybe_in_a_line =
        "The call does not begin its line and may be an example.", "调用不在行首，可能只是示例。";
    maybe_fenced_behind_prose =
        "The call stands in a code fence behind prose and may be an example.",
        "调用在正文之后的代码块中，可能只是示例。";
    maybe_echoed =
        "The call stands in a result or a file and may be another's.",
        "调用出现在某个结果或文件中，可能不是模型自己的。";
    run_call(call, keys) = "Run {call}? [{keys}] ", "运行 {call}？[{keys}] ";
    is_destructive = "The tool calls itself destructive", "工具声明自己有破坏性";
    only_reads = "The tool says that it only reads", "工具声明自己只读取";
    destroys_nothing = "The tool says that it destroys nothing", "工具声明自己不会破坏任何东西";
    says_nothing =
        "The tool does not say whether it changes anything", "工具没有说明自己是否会改动什么";
    model_wants_approval(nature) =
        "{nature}, and the model wants this call approved.", "{nature}，而且模型希望这个调用得到批准。";
    by_pattern_only(nature) =
        "{nature}, and it is allowed by a pattern only, not by its full name.",
        "{nature}，而且它只是被通配模式允许，没有按全名允许。";
    nothing_allows_it(nature) = "{nature}, and nothing allows it yet.", "{nature}，而且还没有任何设置允许它。";
    approval_help =
        "answer y (yes, once), a (yes, and every later call of this tool), n (no), or n REASON (no, and the model is told why)",
        "请回答 y（批准这一次）、a（批准，此工具以后的调用也不再询问）、n（拒绝），或 n 原因（拒绝，并把原因告诉模型）";
    arguments_are_long(n) =
        "The arguments have {n} characters; s shows them whole.", "参数有 {n} 个字符；输入 s 显示全部。";
    see_arguments_first =
        "not all of the arguments was shown yet: s shows them, then answer",
        "参数还没有全部显示：请先输入 s 显示全部，再回答";
    approval_help_once =
        "answer y (yes, once), n (no), or n REASON (no, and the model is told why)",
        "请回答 y（批准这一次）、n（拒绝），或 n 原因（拒绝，并把原因告诉模型）";
    tool_has_changed(name, changes) =
        "{name} has changed since you approved it: {changes}", "{name} 在你批准之后有了变化：{changes}";
    was_not_run(name, why) = "{name} was not run: {why}", "{name} 没有运行：{why}";
    nobody_drafted =
        "the model only drafted the call in its reasoning, and there is no terminal to ask on; --yes runs such calls",
        "模型只是在推理中起草了这个调用，而且没有终端可以询问；--yes 会运行这样的调用";
    nobody_fenced =
        "the call stands in a code fence with prose behind it and may be an example, and there is no terminal to ask \
         on; --yes runs such calls",
        "调用在代码块中，后面还有正文，可能只是示例，而且没有终端可以询问；--yes 会运行这样的调用";
    nobody_untrusted(name) =
        "a server whose words may be anybody's was called before, and there is no terminal to ask on; \
         --allow {name} runs it all the same",
        "此前调用过一个内容可能出自任何人之手的服务器，而且没有终端可以询问；--allow {name} 会照样运行它";
    nobody_behind_prose =
        "the call stands behind prose without a marker and may be an example, and there is no terminal to ask on; \
         --yes runs such calls",
        "调用在正文之后，没有标记，可能只是示例，而且没有终端可以询问；--yes 会运行这样的调用";
    nobody_before_prose =
        "the call stands before prose without a marker and may be an example, and there is no terminal to ask on; \
         --yes runs such calls",
        "调用在正文之前，没有标记，可能只是示例，而且没有终端可以询问；--yes 会运行这样的调用";
    nobody_in_a_line =
        "the call does not begin its line and may be an example, and there is no terminal to ask on; --yes runs such \
         calls",
        "调用不在行首，可能只是示例，而且没有终端可以询问；--yes 会运行这样的调用";
    nobody_fenced_behind_prose =
        "the call stands in a code fence behind prose and may be an example, and there is no terminal to ask on; \
         --yes runs such calls",
        "调用在正文之后的代码块中，可能只是示例，而且没有终端可以询问；--yes 会运行这样的调用";
    nobody_echoed =
        "the call stands in a result or a file and may be another's, and there is no terminal to ask on; --yes runs \
         such calls",
        "调用出现在某个结果或文件中，可能不是模型自己的，而且没有终端可以询问；--yes 会运行这样的调用";
    nobody_untagged(name) =
        "the answer should have begun with reasoning and no reasoning tag came, so the call may only be a draft, and \
         there is no terminal to ask on; where the model writes no reasoning, say --reasoning auto (with \
         --allow '{name}'); --yes runs the call as it is",
        "回答本应以推理开头，却没有出现推理标签，所以调用可能只是草稿，而且没有终端可以询问；如果模型不写推理，请用 \
         --reasoning auto（并加上 --allow '{name}'）；--yes 会直接运行";
    nobody_wanted =
        "the model itself wants the call approved, and there is no terminal to ask on; --yes runs such calls",
        "模型自己希望调用得到批准，而且没有终端可以询问；--yes 会运行这样的调用";
    nobody_allowed(name) =
        "there is no terminal to ask on; allow it with --allow '{name}', or all with --yes",
        "没有终端可以询问；用 --allow '{name}' 允许它，或用 --yes 允许全部";

    // A turn as it goes.
    picture_is_not_saved(error) = "the picture is in no file ({error}); ", "图片未能存入文件（{error}）；";
    picture_is_saved_by(number) = "/result {number} FILE saves the picture", "/result {number} 文件名 可保存图片";
    waiting_for_model = "waiting for the model", "等待模型";
    still_loads = "the server still loads its model: waiting for it", "服务器还在加载模型：正在等待";
    server_loads = "the server loads its model", "服务器正在加载模型";
    reads_prompt(processed, total) =
        "the model reads the prompt: {processed} of {total} tokens", "模型正在读取提示词：{processed}/{total} 个 token";
    writes_call(name) = "the model writes a call of {name}", "模型正在写对 {name} 的调用";
    model_answers = "the model answers", "模型正在回答";
    thinking = "thinking", "正在思考";
    running(names) = "running {names}", "正在运行 {names}";
    running_progress(names, progress) = "running {names}: {progress}", "正在运行 {names}：{progress}";
    reading(uri) = "reading {uri}", "正在读取 {uri}";
    filling_in(prompt) = "filling in {prompt}", "正在填写 {prompt}";
    work_and_progress(work, progress) = "{work}: {progress}", "{work}：{progress}";
    progress_of(progress, total) = "{progress} of {total}", "{progress}（共 {total}）";
    thought_for(time, tokens, how) =
        "thought for {time}, {tokens} · {how} shows it", "思考了 {time}，{tokens} · 用 {how} 查看";
    all_reasoning =
        "(all of this was reasoning: </think> came without an opening tag)",
        "（以上都是推理：出现了没有开头标签的 </think>）";
    was_the_answer = "(this was the answer: no </think> came)", "（以上就是回答：没有出现 </think>）";
    box_of_call(number, name) = "#{number} call {name}", "#{number} 调用 {name}";
    mended(list) = "(mended: {list})", "（已修复：{list}）";
    shown_by(name) = "shown by {name}", "{name} 显示的内容";
    a_tool = "a tool", "某个工具";
    not_run_draft(name) = "(drafted, not run: {name})", "（草稿，不运行：{name}）";
    not_run_invented(name) = "(in an invented turn, not run: {name})", "（在虚构的轮次中，不运行：{name}）";
    not_run_example(name) = "(an example, not run: {name})", "（示例，不运行：{name}）";
    rejected_call(name, kind) = "rejected call of {name} ({kind})", "对 {name} 的调用被拒绝（{kind}）";
    call_may_be_draft =
        "(no reasoning tag came: the call may only be a draft)", "（没有出现推理标签：调用可能只是草稿）";
    call_may_be_meant =
        "(nothing else is a call: the one in the first fence may be meant)",
        "（没有其他调用：第一个代码块中的可能就是调用）";
    call_was_drafted = "(a call that was drafted in the reasoning)", "（推理中起草的调用）";
    told_to_model(message) = "the model is told: {message}", "告知模型：{message}";
    more_characters(n) = "… {n} characters more", "……还有 {n} 个字符";
    got_all = "the model got all of it", "模型得到了全部内容";
    got_less(bytes) =
        "the model got all but {bytes} bytes in the middle", "模型没有得到中间的 {bytes} 字节，其余都得到了";
    size_of_result(characters, lines, got) =
        "({characters} characters, {lines}; {got})", "（{characters} 个字符，{lines}；{got}）";
    size_of_result_in_full(characters, lines, got, number) =
        "({characters} characters, {lines}; {got} · /result {number} shows it)",
        "（{characters} 个字符，{lines}；{got} · 用 /result {number} 查看全部）";

    // What a turn cost.
    no_calls = "no calls", "没有调用";
    turn_cost(rounds, calls, time) = "{rounds}, {calls}, {time}", "{rounds}，{calls}，{time}";
    cost_of_one(head, prompt, answer) =
        "{head}; tokens: prompt {prompt}, answer {answer}", "{head}；token 数：提示词 {prompt}，回答 {answer}";
    cost_with_reasoning(cost, reasoning) = "{cost} ({reasoning} of them reasoning)", "{cost}（其中推理 {reasoning}）";
    cost_of_several(head, table) = "{head}; tokens per round:\n{table}", "{head}；各轮的 token 数：\n{table}";
    column_round = "round", "轮";
    column_prompt = "prompt", "提示词";
    column_answer = "answer", "回答";
    column_time = "time", "用时";

    // Commands and what they answer.
    help_help = "this list", "显示此列表";
    help_tools = "the servers and their tools", "服务器及其工具";
    help_prompt = "the system prompt, and its size", "系统提示词及其大小";
    help_think = "the reasoning of the last answer", "上一个回答的推理";
    help_file =
        "files with the next question; alone, those that wait (/undo takes them back)",
        "随下一个问题发送文件；单独使用时列出等待发送的文件（/undo 撤回）";
    help_call = "a call with all of its arguments, by its number", "按编号显示一次调用的全部参数";
    help_result = "a result in full, by the number in its box; its images, or its text, to a file", "按方框中的编号显示完整结果；或把其中的图片、文字存到文件";
    help_mcp = "the servers: how they are, how they are reached, what is left out", "服务器：状态、连接方式、略过了什么";
    help_mcp_switch =
        "switches a server on or off; with --save for the next conversations, too",
        "启用或停用一个服务器；加 --save 则以后的对话也这样";
    help_mcp_restart = "starts a server anew, or all that are not ready", "重新启动一个服务器，或所有未就绪的服务器";
    help_mcp_login = "logs in at a server over HTTP, in a browser", "在浏览器中登录一个 HTTP 服务器";
    help_mcp_logs = "the last that a server logged or wrote to stderr", "服务器最近的日志和 stderr 输出";
    help_mcp_tools =
        "a server's tools, * those that are on; switches them, by names or globs; --save as above",
        "服务器的工具，* 表示已启用；按名字或通配符启用或停用；--save 同上";
    help_allow =
        "tools whose calls run without a question in this folder, by names or globs over SERVER.TOOL; alone, those \
         that there are; --forget GLOB takes one back",
        "在此目录中不经询问就运行的工具，用名字或 SERVER.TOOL 通配符；单独使用时列出；--forget GLOB 收回";
    help_set =
        "a setting of `toolgraft config` for this folder, from now on; alone, those that there are; --forget KEY takes \
         one back",
        "此目录的一项设置（同 `toolgraft config`），立即生效；单独使用时列出；--forget KEY 收回";
    help_edit = "write the question in your editor ($VISUAL, $EDITOR)", "在你的编辑器（$VISUAL、$EDITOR）中写问题";
    help_retry = "ask the last question once more", "重新提出上一个问题";
    help_undo = "take the last question and its answer back", "撤回上一个问题及其回答";
    help_model =
        "the models of the endpoint; with a name, that one from now on", "端点的模型；带名字时，从现在起换用它";
    help_save =
        "the conversation to a file; --resume FILE goes on with it", "把对话存到文件；用 --resume FILE 继续";
    help_clear = "a new conversation", "开始新的对话";
    help_server_prompt = "a prompt of an MCP server, sent to the model", "把 MCP 服务器的提示词发送给模型";
    help_quit = "leave", "退出";
    help_of_prompts = "prompts of the servers:", "服务器的提示词：";
    help_of_lines =
        "@SERVER:URI in a question sends a resource with it. A line that ends in \\ goes on in the next; Alt-Enter breaks \
         it too.",
        "问题中的 @服务器:URI 会随问题发送该资源。以 \\ 结尾的行在下一行继续；Alt-Enter 也可以换行。";
    open_quotation = "a quotation mark is not closed", "引号没有闭合";
    command_missing = "a command is missing", "缺少命令";
    takes_nothing(name) = "{name} takes nothing behind it", "{name} 后面不能有别的内容";
    file_takes =
        "/file takes names of files; put a name with spaces in quotation marks",
        "/file 后面要写文件名；带空格的名字请放在引号中";
    no_files = "no file waits for the next question", "没有文件等待随下一个问题发送";
    with_next_question(files) = "with the next question: {files}", "随下一个问题发送：{files}";
    cannot_be_sent(flag, file, what) =
        "{flag} {file}: it is {what}, and only texts and images (PNG, JPEG, GIF, WebP) can be sent: extract its text, \
         or convert it, first",
        "{flag} {file}：不能发送这种文件（{what}），只能发送文本和图片（PNG、JPEG、GIF、WebP）：请先提取其中的文本，或转换格式";
    for_you_alone(text) = "for you, not for the model:\n{text}", "只给你看，模型看不到：\n{text}";
    resources_changed(names) =
        "changed since it was sent: {names}; name it again to send it anew", "发送之后有变化：{names}；再次写出即可重新发送";
    mentions_untrusted(name) =
        "{name}: its server is one of --untrusted, and a resource would stand in your own words: let the model read it",
        "{name}：它的服务器在 --untrusted 之列，而资源会成为你自己消息的一部分：请让模型去读取";
    a_damaged_png = "a damaged PNG image", "损坏的 PNG 图片";
    a_sound_or_film = "a sound or a film", "声音或影片";
    a_bmp = "a BMP image", "BMP 图片";
    a_tiff = "a TIFF image", "TIFF 图片";
    a_binary = "a binary file", "二进制文件";
    a_pdf = "a PDF", "PDF 文件";
    an_archive = "an archive or an office document", "压缩包或 Office 文档";
    result_number(number) =
        "/result {number}: expected the number of a result, such as 2", "/result {number}：需要结果的编号，例如 2";
    call_takes = "/call takes the number of a call, such as 2", "/call 后面要写调用的编号，例如 2";
    result_takes = "/result takes the number in a result's box, and a file for its images", "/result 后面要写结果方框中的编号，还可以写一个存图片的文件";
    set_takes =
        "/set takes nothing, or a key and its value, or --forget and a key; put a value with spaces in quotation marks",
        "/set 后面可以不写，或写一个键和它的值，或写 --forget 和一个键；带空格的值请放在引号中";
    set_takes_keys(key, keys) =
        "/set cannot change {key} while a conversation goes on; it takes {keys}", "/set 不能在对话中改变 {key}；它接受 {keys}";
    is_set_here(key, value) = "{key} = {value}, for this folder", "{key} = {value}，用于此目录";
    nothing_set_here = "nothing of that is set for this folder", "此目录没有这样的设置";
    holds_here(list) = "for this folder (/set, /allow): {list}", "用于此目录（/set、/allow）：{list}";
    is_forgotten_here(what) =
        "forgotten for this folder, from the next conversation on: {what}", "从下一个对话起，此目录不再使用：{what}";
    allowed_here(globs) = "run without a question in this folder: {globs}", "在此目录中不经询问就运行：{globs}";
    nothing_allowed_here = "nothing is allowed for this folder", "此目录没有允许任何工具";
    is_not_allowed_here(glob) = "{glob} is not allowed for this folder; /allow lists what is", "此目录没有允许 {glob}；用 /allow 查看";
    allow_is_ambiguous(glob, meant) = "/allow {glob}: several servers have it: write {meant}", "/allow {glob}：多个服务器都有：请写 {meant}";
    allow_destroys(name, meant) =
        "/allow {name}: the tool calls itself destructive: write {meant} where you mean it",
        "/allow {name}：该工具自称具有破坏性：确实要允许时请写 {meant}";
    mcp_takes =
        "/mcp takes nothing, or: on SERVER, off SERVER, restart [SERVER], login SERVER, logs SERVER [LINES], tools \
         SERVER [on|off TOOL …]; on and off take --save",
        "/mcp 后面可以不写，或者写：on SERVER、off SERVER、restart [SERVER]、login SERVER、logs SERVER [LINES]、tools \
         SERVER [on|off TOOL …]；on 和 off 可加 --save";
    switched_off(server) = "{server} is off", "{server} 已停用";
    tools_are_on(names) = "on: {names}", "已启用：{names}";
    tools_are_off(names) = "off: {names}", "已停用：{names}";
    earlier_lines(n, how) = "{n} earlier lines are kept: {how}", "还保留着更早的 {n} 行：{how}";
    restarted(server) = "{server} is ready", "{server} 已就绪";
    none_to_restart = "all servers are ready; name one to start it anew", "所有服务器都已就绪；写出名字可重新启动其中一个";
    model_takes = "/model takes one name", "/model 后面只能写一个名字";
    save_takes =
        "/save takes one file; put a name with spaces in quotation marks",
        "/save 后面要写一个文件名；带空格的名字请放在引号中";
    no_command(name) =
        "no command {name}; /help lists them (a space before it makes it a question)",
        "没有命令 {name}；/help 列出所有命令（前面加空格则作为问题）";
    no_command_but(name, near) = "no command {name}; nearest: {near}", "没有命令 {name}；相近的有：{near}";
    makes_examples(tools) = "the model makes an example for each of {tools} tools, once; they are kept", "模型为 {tools} 个工具各编写一个示例，只做一次，之后保存";
    no_examples_made(error) = "no examples were made: {error}", "没有编写示例：{error}";
    model_not_listed(name) = "the endpoint does not list {name}; `toolgraft models` shows what it lists", "端点没有列出 {name}；用 `toolgraft models` 查看它列出的模型";
    model_not_listed_but(name, near) = "the endpoint does not list {name}; nearest: {near}", "端点没有列出 {name}；相近的有：{near}";
    no_result(number) = "no result {number} in this conversation", "此对话中没有编号为 {number} 的结果";
    empty_question = "nothing was written: nothing is asked", "没有写任何内容：不提问";
    no_editor = "no editor is set: `export EDITOR=nano`, for example, before `toolgraft chat`", "没有设置编辑器：例如先执行 `export EDITOR=nano`，再运行 `toolgraft chat`";
    editor_failed(editor, why) = "the editor {editor} failed: {why}; nothing is asked", "编辑器 {editor} 失败：{why}；不提问";
    nothing_asked = "nothing was asked yet", "还没有提过问题";
    no_reasoning = "(no reasoning)", "（没有推理）";
    prompt_size(tokens) = "{tokens} tokens (o200k)", "{tokens} 个 token（o200k）";
    prompt_size_fitted(tokens, fitted) = "{tokens} tokens (o200k); {fitted}", "{tokens} 个 token（o200k）；{fitted}";
    saved_to(file) = "saved to {file}", "已存到 {file}";
    new_conversation = "a new conversation", "新的对话已开始";
    taken_back(question) = "taken back: {question}", "已撤回：{question}";
    said_by_model(text) = "(the model:) {text}", "（模型：）{text}";
    prompt_does_not_fit(error) =
        "the messages of the prompt do not fit a conversation: {error}", "提示词中的消息不能放入对话：{error}";
}

counts! {
    servers = "server", "个服务器";
    tokens_counted = "token", "个 token";
    lines = "line", "行";
}

impl Phrases {
    /// How far a server's call is.
    pub(crate) fn so_far(self, progress: f64, total: Option<f64>, message: Option<&str>) -> String {
        let so_far = total.map_or_else(|| progress.to_string(), |total| self.progress_of(progress, total));
        let words: Vec<String> = [Some(so_far), message.map(str::to_owned)].into_iter().flatten().collect();
        self.listed(&words)
    }

    /// How many tools are listed in which style.
    pub(crate) fn listed_as(self, listed: &Listed) -> String {
        if !self.is_chinese() {
            return listed.to_string();
        }
        let styles = Listing::ALL.iter().filter(|style| listed.count(**style) > 0);
        let mut parts: Vec<String> =
            styles.map(|style| format!("{} 个以 {style} 列出", listed.count(*style))).collect();
        parts.extend((listed.unlisted > 0).then(|| format!("{} 个由 find_tool 查找", listed.unlisted)));
        if parts.is_empty() { self.no_tools().to_owned() } else { parts.join("，") }
    }

    /// What became of a call, in front of its tool's name.
    pub(crate) fn box_of_outcome(self, number: usize, status: Status, name: &str, took: Option<&str>) -> String {
        let (english, chinese) = match status {
            Status::Result => ("result of", "结果"),
            Status::Displayed => ("shown:", "已显示"),
            // By a person, by a rule, or since it was made before.
            Status::Denied => ("not run:", "未运行"),
            Status::Cancelled => ("cancelled:", "已取消"),
            Status::ToolError => ("error of", "出错"),
            Status::TimedOut => ("no answer of", "超时"),
            _ => ("outcome of", "结束"),
        };
        match self.is_chinese() {
            true => format!("#{number} {chinese} {name}{}", took.map(|took| format!("，{took}")).unwrap_or_default()),
            false => format!("#{number} {english} {name}{}", took.map(|took| format!(", {took}")).unwrap_or_default()),
        }
    }
}
