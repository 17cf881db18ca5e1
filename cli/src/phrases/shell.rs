//! Words of `toolgraft mcp shell` and `mcp record`: their first lines, and the commands.

use super::phrases;

phrases! {
    SHELL:
    shell_help = "help lists the commands, Ctrl-D leaves", "help 列出所有命令，Ctrl-D 退出";
    shell_leave = "(quit or Ctrl-D leaves)", "（quit 或 Ctrl-D 退出）";
    shell_tools = "what the server has: tools, resources, prompts", "服务器提供的工具、资源和提示词";
    shell_describe = "a tool or a prompt, with all that the server says of it", "一个工具或提示词，以及服务器对它的全部说明";
    shell_call = "call a tool, with arguments as `toolgraft call` takes them", "调用工具，参数的写法与 `toolgraft call` 相同";
    shell_read = "read a resource", "读取资源";
    shell_get = "fill in a prompt", "填写提示词";
    shell_logs = "the last that it logged or wrote to stderr", "它最近的日志和 stderr 输出";
    shell_status = "how the server is, and how it is reached", "服务器的状态和连接方式";
    shell_restart = "start the server anew, or connect anew", "重新启动服务器，或重新连接";
    shell_wire =
        "show each message that goes over the wire, in a line or whole", "显示往来的每条消息，各占一行或完整显示";
    recorded_in(file) = "recording to {file}", "正在记录到 {file}";
    shell_takes(name, takes) = "{name} takes {takes}", "{name} 的用法：{takes}";
    shell_no_command(name, names) = "no command {name}; there are: {names}", "没有命令 {name}；可用的有：{names}";
}
