//! Words about MCP servers: what they offer, whether they may be started, where they come from.

use super::{counts, phrases};

phrases! {
    SERVERS:
    // What they offer.
    config_is_empty = "the configuration has no servers", "配置中没有服务器";
    is_ready(time) = "ready in {time}", "就绪，用时 {time}";
    ready = "ready", "就绪";
    is_misconfigured = "misconfigured", "配置有误";
    needs_login = "needs authorization", "需要授权";
    has_failed = "failed", "失败";
    has_failed_after(time) = "failed after {time}", "失败，用时 {time}";
    is_gone = "gone", "已断开";
    is_gone_for_now = "gone: the next call starts it anew", "已断开：下一次调用会重新启动它";
    is_connecting = "connecting", "正在连接";
    is_not_started = "not started", "未启动";
    is_disabled = "disabled", "已停用";
    is_in_another_state = "in another state", "处于其他状态";
    listed_tools(n) = "tools ({n})", "工具（{n}）";
    listed_resources(n) = "resources ({n})", "资源（{n}）";
    listed_templates(n) = "resource templates ({n})", "资源模板（{n}）";
    listed_prompts(n) = "prompts ({n})", "提示词（{n}）";
    tools_but_off(tools, off) = "{tools}, off: {off}", "{tools}，已停用：{off}";
    started_anew(times) = "started anew {times} times", "重新启动过 {times} 次";
    last_error(why) = "last error: {why}", "最近的错误：{why}";
    serve_of_process(url, process) = "{url}  process {process}", "{url}  进程 {process}";
    last_of_log = "the last of its log:", "最近的日志：";
    log_is_empty = "it has logged nothing, and written nothing to stderr", "它没有日志，也没有 stderr 输出";
    glob_covers(glob, tool, file) =
        "\"disabledTools\" in {file} has \"{glob}\", which switches {tool} off the next time: switch that glob on, or \
         change it there",
        "{file} 的 \"disabledTools\" 中有 \"{glob}\"，下次仍会停用 {tool}：请启用这个通配符，或在文件中修改";
    server_note(note) = "note: {note}", "备注：{note}";
    server_failed(name, why) = "server {name} failed: {why}", "服务器 {name} 失败：{why}";
    for_no_reason = "for no known reason", "原因不明";
    no_tool_listed(glob) = "--tools {glob}: no tool has such a name", "--tools {glob}：没有这样名字的工具";
    file_is_empty(file) =
        "{file} has no servers: `toolgraft mcp add` and `toolgraft mcp import` fill it",
        "{file} 中没有服务器：用 `toolgraft mcp add` 或 `toolgraft mcp import` 添加";
    is_left_out(file) = "{file} is left out", "{file} 没有使用";

    // Whether they may be started.
    starts_these(file) =
        "{file} belongs to this project, not to you, and starts these servers with your rights:",
        "{file} 属于这个项目，不是你自己的文件；它会以你的权限启动以下服务器：";
    line_of_server(server, what) = "{server}: {what}", "{server}：{what}";
    starts_as_nothing = "nothing, its entry is wrong", "不启动，条目有误";
    runs_inside(command, place) = "{command}   ({place} is in this folder)", "{command}   （{place} 在此目录中）";
    works_in(folder) = "works in {folder}", "工作目录为 {folder}";
    program_is_missing(program) =
        "the program {program} is not found: install it, or name it by its whole path",
        "找不到程序 {program}：请安装它，或写出完整路径";
    sets_variable(name, value) = "sets {name}={value}", "设置 {name}={value}";
    connects_to(url) = "connects to {url}", "连接 {url}";
    sends_header(name, value) = "sends {name}: {value}", "发送 {name}: {value}";
    logs_in_with(name, value) = "logs in with {name} {value}", "登录时使用 {name} {value}";
    connects_otherwise = "a connection of another kind", "其他类型的连接";
    gets_variables(names) = "gets your variables {names}", "获得你的变量 {names}";
    runs_unasked(tools) = "runs without a question: {tools}", "不经询问就运行：{tools}";
    no_command_nor_url = "neither \"command\" nor \"url\"", "既没有 \"command\" 也没有 \"url\"";
    programs_may_change =
        "Programs in the project's folder can change later without a new question.",
        "项目目录中的程序以后可能改变，而不会再次询问。";
    changed_since(date) = "It has changed since you said yes on {date}:", "它在你 {date} 同意之后有了变化：";
    starts_in_all = "In all it starts:", "总共启动：";
    lines_left_out(n, all) =
        "… {n} of these {all} lines are not shown", "…… 共 {all} 行，其中 {n} 行没有显示";
    changed_unseen =
        "in what is not shown here, such as time limits and hidden values",
        "变化在这里没有显示的部分，例如时限和隐藏的值";
    start_them =
        "Start them, now and as long as this file stays as it is? [y/n] ",
        "现在启动它们，并且在此文件不变时都允许启动？[y/n] ";
    start_them_or_show =
        "Start them, now and as long as this file stays as it is? s shows all of it. [y/n/s] ",
        "现在启动它们，并且在此文件不变时都允许启动？输入 s 显示全部。[y/n/s] ";
    see_all_first =
        "not all of it was shown yet: s shows it, then answer y (yes) or n (no)",
        "还没有全部显示：请先输入 s 显示全部，再回答 y（是）或 n（否）";
    yes_or_no = "answer y (yes) or n (no)", "请回答 y（是）或 n（否）";
    asked_again(error) = "{error}: you will be asked again", "{error}：以后会再次询问";

    nothing_to_trust(file) = "{file} starts nothing: there is nothing to trust", "{file} 不启动任何东西：不需要信任";
    is_trusted_already(file) = "{file} is trusted already", "{file} 已受信任";
    is_trusted_now(file) =
        "{file} is trusted as it is now; --revoke takes that back", "{file} 以现在的内容受信任；用 --revoke 撤销";
    is_not_trusted(file) = "{file} is not trusted", "{file} 没有受信任";
    is_trusted_no_more(file) = "{file} is no longer trusted", "{file} 不再受信任";
    nothing_is_trusted = "no project file is trusted", "没有受信任的项目文件";
    trusted_since(date) = "since {date}", "自 {date}";
    but_has_changed = "; it has changed since, so you will be asked again", "；之后有变化，会再次询问";
    but_is_gone = "; it is gone, or cannot be read", "；已不存在，或无法读取";

    // The files that name them.
    nothing_configured(local, own) =
        "no MCP servers are configured: `toolgraft mcp add --help` and `toolgraft mcp import` say how; looked for: \
         {local} and {own}",
        "没有配置 MCP 服务器：`toolgraft mcp add --help` 和 `toolgraft mcp import` 说明如何配置；查找过：{local} 和 {own}";
    not_trusted_yet =
        "not trusted yet: `toolgraft mcp trust` shows what it starts",
        "还没有受信任：`toolgraft mcp trust` 显示它会启动什么";
    not_used_here(local) = "not used in this folder: {local} is", "在此目录中不使用：使用的是 {local}";
    unset_here(names) = "not set in this shell: {names}", "此 shell 中没有设置：{names}";
    entry_is_wrong(problem) = "wrong: {problem}", "有误：{problem}";
    added_in(name, file) = "added {name} in {file}", "已把 {name} 加入 {file}";
    replaced_in(name, file) = "replaced {name} in {file}", "已在 {file} 中替换 {name}";
    removed_from(names, file) = "removed {names} from {file}", "已从 {file} 中去掉 {names}";
    secret_in_file(name, reference) =
        "the value of {name} stands in the file; a reference such as {reference} keeps it out",
        "{name} 的值写在了文件里；用 {reference} 这样的引用可以避免";
    others_can_read(file) = "others can read {file}: chmod 600 changes that", "别人也能读取 {file}：用 chmod 600 改变";
    unset_and_needed(names) =
        "not set in this shell, and needed when it starts: {names}", "此 shell 中没有设置，而启动时需要：{names}";
    log_in_by(name) = "to log in at {name}, open this page:", "要登录 {name}，请打开这个网页：";
    log_in_opened(name) =
        "to log in at {name}, a browser was opened; if it shows nothing, open this page:",
        "要登录 {name}，已打开浏览器；如果没有显示，请打开这个网页：";
    paste_address =
        "or paste the address that a browser elsewhere was sent to: ", "或粘贴其他机器上的浏览器最后跳转到的网址：";
    logged_in(name) = "logged in at {name}", "已登录 {name}";
    only_removed_here(why) =
        "the tokens are removed here and were not taken back: {why}", "令牌只在本机删除，没有在授权服务器撤销：{why}";
    logged_out(name) = "logged out at {name}", "已退出 {name} 的登录";

    // Servers of other programs.
    also_a_project_file(file) =
        "this folder has a file of its project too: `toolgraft mcp import {file}`",
        "此目录还有项目自己的文件：`toolgraft mcp import {file}`";
    nothing_written = "nothing was written", "没有写入任何内容";
    nothing_to_take = "there is nothing to take over", "没有可以导入的服务器";
    took_over(servers, file) = "took over {servers} into {file}", "已把 {servers}导入 {file}";
    write_servers(servers, file) = "Write {servers} to {file}? [y/n] ", "把 {servers}写入 {file}？[y/n] ";
    in_brackets(remark) = "({remark})", "（{remark}）";
    approval_stays_behind(key) =
        "{key} is not taken over: its calls are asked about here", "{key} 没有导入：这里会询问它的调用";
    has_no_place(keys) =
        "left out: there is nothing here like {keys}; add it by hand (`toolgraft mcp add`)",
        "略过：这里没有与 {keys} 相当的设置；请手动添加（`toolgraft mcp add`）";
    keys_stay_behind(keys) = "left out: {keys}", "略去：{keys}";
    becomes_variable(id, name) =
        "asks for {id} there; here it is your variable {name}", "在那里会询问 {id}；在这里是你的变量 {name}";
    no_servers_there = "no servers", "没有服务器";
    replaces_one = "replaces the server of this name", "替换同名的服务器";
    is_there_already = "is there already", "已经有了";
    name_is_taken =
        "left out: another server has this name; --replace takes this one",
        "略过：已有同名的另一个服务器；用 --replace 改用这个";
    name_came_earlier = "left out: a file above has a server of this name", "略过：上面的文件已有同名的服务器";
    secrets_for_you(values) =
        "{values} that may be secret came with them, into a file that only you can read",
        "其中 {values}可能是秘密，已写入只有你能读取的文件";
    secrets_for_others(values) =
        "{values} that may be secret came with them, into a file that others can read too: chmod 600 it",
        "其中 {values}可能是秘密，所写入的文件别人也能读取：请用 chmod 600 保护它";
    read_instead(local, written) =
        "in this folder {local} is read instead of {written}", "在此目录中读取的是 {local}，不是 {written}";
}

counts! {
    values = "value", "个值";
}
