//! `--help` in Chinese: every paragraph and heading, as the definition of the commands has it in
//! English, and its Chinese.
//!
//! What is the English of a changed definition has no entry any more, and a test of [`crate::help`] says
//! so; it also finds entries that nothing uses. Commands of examples, names of flags and of values
//! stay as they are.

/// English and Chinese.
pub(crate) const HELP: &[(&str, &str)] = &[
    (
        "The command `toolgraft`: tool calling for language models that have none, at the terminal.",
        "`toolgraft` 命令：让没有工具调用能力的语言模型也能调用工具，在终端中使用。",
    ),
    (
        "Show the whole loop: a recorded model, a bundled MCP server, no network",
        "演示整个循环：预先记录的模型、内置的 MCP 服务器，不需要网络",
    ),
    ("Talk to a live model, with the tools of your MCP servers", "与真实模型对话，可使用你的 MCP 服务器的工具"),
    (
        "Serve a model to OpenAI clients, with tool calling that it does not have",
        "把模型提供给使用 OpenAI 接口的客户端，并补上它没有的工具调用",
    ),
    ("Find out which way to offer tools helps a model most", "找出怎样把工具提供给模型最有效"),
    ("Put recordings through the parser as they were streamed", "把会话记录按当时流式输出的样子送入解析器"),
    (
        "Read records with model output (NDJSON), write records with their calls",
        "读入含模型输出的记录（NDJSON），写出其中的调用",
    ),
    ("Print the system prompt for a set of tools, and its size in tokens", "打印一组工具的系统提示词及其 token 数"),
    (
        "Connect to MCP servers and list their tools, resources and prompts",
        "连接 MCP 服务器，列出它们的工具、资源和提示词",
    ),
    (
        "Add, list, remove, import, check MCP servers; log in; trust a project's file",
        "添加、列出、去掉、导入、检查 MCP 服务器；登录；信任项目的配置文件",
    ),
    ("Call one tool of an MCP server", "调用 MCP 服务器的一个工具"),
    ("Read one resource of an MCP server", "读取 MCP 服务器的一个资源"),
    ("Fill in a prompt of an MCP server, and print it", "填写并打印 MCP 服务器的一个提示词"),
    ("List, search and remove the conversations that were kept", "列出、搜索和删除保存的对话"),
    ("Show and set the defaults of `toolgraft chat`", "显示和设置 `toolgraft chat` 的默认值"),
    ("Print the completions of this command for a shell", "打印本命令的 shell 补全脚本"),
    ("Write the manual pages of this command", "写出本命令的手册页"),
    ("Print this message or the help of the given subcommand(s)", "显示此帮助，或所给子命令的帮助"),
    ("Print help", "显示帮助"),
    ("Print version", "显示版本"),
    (
        "Start with `toolgraft demo`: it needs no network, key or configuration. Then talk to a model of \
         your own with `toolgraft chat`, look at your MCP servers with `toolgraft tools`, or put some \
         model output through `toolgraft replay FILE`. `toolgraft COMMAND --help` has examples.",
        "先试 `toolgraft demo`：它不需要网络、密钥和配置。然后用 `toolgraft chat` 与自己的模型对话，用 \
         `toolgraft tools` 查看你的 MCP 服务器，或用 `toolgraft replay FILE` 解析一段模型输出。\
         `toolgraft COMMAND --help` 有示例。",
    ),
    (
        "Language of the prompt, the model and what is said: en, zh [default: that of the locale, else en]",
        "提示词、模型和所显示文字的语言：en、zh [默认：按区域设置，否则 en]",
    ),
    (
        "Call syntax that is taught: use_mcp_tool, tool_tag, type_marker",
        "所教的调用语法：use_mcp_tool、tool_tag、type_marker",
    ),
    (
        "How fast the model speaks: max, or a factor [default: 1 at a terminal, else max]",
        "模型说话的速度：max，或一个倍数 [默认：在终端上为 1，否则为 max]",
    ),
    (
        "Keep what happened as a recording, which `toolgraft replay` shows",
        "把经过保存为会话记录，可用 `toolgraft replay` 查看",
    ),
    ("Write it as a page to look at in a browser", "写成可在浏览器中查看的网页"),
    ("Open the page in a browser", "在浏览器中打开该网页"),
    (
        "The model's text is recorded: a reasoning model that thinks, drafts a call inside its thinking, \
         and then makes it. Everything else is real: the prompt, the parser, and the calls, which go to \
         a bundled MCP server that is started as a process of its own. The values in the answer are the \
         ones that the server gave; its weather is made up. Behind its first call the model invents a \
         result: that is where its stream is cancelled.",
        "模型的文本是预先记录的：一个推理模型先思考，在思考中打了一次调用的草稿，然后真正发出调用。其余都\
         是真实的：提示词、解析器，以及发往内置 MCP 服务器的调用，该服务器作为单独的进程启动。回答中的数\
         值就是服务器给出的；它的天气是虚构的。模型在第一个调用之后编造了结果：它的输出流就在那里被取消。",
    ),
    ("Examples:", "示例："),
    ("(and shows it as a page in a browser)", "（并在浏览器中显示为网页）"),
    (
        "Exit codes: 0 done, 1 something in the loop failed, 2 wrong usage.",
        "退出码：0 完成，1 循环中有失败，2 用法错误。",
    ),
    ("One question; without it, a conversation", "一个问题；不给出则进入对话"),
    (
        "Send a text file or an image with the question; in a conversation, with the first",
        "随问题发送一个文本文件或图片；在对话中，随第一个问题发送",
    ),
    (
        "May be given several times; in a conversation /file sends files with a later question. Images \
         are PNG, JPEG, GIF or WebP, for a model that reads images.",
        "可以多次给出；在对话中用 /file 随后面的问题发送文件。图片为 PNG、JPEG、GIF 或 WebP，供能读图片的\
         模型使用。",
    ),
    ("Print help (see a summary with '-h')", "显示帮助（用 -h 查看摘要）"),
    ("Endpoint", "端点"),
    (
        "OpenAI-compatible endpoint, such as http://localhost:11434/v1",
        "兼容 OpenAI 的端点，例如 http://localhost:11434/v1",
    ),
    (
        "Without it: OPENAI_BASE_URL, else LM Studio (port 1234), Ollama (11434) and llama.cpp (8080, \
         9931) on this machine; the models of all that run. A server that still loads its model is \
         waited for.",
        "不给出时：先用 OPENAI_BASE_URL，否则使用本机上的 LM Studio（端口 1234）、Ollama（11434）和 \
         llama.cpp（8080、9931），包括其中所有在运行的模型。还在加载模型的服务器会等到它就绪。",
    ),
    (
        "Model to ask; without it, the only one that there is, or a choice of all",
        "要使用的模型；不给出则用唯一的那个，或从全部模型中选择",
    ),
    (
        "API key; better in OPENAI_API_KEY, since other users can see a command line",
        "API 密钥；最好放在 OPENAI_API_KEY 中，因为其他用户能看到命令行",
    ),
    ("The variable's key goes only to an endpoint that was named.", "该变量中的密钥只会发给明确指定的端点。"),
    ("MCP servers", "MCP 服务器"),
    (
        "Configuration of MCP servers: JSON with `mcpServers` or `servers`",
        "MCP 服务器的配置：含 `mcpServers` 或 `servers` 的 JSON",
    ),
    (
        "May be given several times; of two servers of one name the later counts. Without it: \
         ./.mcp.json, which is asked about before it starts anything (see `toolgraft mcp trust --help`), \
         else ~/.config/toolgraft/mcp.json.",
        "可以多次给出；两个服务器同名时以后者为准。不给出时：先用 ./.mcp.json，启动任何东西之前会先询问（\
         见 `toolgraft mcp trust --help`），否则用 ~/.config/toolgraft/mcp.json。",
    ),
    (
        "Limit of a server's start and of each call, whatever the configuration says",
        "服务器启动和每次调用的时限（秒），不论配置中怎样写",
    ),
    (
        "List only these tools: a glob over SERVER.TOOL, or TOOL alone",
        "只列出这些工具：对 SERVER.TOOL 或只对 TOOL 的通配模式",
    ),
    (
        "May be given several times. The others are in no prompt and cannot be called, and resources of \
         a server that none of them fits are not listed.",
        "可以多次给出。其他工具不出现在任何提示词中，也不能调用；如果某个服务器没有一个工具符合，它的资源\
         也不列出。",
    ),
    ("Calls", "调用"),
    (
        "Run calls of these tools without asking; a glob over SERVER.TOOL",
        "这些工具的调用不经询问就运行；对 SERVER.TOOL 的通配模式",
    ),
    (
        "May be given several times, as --deny may. A tool that calls itself destructive is asked about \
         all the same, unless it is named in full.",
        "可以多次给出，--deny 也一样。自称有破坏性的工具仍会询问，除非写出它的全名。",
    ),
    ("Never run calls of these tools, whatever else allows them", "从不运行这些工具的调用，不论别处怎样允许"),
    (
        "Server whose results may be anybody's words: after one of them each call is asked about",
        "结果可能出自任何人之手的服务器：在它的某个结果之后，每个调用都要询问",
    ),
    (
        "May be given several times. It holds for the rest of the conversation, with --yes too; but not for \
         tools of other servers that call themselves read-only, and for those that --allow names in full.",
        "可以多次给出。它在整个对话余下的部分都有效，有 --yes 时也一样；但不适用于其他服务器自称只读的工具，以及 \
         --allow 写出全名的工具。",
    ),
    (
        "Run all calls without asking, those that may only be drafts or examples too",
        "不经询问运行所有调用，包括可能只是草稿或示例的调用",
    ),
    ("Model (defaults by its profile)", "模型（默认由模型配置决定）"),
    ("Profile to take instead of the one for the model's name", "使用这个模型配置，而不是按模型名字选择的那个"),
    ("How tools are offered: auto, native, prompt", "提供工具的方式：auto、native、prompt"),
    (
        "auto: in the request where profile or endpoint say that it works, else in the prompt. With \
         --dialect it is the prompt.",
        "auto：如果模型配置或端点表明可行，就放在请求中，否则放在提示词中。给出 --dialect 时放在提示词中。",
    ),
    (
        "Whether answers are held to a form where one is due: auto, off, require",
        "在应当有固定形式时，是否约束模型的输出：auto、off、require",
    ),
    (
        "Due it is for an answer after --schema and for the round that corrects a call. auto: in the \
         form that the endpoint takes (a grammar, a JSON Schema), if it takes one. require: else it is \
         an error.",
        "应当有固定形式的，是 --schema 之后的回答，以及纠正调用的那一轮。auto：端点接受某种形式（语法、\
         JSON Schema）时使用。require：端点不接受则为错误。",
    ),
    (
        "How it comes to a call where the model may as well answer: free, measured, chosen",
        "模型既可调用工具也可直接回答时，如何决定：free、measured、chosen",
    ),
    (
        "free: as the model writes. measured: by the probability that its answer begins with a call; \
         the call is then held to its form. chosen: the model names a tool first. What an endpoint does \
         not give for that is left: measured, chosen, free. [default: free]",
        "free：由模型自己写。measured：按回答以调用开头的概率决定，随后约束调用的形式。chosen：模型先说出工\
         具名。端点缺少所需功能时依次退为：measured、chosen、free。[默认：free]",
    ),
    (
        "Logarithm of that probability from which on it is a call [default: -4]",
        "该概率的自然对数达到此值即为调用 [默认：-4]",
    ),
    (
        "Call syntax to teach: use_mcp_tool, tool_tag, type_marker",
        "教给模型的调用语法：use_mcp_tool、tool_tag、type_marker",
    ),
    (
        "Language of the prompt, else its profile's, and of what chat says, else the locale's: en, zh",
        "提示词的语言（否则由模型配置决定）和 chat 自身文字的语言（否则按区域设置）：en、zh",
    ),
    (
        "Where reasoning starts: auto (tags decide), open (at once), off",
        "推理从哪里开始：auto（由标签决定）、open（从一开始）、off（没有推理）",
    ),
    (
        "A call in the fence that an answer begins with, with prose behind it: ignore, last_resort (asks)",
        "回答开头的代码块中有调用、后面跟着正文时怎样处理：ignore、last_resort（会询问）",
    ),
    (
        "End the model's answer where it writes this; may be given several times",
        "模型写出此文本时结束回答；可以多次给出",
    ),
    ("A call whose closing tag it takes is whole.", "如果因此缺了调用的结束标签，该调用仍算完整。"),
    (
        "How much of its reasoning the model reads again: none, last (message), turn",
        "模型自己的推理有多少会再给它看：none（没有）、last（最后一条消息）、turn（整个回合）",
    ),
    (
        "Another model of the endpoint from a question's second request on",
        "一个问题从第二个请求起，改用端点上的这个模型",
    ),
    ("Whether images of tools go to the model: auto, always, never", "工具给出的图片是否发给模型：auto、always、never"),
    (
        "auto: where the endpoint says that the model reads them; then sound, too. A note of each stands \
         in the result in any case, and `/result N FILE` saves them.",
        "auto：端点说明模型能读图片时发送，声音也一样。结果中总有每张图片的说明，`/result N FILE` 把它们存为文件。",
    ),
    ("The model reads images: those of the servers' tools go to it", "模型能读图片：服务器工具给出的图片发给它"),
    (
        "Without it their results have a note of each. Images that clients send go to the model in any case.",
        "不加此项时，结果中只有每张图片的说明。客户端发来的图片总会发给模型。",
    ),
    ("Sampling temperature, from 0 to 2", "采样温度，0 到 2"),
    (
        "Your own system text, which comes first; @FILE reads it from a file",
        "自己的系统文本，放在最前；@FILE 表示从文件读取",
    ),
    ("Tools in the prompt", "提示词中的工具"),
    (
        "How tools are listed: schema, signature, brief or index [default: signature]",
        "列出工具的方式：schema、signature、brief 或 index [默认：signature]",
    ),
    (
        "schema: the whole JSON Schema. signature: one line like TypeScript, description and notes. \
         brief: the same with the first sentence of the description. index: name and first sentence; the \
         model asks for the rest with a built-in tool.",
        "schema：完整的 JSON Schema。signature：一行类似 TypeScript 的签名，加说明和注释。brief：同上，但\
         说明只取第一句。index：名字和说明的第一句；其余由模型用内置工具询问。",
    ),
    (
        "How much the prompt says: full or compact [default: the model's, by its size]",
        "提示词的详略：full 或 compact [默认：按模型的大小]",
    ),
    (
        "full: the tools, how to call them, rules. compact, for models below three billion parameters: \
         the tools, a question with its call for each, no rules, and short results.",
        "full：工具、调用方法和规则。compact，适合三十亿参数以下的模型：工具，每个工具一个问题及其调用，\
         没有规则，结果也简短。",
    ),
    (
        "Characters of a tool's description at most, or full [default: 600, with --listing schema 2000]",
        "工具说明最多的字符数，或 full（完整）[默认：600，--listing schema 时为 2000]",
    ),
    (
        "Tokens that the list of tools may take: tools are listed shorter until it fits",
        "工具列表最多占用的 token 数：逐步缩短工具的说明，直到放得下",
    ),
    (
        "First all tools with a schema become signatures, those that save most first, then brief, then \
         index. No tool is left out. Counted in o200k; instructions and resources of the servers count \
         too, the rules of the prompt do not.",
        "先把所有带模式的工具改为签名，节省最多的先改，然后是 brief，再然后是 index。不会省略任何工具。\
         按 o200k 计数；服务器的使用说明和资源也计入，提示词的规则不计入。",
    ),
    ("A template that replaces the system text, or a folder of templates", "替换系统文本的模板，或一个含模板的目录"),
    (
        "Jinja's syntax. In a folder, system.j2, results.j2, describe.j2, frame.j2, listing.j2, tool.j2, \
         lookup.j2 and rules.j2 replace the built-in ones; others can be included. docs/prompt.md lists \
         the variables.",
        "使用 Jinja 语法。目录中的 system.j2、results.j2、describe.j2、frame.j2、listing.j2、tool.j2、\
         lookup.j2 和 rules.j2 替换内置的模板；也可以引用其他模板。变量见 docs/prompt.md。",
    ),
    ("Limits", "限制"),
    ("Most requests for one question [default: 12]", "每个问题最多发出的请求数 [默认：12]"),
    (
        "Times in a row that the model may repeat a passage; 0 for no limit [default: 10]",
        "模型最多可连续重复同一段内容的次数；0 表示不限 [默认：10]",
    ),
    (
        "A message that repeats itself more often is stopped, and what came before is kept.",
        "重复更多次的消息会被停止，之前的内容保留。",
    ),
    ("Most tokens of one message of the model, reasoning included", "模型一条消息最多的 token 数，包括推理"),
    (
        "Tokens that the model's context has; older rounds are left out where they do not fit",
        "模型上下文的 token 数；放不下时省略较早的轮次",
    ),
    (
        "Without it, what the endpoint says that the model has. Ollama says it of a model that is loaded \
         or sets num_ctx, and cuts longer prompts silently.",
        "不给出时，以端点所说的为准。Ollama 只对已加载或设置了 num_ctx 的模型给出这个数，并会悄悄截断更长\
         的提示词。",
    ),
    ("Output", "输出"),
    (
        "How reasoning is shown: folded (to one line when it ends), full, hidden",
        "显示推理的方式：folded（结束后折叠成一行）、full（完整）、hidden（隐藏）",
    ),
    (
        "Show the answer as the model wrote it; else a terminal shows its Markdown rendered",
        "按模型写出的原文显示回答；否则终端上会渲染其中的 Markdown",
    ),
    ("With NO_COLOR or TERM=dumb it is shown so, too.", "设置了 NO_COLOR 或 TERM=dumb 时也这样显示。"),
    ("Show the answer, questions and warnings only", "只显示回答、询问和警告"),
    (
        "Have the answer match a JSON Schema; on a pipe, standard output is the JSON value",
        "要求回答符合一个 JSON Schema；输出到管道时，标准输出就是该 JSON 值",
    ),
    (
        "The model is taught the schema and corrected with what does not match.",
        "会教给模型这个模式，不符合之处会请它纠正。",
    ),
    (
        "Print one JSON object per event instead, for scripts; takes one question",
        "改为每个事件打印一个 JSON 对象，供脚本使用；只接受一个问题",
    ),
    ("Conversation", "对话"),
    ("Go on with a saved conversation", "继续保存在文件中的对话"),
    ("Go on with the latest conversation that was kept, or with that of an ID", "继续最近保存的对话，或 ID 所指的对话"),
    (
        "With its model and endpoint, unless others are named. `toolgraft sessions` lists what was kept.",
        "沿用它的模型和端点，除非另外指定。`toolgraft sessions` 列出保存的对话。",
    ),
    (
        "Do not keep this conversation (`toolgraft sessions --help` says how others are)",
        "不保存这次对话（其他对话怎样保存，见 `toolgraft sessions --help`）",
    ),
    ("Save the conversation after every answer", "每次回答之后把对话保存到文件"),
    ("Neither read nor write the history of your lines", "既不读取也不写入输入行的历史"),
    (
        "It is kept in toolgraft/history below $XDG_STATE_HOME or ~/.local/state, the last 1000 lines. \
         Lines that begin with a space are not kept.",
        "历史保存在 $XDG_STATE_HOME 或 ~/.local/state 下的 toolgraft/history 中，保留最后 1000 行。以空格\
         开头的行不保存。",
    ),
    ("Seeing why", "查看原因"),
    ("Record the conversation; `toolgraft replay FILE` shows it", "记录这次对话；用 `toolgraft replay FILE` 查看"),
    ("Write down requests and the bytes of the answers, without keys", "写下请求和回答的原始字节，不含密钥"),
    ("a conversation with what runs on this machine", "与本机上运行的模型对话"),
    ("one question, then the end", "只回答一个问题"),
    ("a pipe is appended to the question", "管道的内容附在问题之后"),
    ("so is a file", "文件也是这样"),
    ("an image, for a model that reads images", "图片，供能读图片的模型使用"),
    ("goes on with the latest conversation", "继续最近的对话"),
    (
        "Tools come from the MCP servers of the configuration; without one, the model just answers. A \
         tool's first call is asked about, unless --allow, --yes or the server's autoApprove lets it \
         run: y runs it once, a runs it and every later call of that tool, until its server changes it; \
         n does not run it, and n REASON tells the model why.",
        "工具来自配置中的 MCP 服务器；没有配置时，模型只作回答。工具第一次被调用时会询问，除非 --allow、\
         --yes 或服务器的 autoApprove 已经允许：y 运行这一次；a 运行这一次以及此工具以后的调用，直到服务\
         器改动它；n 不运行；n REASON 还会告诉模型原因。",
    ),
    (
        "In a conversation /help lists the commands, /file sends a file with the next question, /result \
         N shows a long result in full, a line that ends in \\ goes on in the next, Ctrl-C cancels the \
         answer, and Ctrl-C again leaves, as Ctrl-D does.",
        "在对话中，/help 列出命令，/file 随下一个问题发送文件，/result N 完整显示较长的结果，以 \\ 结尾的\
         行在下一行继续，Ctrl-C 取消回答，再按一次 Ctrl-C 退出，Ctrl-D 也退出。",
    ),
    (
        "Conversations are kept (`toolgraft sessions --help`), and defaults can be set (`toolgraft \
         config --help`).",
        "对话会被保存（见 `toolgraft sessions --help`），也可以设置默认值（见 `toolgraft config --help`）。",
    ),
    ("On a pipe, standard output has the answer and nothing else.", "输出到管道时，标准输出只有回答。"),
    (
        "Exit codes: 0 answered, 1 no answer (the model failed, a limit, cancelled), 2 wrong usage or \
         configuration, no endpoint.",
        "退出码：0 已回答，1 没有回答（模型出错、达到限制或被取消），2 用法或配置错误，或没有端点。",
    ),
    (
        "Most end in /v1; where only that lists models it is added, with a warning. Without the flag: LM \
         Studio (port 1234), Ollama (11434) or llama.cpp (8080) on this machine.",
        "大多以 /v1 结尾；如果只有加上它才能列出模型，就自动加上并警告。不给出时：使用本机上的 LM \
         Studio（端口 1234）、Ollama（11434）或 llama.cpp（8080）。",
    ),
    ("Model that answers, whatever model a client names", "用来回答的模型，不论客户端指定哪个"),
    ("Clients", "客户端"),
    (
        "Address to listen on; one that other machines reach needs --api-key",
        "监听的地址；其他机器能访问的地址需要 --api-key",
    ),
    (
        "Further name by which clients call the server, such as host.docker.internal",
        "客户端称呼此服务器的其他名字，例如 host.docker.internal",
    ),
    (
        "May be given several times. A request with any other Host is refused (403), but for the \
         loopback's names and that of --listen.",
        "可以多次给出。Host 为其他名字的请求会被拒绝（403），本机回环的名字和 --listen 的名字除外。",
    ),
    ("Write no line on stderr for each request", "不在 stderr 上为每个请求写一行"),
    (
        "A line has route, model, status, requests to the model, calls for the client, calls that ran \
         here, and time; nothing that was said.",
        "每行包括路径、模型、状态、发给模型的请求数、给客户端的调用数、在此运行的调用数和用时；不含对话的\
         内容。",
    ),
    (
        "Key that clients must show; better in TOOLGRAFT_API_KEY, since other users can see a command line",
        "客户端必须出示的密钥；最好放在 TOOLGRAFT_API_KEY 中，因为其他用户能看到命令行",
    ),
    (
        "Keep the last 200 requests, and show them in a browser on this machine",
        "保留最近 200 个请求，可在本机的浏览器中查看",
    ),
    (
        "With prompts as the model got them, answers, calls, rejections, corrections and times; each can \
         be downloaded as a recording for `toolgraft replay`. On a port of its own, any that is free or \
         this one. The URL that is printed lets one browser in, once.",
        "包括模型实际收到的提示词、回答、调用、被拒绝的调用、纠正和用时；每个请求都能下载为会话记录，供 \
         `toolgraft replay` 使用。使用单独的端口：任意空闲端口，或此处给出的端口。打印出的网址只能由一个\
         浏览器打开一次。",
    ),
    ("Language of the pages of --inspect: en, zh; else the locale's", "--inspect 网页的语言：en、zh；否则按区域设置"),
    (
        "Due it is where a call is required, for an answer after a schema, and for the request that \
         corrects either. auto: in the form that the endpoint takes (a grammar, a JSON Schema), if it \
         takes one. require: else the answer is an error. [default: auto]",
        "应当有固定形式的，是必须调用工具时、带模式的回答，以及纠正这两者的请求。auto：端点接受某种形式（\
         语法、JSON Schema）时使用。require：端点不接受则回答为错误。[默认：auto]",
    ),
    (
        "Leave clients' tools out whose names match a glob, such as 'Cron*'; the model sees none of them",
        "去掉名称与通配模式匹配的客户端工具，例如 'Cron*'；模型看不到它们",
    ),
    (
        "Send a call before it is over, once N bytes of its arguments are there; else whole",
        "参数达到 N 字节后，不等调用结束就开始发送；否则整个发送",
    ),
    (
        "Arguments that are texts go out as the model writes them, all others at the end. A call that \
         fails behind that is not corrected: the answer ends with an error.",
        "文本类型的参数随模型写出而发送，其余的在最后发送。此后失败的调用不再纠正：回答以错误结束。",
    ),
    ("Most requests to the model for one answer [default: 12]", "一个回答最多向模型发出的请求数 [默认：12]"),
    (
        "Longest time for one answer to a request with tools or a schema; else without limit",
        "带工具或模式的请求，回答的最长时间；否则没有限制",
    ),
    (
        "All rounds, corrections and calls of servers' tools together. Behind it the answer ends with an \
         error (504, max_time).",
        "所有轮次、纠正和服务器工具的调用合计。超过后回答以错误结束（504，max_time）。",
    ),
    (
        "Run calls of these tools of the servers; a glob over SERVER.TOOL",
        "运行服务器这些工具的调用；对 SERVER.TOOL 的通配模式",
    ),
    (
        "May be given several times. No other call runs: nobody is there to be asked. A tool that calls \
         itself destructive must be named in full.",
        "可以多次给出。其他调用不运行：没有人可以询问。自称有破坏性的工具必须写出全名。",
    ),
    (
        "Server whose results may be anybody's words, such as pages of the web",
        "结果可能出自任何人之手的服务器，例如读取网页的服务器",
    ),
    (
        "May be given several times. Behind one of its results only tools of other servers run that call \
         themselves read-only, or those that --allow names without a wildcard.",
        "可以多次给出。在它的某个结果之后，只有其他服务器自称只读的工具，或 --allow 不用通配符写出的工具才运行。",
    ),
    ("Most calls of the servers' tools for one answer [default: 64]", "一个回答最多运行的服务器工具调用数 [默认：64]"),
    (
        "Behind them no further one runs, and the model is asked for its answer.",
        "超过后不再运行调用，并要求模型给出回答。",
    ),
    (
        "Give the servers' tools to every model; else to those named NAME+tools",
        "把服务器的工具提供给所有模型；否则只提供给名为 NAME+tools 的模型",
    ),
    (
        "Tell clients the results of the servers' tools, as text of the reasoning",
        "把服务器工具的结果作为推理文本告诉客户端",
    ),
    ("in front of what runs on this machine", "位于本机所运行的模型之前"),
    ("and look at what goes through it", "并查看经过的一切"),
    (
        "A request's tools are taught to the model by the prompt; what it writes comes back as \
         tool_calls, whole and checked against their schemas. A damaged call is corrected with the model \
         before the client sees anything of it. Requests without tools pass through.",
        "请求中的工具通过提示词教给模型；模型写出的调用以 tool_calls 返回，是完整的，并已按模式检查。有损\
         坏的调用会先与模型一起纠正，客户端什么也看不到。没有工具的请求原样通过。",
    ),
    (
        "Served, streamed and whole: /v1/chat/completions, /v1/responses (nothing is kept), /v1/messages \
         and Gemini's /v1beta/models/MODEL:generateContent; /v1/completions, /v1/embeddings and \
         /v1/models of the endpoint; /health, /ready and /metrics.",
        "流式和非流式都支持：/v1/chat/completions、/v1/responses（不保存）、/v1/messages 和 Gemini 的 \
         /v1beta/models/MODEL:generateContent；端点的 /v1/completions、/v1/embeddings 和 /v1/models；以\
         及 /health、/ready 和 /metrics。",
    ),
    (
        "A request names the server in its Host: the loopback's names and that of --listen are known, \
         others by --host. A client in a container mostly says host.docker.internal.",
        "请求在 Host 中写出服务器的名字：本机回环的名字和 --listen 的名字是已知的，其他的用 --host 给出。\
         容器中的客户端多半使用 host.docker.internal。",
    ),
    (
        "Keys: with --api-key (or TOOLGRAFT_API_KEY) clients must show that key, which goes no further; \
         the endpoint gets TOOLGRAFT_UPSTREAM_KEY. Without one, a client's own key goes to an endpoint \
         that was named with --base-url, and to no other. Instances of one service share \
         TOOLGRAFT_INSTANCE_KEY, so that each believes what the others' call ids say.",
        "密钥：有 --api-key（或 TOOLGRAFT_API_KEY）时，客户端必须出示该密钥，它不会再往后传；端点收到的\
         是 TOOLGRAFT_UPSTREAM_KEY。没有时，客户端自己的密钥只会发给用 --base-url 指定的端点。\
         同一服务的各个实例共用 TOOLGRAFT_INSTANCE_KEY，这样每个实例都相信其他实例的调用 id 所说的内容。",
    ),
    (
        "Each request leaves a line on stderr, but for /health, /ready and /metrics; --quiet turns that \
         off.",
        "每个请求在 stderr 上留下一行，/health、/ready 和 /metrics 除外；用 --quiet 关闭。",
    ),
    (
        "HTTPS_PROXY is the proxy for an endpoint whose URL begins with https, but for the hosts in \
         NO_PROXY; others are reached directly. SSL_CERT_FILE is a file of the certificates to trust \
         instead of the system's, SSL_CERT_DIR a folder of them.",
        "HTTPS_PROXY 是网址以 https 开头的端点所用的代理，NO_PROXY 中的主机除外；其他端点直接连接。\
         SSL_CERT_FILE 是一个文件，其中的证书代替系统的证书受到信任；SSL_CERT_DIR 是含这类证书的目录。",
    ),
    (
        "With --inspect the last requests can be looked at in a browser on this machine, searched (text, \
         call:NAME, rejected:NAME), and taken along as recordings for `toolgraft replay`.",
        "使用 --inspect 时，可以在本机的浏览器中查看和搜索最近的请求（文本、call:NAME、rejected:NAME），\
         并下载为会话记录，供 `toolgraft replay` 使用。",
    ),
    (
        "Exit codes: 0 ended by a signal, once the answers that went on were over; 1 the server failed; \
         2 wrong usage or configuration, no endpoint.",
        "退出码：0 由信号结束，进行中的回答已经完成；1 服务器出错；2 用法或配置错误，或没有端点。",
    ),
    (
        "Minutes after which it ends with what it knows [default: 10; none with --full]",
        "多少分钟后以已知的结果结束 [默认：10；有 --full 时不限]",
    ),
    ("Eight tasks for each way, and no more", "每种方式只试八个任务"),
    ("Every task in every way", "每种方式试所有任务"),
    (
        "Try only ways whose name holds this text, such as \"compact\"; may be given several times",
        "只试名字中含有此文本的方式，例如 \"compact\"；可以多次给出",
    ),
    (
        "A name is \"native\", or dialect, style and listing, as \"tool_tag, compact, signature\", with \
         \", measured\", \", chosen\" or \", constrained\" behind it or not. A way that holds any of the texts \
         is tried.",
        "方式的名字是 \"native\"，或由语法、详略和列法组成，例如 \"tool_tag, compact, signature\"，后面可\
         以有 \", measured\"、\", chosen\" 或 \", constrained\"。含有任意一个文本的方式都会试。",
    ),
    ("Offer all twelve tools with each task, not three", "每个任务提供全部十二个工具，而不是三个"),
    (
        "Most tokens of one answer; by itself 512, or 4096 for a model that reasons",
        "一个回答最多的 token 数；默认为 512，推理模型为 4096",
    ),
    ("Forget what was tried before", "忘掉以前试过的结果"),
    (
        "Write the best way into ~/.config/toolgraft/profiles.toml without asking",
        "不经询问就把最好的方式写入 ~/.config/toolgraft/profiles.toml",
    ),
    (
        "Print one JSON object: endpoint, model, tools (offered), cut, rows (see docs/models.md)",
        "打印一个 JSON 对象：endpoint、model、tools（提供的工具）、cut、rows（见 docs/models.md）",
    ),
    ("Write a page with the failures of the best ways side by side", "写一个网页，并排显示最好的几种方式失败之处"),
    (
        "Language of the table and the page: en, zh [default: that of the locale]",
        "表格和网页的语言：en、zh [默认：按区域设置]",
    ),
    ("the model that runs on this machine, ten minutes", "本机上运行的模型，十分钟"),
    ("eight tasks for each way", "每种方式试八个任务"),
    ("every task in every way, failures side by side", "每种方式试所有任务，并排显示失败之处"),
    ("every task in the ways with a compact prompt", "在提示词精简的方式中试所有任务"),
    (
        "The tools are made up and answered by the command itself. There are 70 tasks at temperature 0: \
         40 with one right call, 20 that want none, 10 that need a call, its result, and an answer that \
         holds the result's value. First every way gets 8 tasks, the best six get 16, the best two 40. \
         What was tried is kept, so that the same command goes on where it was stopped.",
        "工具是虚构的，由本命令自己应答。共有 70 个任务，温度为 0：40 个各有一个正确的调用，20 个不需要调\
         用，10 个需要一个调用、它的结果，以及含有该结果中数值的回答。先让每种方式做 8 个任务，最好的六种\
         做 16 个，最好的两种做 40 个。试过的结果会保留，所以同一条命令会从停下的地方继续。",
    ),
    (
        "Exit codes: 0 done, 1 nothing worked or the model failed, 2 wrong usage, no endpoint.",
        "退出码：0 完成，1 没有可用的方式或模型出错，2 用法错误，或没有端点。",
    ),
    ("Recordings; - for standard input", "会话记录；- 表示标准输入"),
    (
        "What the files hold, where it cannot be told: recording, chunks, lines, cline, text",
        "无法判断时，文件是什么格式：recording、chunks、lines、cline、text",
    ),
    (
        "How the text is cut: recorded, whole, or a number of characters",
        "文本怎样切分：recorded（按记录）、whole（不切分），或字符数",
    ),
    ("How fast: max, or how many times as fast as it was recorded", "速度：max，或当时速度的倍数"),
    (
        "Tools that the model knew, instead of the recorded ones: JSON, as `tools/list` answers",
        "模型当时知道的工具，代替记录中的：JSON，即 `tools/list` 的应答",
    ),
    (
        "List what looks like a call and was given back as text, the rule and the remedy",
        "列出看起来像调用、却作为文本处理的内容，以及规则和补救办法",
    ),
    ("Print events as lines of JSON, with results and a summary", "以 JSON 行打印事件，包括结果和总结"),
    (
        "Write a page to look at in a browser, by default beside the file; - for standard output",
        "写成可在浏览器中查看的网页，默认放在文件旁边；- 表示标准输出",
    ),
    (
        "Open the page in a browser; without --html it stands beside the file",
        "在浏览器中打开该网页；没有 --html 时网页放在文件旁边",
    ),
    (
        "Language of what is said about a recording: en, zh [default: that of the locale]",
        "所显示文字的语言：en、zh [默认：按区域设置]",
    ),
    (
        "Compare with NAME.expect.json beside the file, or with the recorded calls",
        "与文件旁边的 NAME.expect.json 比较，或与记录中的调用比较",
    ),
    ("Reading", "读取"),
    ("Call syntaxes to read: auto, or names joined by commas", "要读取的调用语法：auto，或用逗号分隔的名字"),
    ("Calls in the reasoning: ignore, last_resort, allow", "推理中的调用：ignore、last_resort、allow"),
    (
        "Calls in the fence that an answer begins with, with prose behind it: ignore, last_resort",
        "回答开头的代码块中有调用、后面跟着正文时：ignore、last_resort",
    ),
    (
        "Strings that may have ended an answer by `stop`, instead of the recorded ones",
        "可能使回答以 `stop` 结束的字符串，代替记录中的",
    ),
    ("Read it as this model's, whatever the recording says", "当作这个模型的输出来读，不论记录中怎样写"),
    ("Read it with this model profile, or that of this model", "用这个模型配置，或这个模型的配置来读"),
    (
        "Reads our own recordings, chunks of OpenAI-compatible streams (with or without `data: `), lines \
         of JSON with a `text`, Cline's api_conversation_history.json, and plain text. With --mcp-config \
         the calls are run for real, and the tools of those servers are the known ones.",
        "可读取本项目的会话记录、兼容 OpenAI 的流式数据块（有没有 `data: ` 都可以）、带 `text` 的 JSON \
         行、Cline 的 api_conversation_history.json，以及纯文本。使用 --mcp-config 时会真正运行调用，已知\
         的工具就是这些服务器的工具。",
    ),
    ("(writes session.html)", "（写出 session.html）"),
    ("(and opens it in a browser)", "（并在浏览器中打开）"),
    (
        "The words are English or Chinese, as the locale says (LC_ALL, LC_MESSAGES, LANG); on a page \
         whose reader's locale says neither they are in the language of the prompt.",
        "文字按区域设置（LC_ALL、LC_MESSAGES、LANG）为英文或中文；区域设置两者都不是时，网页使用提示词的\
         语言。",
    ),
    (
        "Exit codes: 0 done, 1 a check or a call found a failure, 2 a file cannot be read or wrong usage.",
        "退出码：0 完成，1 检查或调用有失败，2 无法读取文件或用法错误。",
    ),
    ("File with one record a line; `-` is standard input", "每行一条记录的文件；`-` 表示标准输入"),
    (
        "Call syntaxes to read: `auto` for all, or names joined by commas",
        "要读取的调用语法：`auto` 表示全部，或用逗号分隔的名字",
    ),
    (
        "How the text reaches the parser: in one piece, in pieces of N characters, or in random pieces",
        "文本怎样送入解析器：整段、每 N 个字符一段，或随机切分",
    ),
    (
        "Read the texts with this model profile, or that of this model: where its reasoning starts and what it writes around it; nothing is known by default",
        "用这个模型配置，或这个模型的配置来读文本：推理从哪里开始、前后写什么标记；默认对模型一无所知",
    ),
    (
        "Where reasoning starts: think tags decide, the text starts inside it, or there is none; the profile's, else auto",
        "推理从哪里开始：由思考标签决定、从文本一开始，或没有推理；默认按配置，否则 auto",
    ),
    (
        "What becomes of calls in the reasoning; the profile's, else ignore",
        "推理中的调用怎样处理；默认按配置，否则 ignore",
    ),
    (
        "What becomes of a call in the code fence that a text begins with, with prose behind it",
        "文本开头的代码块中有调用、后面跟着正文时怎样处理",
    ),
    ("Records read side by side; all cores by default", "并行读取的记录数；默认使用全部核心"),
    ("One JSON object a line:", "每行一个 JSON 对象："),
    (
        "A line that is no such record becomes {\"id\": null, \"error\": \"line N: …\"}, and the exit \
         code is 1.",
        "不是这种记录的行会变成 {\"id\": null, \"error\": \"line N: …\"}，退出码为 1。",
    ),
    ("Example:", "示例："),
    (
        "Take the tools from a JSON file, or from - for standard input, instead of from servers",
        "从 JSON 文件（- 表示标准输入）读取工具，而不是从服务器",
    ),
    (
        "A `tools/list` answer, a list of tools, a server with `tools`, or the output of `toolgraft \
         tools --json`. May be given several times, and together with --mcp-config.",
        "可以是 `tools/list` 的应答、工具的列表、带 `tools` 的服务器，或 `toolgraft tools --json` 的输\
         出。可以多次给出，也可以与 --mcp-config 一起使用。",
    ),
    (
        "Model that the prompt is for: its profile decides dialect and language",
        "提示词所面向的模型：由它的模型配置决定语法和语言",
    ),
    (
        "Call syntax to teach: use_mcp_tool, tool_tag or type_marker [default: the model's]",
        "教给模型的调用语法：use_mcp_tool、tool_tag 或 type_marker [默认：由模型决定]",
    ),
    ("Language of the instructions: en or zh [default: the model's]", "说明文字的语言：en 或 zh [默认：由模型决定]"),
    (
        "Whether tools may be called: auto, none, required, or the one tool to call",
        "是否可以调用工具：auto、none、required，或要调用的那个工具",
    ),
    ("Most calls in one message", "一条消息中最多的调用数"),
    (
        "Print one JSON object: prompt, tokens, tools (their number), profile, dialect, lang, style, \
         listing, listed, placement",
        "打印一个 JSON 对象：prompt、tokens、tools（工具数）、profile、dialect、lang、style、listing、\
         listed、placement",
    ),
    ("The prompt goes to stdout, its size to stderr.", "提示词写到 stdout，它的大小写到 stderr。"),
    (
        "Exit codes: 0 done, 1 a server failed and its tools are missing, 2 wrong usage or configuration.",
        "退出码：0 完成，1 有服务器失败、缺少其工具，2 用法或配置错误。",
    ),
    (
        "Print one JSON object: per server its state, error, tools with schemas, resources, prompts",
        "打印一个 JSON 对象：每个服务器的状态、错误、工具及其模式、资源、提示词",
    ),
    ("Show each tool's JSON Schema", "显示每个工具的 JSON Schema"),
    ("A configuration file:", "一个配置文件："),
    (
        "Exit codes: 0 all enabled servers are ready, 1 one failed, 2 wrong usage or configuration.",
        "退出码：0 所有启用的服务器都已就绪，1 有服务器失败，2 用法或配置错误。",
    ),
    ("Add a server to the configuration", "把一个服务器加入配置"),
    ("List the configured servers, without starting them", "列出配置中的服务器，不启动它们"),
    ("Take a server out of the configuration", "从配置中去掉一个服务器"),
    (
        "Take over the servers of Claude, Cursor, VS Code and other programs",
        "导入 Claude、Cursor、VS Code 和其他程序的服务器",
    ),
    (
        "Start every MCP server and report what it takes and what is doubtful",
        "启动每个 MCP 服务器，报告它的开销和可疑之处",
    ),
    (
        "Log in at a server over HTTP that wants it (OAuth), in a browser",
        "在浏览器中登录需要登录（OAuth）的 HTTP 服务器",
    ),
    ("Forget the login at a server", "退出服务器的登录"),
    (
        "Let a project's own ./.mcp.json start its servers; list such files; take it back",
        "允许项目自己的 ./.mcp.json 启动其服务器；列出这类文件；撤销信任",
    ),
    ("Server, as the configuration names it", "服务器，用配置中的名字"),
    ("Tool of that server; `toolgraft tools` lists them", "该服务器的工具；`toolgraft tools` 列出它们"),
    (
        "Arguments: NAME=VALUE words; or one JSON object, @FILE, or - for standard input",
        "参数：若干个 NAME=VALUE；或一个 JSON 对象、@FILE，或 - 表示标准输入",
    ),
    (
        "Print one JSON object: server, tool, status, text, structured, took (ms)",
        "打印一个 JSON 对象：server、tool、status、text、structured、took（毫秒）",
    ),
    (
        "Write the images, audio and blobs of the result to this file; its text, if it has none",
        "把结果中的图片、音频和二进制数据写入此文件；如果没有这些，则写入文本",
    ),
    (
        "The second of several becomes NAME-2, and so on. No file is written over.",
        "有多个时，第二个写入 NAME-2，依此类推。不会覆盖任何文件。",
    ),
    (
        "Where the tool asks back for input, accept the defaults that it proposes",
        "工具反过来请求输入时，接受它建议的默认值",
    ),
    (
        "Where a required field has no default, it is declined. Without this you are asked; where there \
         is no terminal, it is declined.",
        "必填项没有默认值时会拒绝。不用此选项时会询问你；没有终端时会拒绝。",
    ),
    (
        "A word becomes what the tool's schema wants: `days=3` is a number where it wants one and a text \
         where it wants a text. `NAME:=JSON` is JSON always, and a NAME that is given several times is a \
         list.",
        "每个值按工具的模式转换：`days=3` 在需要数字时是数字，在需要文本时是文本。`NAME:=JSON` 始终是 \
         JSON；多次给出同一个 NAME 则成为列表。",
    ),
    (
        "Exit codes: 0 the tool answered, 1 it failed, 2 wrong usage or configuration.",
        "退出码：0 工具已应答，1 失败，2 用法或配置错误。",
    ),
    (
        "URI of the resource; `toolgraft tools` lists resources and templates",
        "资源的 URI；`toolgraft tools` 列出资源和模板",
    ),
    (
        "Print one JSON object: server, uri, status, text, took (ms)",
        "打印一个 JSON 对象：server、uri、status、text、took（毫秒）",
    ),
    (
        "Write the resource to this file, a blob as its bytes; no file is written over",
        "把资源写入此文件，二进制数据按原始字节写入；不会覆盖任何文件",
    ),
    (
        "Exit codes: 0 the resource was read, 1 it was not, 2 wrong usage or configuration.",
        "退出码：0 已读取资源，1 未能读取，2 用法或配置错误。",
    ),
    ("Prompt of that server; `toolgraft tools` lists them", "该服务器的提示词；`toolgraft tools` 列出它们"),
    (
        "Arguments; a prompt with one argument takes the words as they are",
        "参数；只有一个参数的提示词直接使用所给的文字",
    ),
    (
        "Print one JSON object: server, prompt, messages with role and text",
        "打印一个 JSON 对象：server、prompt、messages（含角色和文本）",
    ),
    (
        "In a conversation `/SERVER:PROMPT` sends a prompt to the model.",
        "在对话中，`/SERVER:PROMPT` 把提示词发送给模型。",
    ),
    (
        "Exit codes: 0 the prompt was filled in, 1 it was not, 2 wrong usage or configuration.",
        "退出码：0 已填写提示词，1 未能填写，2 用法或配置错误。",
    ),
    (
        "List the conversations, the latest first; with words, those that have all of them",
        "列出对话，最近的在前；给出词语时，只列出含有全部词语的对话",
    ),
    ("Print a conversation", "打印一个对话"),
    ("Forget conversations", "删除对话"),
    ("Forget all conversations", "删除所有对话"),
    (
        "Conversations are kept in ~/.local/state/toolgraft/sessions (below $XDG_STATE_HOME where that \
         is set), which only you can read, for 30 days after the last word. `toolgraft config set \
         sessions false` turns that off, `session_days` sets the days; --no-session leaves one \
         conversation out.",
        "对话保存在 ~/.local/state/toolgraft/sessions（设置了 $XDG_STATE_HOME 时在其下），只有你能读取，\
         在最后一句话之后保存 30 天。`toolgraft config set sessions false` 关闭保存，`session_days` 设置\
         天数；--no-session 不保存某一次对话。",
    ),
    ("those with both words", "含有这两个词的对话"),
    ("goes on with the latest", "继续最近的对话"),
    ("goes on with this one", "继续这个对话"),
    ("Exit codes: 0 done, 1 a file cannot be removed, 2 wrong usage.", "退出码：0 完成，1 无法删除文件，2 用法错误。"),
    ("Show every key, its value and what it does", "显示每个键、它的值和作用"),
    ("Set a key", "设置一个键"),
    ("Take a key out, so that what is built in counts again", "去掉一个键，恢复内置的默认值"),
    ("Print where the file lies", "打印文件的位置"),
    ("every key, its value, what it does", "每个键、它的值和作用"),
    (
        "Flags count before this file, and so do OPENAI_BASE_URL and OPENAI_API_KEY. Keys of an API are \
         not kept here: set OPENAI_API_KEY. What `toolgraft probe` found best is in profiles.toml beside \
         it.",
        "命令行选项优先于此文件，OPENAI_BASE_URL 和 OPENAI_API_KEY 也是。API 密钥不保存在这里：请设置 \
         OPENAI_API_KEY。`toolgraft probe` 找到的最好方式在旁边的 profiles.toml 中。",
    ),
    (
        "Exit codes: 0 done, 1 the file cannot be written, 2 wrong usage or configuration.",
        "退出码：0 完成，1 无法写入文件，2 用法或配置错误。",
    ),
    ("Shell to write them for", "为哪种 shell 打印"),
    ("(a folder of your fpath)", "（fpath 中的一个目录）"),
    ("Exit codes: 0 done, 2 wrong usage.", "退出码：0 完成，2 用法错误。"),
    (
        "Folder to write a page for each command to; without it, the first page is printed",
        "为每条命令写一页手册的目录；不给出则打印第一页",
    ),
    (
        "Exit codes: 0 done, 1 a page cannot be written, 2 wrong usage.",
        "退出码：0 完成，1 无法写入某一页，2 用法错误。",
    ),
    ("What to call it", "给它起的名字"),
    ("Endpoint of a server over HTTP", "HTTP 服务器的端点"),
    ("Program and arguments of a server that is started, behind --", "要启动的服务器的程序和参数，写在 -- 之后"),
    ("Set a variable for the program; NAME alone hands yours on", "为程序设置一个变量；只写 NAME 则传递你自己的值"),
    (
        "May be given several times. NAME alone is written as ${NAME}: the value stays out of the file.",
        "可以多次给出。只写 NAME 时，文件中写的是 ${NAME}，不含它的值。",
    ),
    ("Folder that the program works in", "程序的工作目录"),
    (
        "Send a header with every request; ${VAR} in it stands for your variable",
        "随每个请求发送的标头；其中的 ${VAR} 代表你的变量",
    ),
    (
        "Speak only this over HTTP: http (streamable), sse (legacy)",
        "只用这种方式通过 HTTP 连接：http（可流式）、sse（旧式）",
    ),
    ("Replace the server of this name, if there is one", "如有同名的服务器，替换它"),
    ("File to write to [default: ~/.config/toolgraft/mcp.json]", "要写入的文件 [默认：~/.config/toolgraft/mcp.json]"),
    (
        "Then `toolgraft mcp check` starts it once and says what it is like.",
        "然后 `toolgraft mcp check` 会启动它一次，并报告情况。",
    ),
    ("Exit codes: 0 added, 2 wrong usage or configuration.", "退出码：0 已添加，2 用法或配置错误。"),
    (
        "Print one JSON object: the files, and the servers of each",
        "打印一个 JSON 对象：各个文件，以及每个文件中的服务器",
    ),
    (
        "List this file instead of ./.mcp.json and ~/.config/toolgraft/mcp.json",
        "列出此文件，而不是 ./.mcp.json 和 ~/.config/toolgraft/mcp.json",
    ),
    ("May be given several times.", "可以多次给出。"),
    (
        "Nothing is started; `toolgraft mcp check` does that. Values that look like secrets are hidden.",
        "不启动任何服务器；需要启动时用 `toolgraft mcp check`。看起来像秘密的值会隐藏。",
    ),
    ("Exit codes: 0 done, 2 wrong usage or configuration.", "退出码：0 完成，2 用法或配置错误。"),
    ("Servers to take out", "要去掉的服务器"),
    (
        "`\"disabled\": true` in an entry leaves a server out and keeps its entry.",
        "条目中的 `\"disabled\": true` 停用一个服务器，但保留它的条目。",
    ),
    ("Exit codes: 0 removed, 2 wrong usage or configuration.", "退出码：0 已去掉，2 用法或配置错误。"),
    (
        "Where from: claude-desktop, claude-code, cursor, vscode, or a file",
        "来源：claude-desktop、claude-code、cursor、vscode，或一个文件",
    ),
    ("Take over this server only; may be given several times", "只导入这个服务器；可以多次给出"),
    ("Replace servers of the same name", "替换同名的服务器"),
    ("Show what would be taken over, and write nothing", "只显示会导入什么，不写入"),
    ("Write without being asked", "不经询问就写入"),
    (
        "Without FROM: what Claude Desktop, Claude Code, Cursor and VS Code have on this machine, for \
         you and not for a project. Other programs' files are named by their path (Windsurf, Gemini CLI, \
         Cline, Zed, LM Studio, opencode; Codex's config.toml, goose's config.yaml). You see what would be taken over, secrets hidden, \
         and are asked before anything is written.",
        "不给出 FROM 时：本机上 Claude Desktop、Claude Code、Cursor 和 VS Code 中属于你、而不属于某个项目\
         的服务器。其他程序的文件用路径给出（Windsurf、Gemini CLI、Cline、Zed、LM Studio、opencode；Codex 的 \
         config.toml、goose 的 config.yaml）。写入之前会显示将要导入的内容（秘密会隐藏）并询问你。",
    ),
    (
        "What lets calls run without a question (autoApprove, alwaysAllow) is never taken over. A \
         project's file (.mcp.json, .cursor/mcp.json, .vscode/mcp.json) is asked about first, as \
         `toolgraft mcp trust --help` says.",
        "允许调用不经询问就运行的设置（autoApprove、alwaysAllow）从不导入。项目的文件（.mcp.json、\
         .cursor/mcp.json、.vscode/mcp.json）会先询问，见 `toolgraft mcp trust --help`。",
    ),
    (
        "Exit codes: 0 done, 1 you said no, 2 wrong usage or configuration.",
        "退出码：0 完成，1 你没有同意，2 用法或配置错误。",
    ),
    (
        "Print one JSON object: per server its state, figures and warnings, and the totals",
        "打印一个 JSON 对象：每个服务器的状态、数据和警告，以及合计",
    ),
    (
        "Exit codes: 0 all enabled servers are ready, 1 one failed, 2 wrong usage or configuration. \
         Warnings alone are no failure.",
        "退出码：0 所有启用的服务器都已就绪，1 有服务器失败，2 用法或配置错误。只有警告不算失败。",
    ),
    ("Server to log in at, by its name in the configuration", "要登录的服务器，用配置中的名字"),
    ("Only print the page to open", "只打印要打开的网址"),
    (
        "Configuration of MCP servers [default: ./.mcp.json, else ~/.config/toolgraft/mcp.json]",
        "MCP 服务器的配置 [默认：./.mcp.json，否则 ~/.config/toolgraft/mcp.json]",
    ),
    (
        "The page to open is on standard output. The browser is sent back to 127.0.0.1, so on another \
         machine forward the port that its address names (ssh -L), or set \"callbackPort\" under \
         \"oauth\" in the server's entry. The tokens are kept in ~/.local/state/toolgraft/logins, and \
         used and refreshed by every command.",
        "要打开的网址写在标准输出上。浏览器会转回 127.0.0.1，所以在另一台机器上，请转发该地址中的端口（\
         ssh -L），或在服务器条目的 \"oauth\" 下设置 \"callbackPort\"。令牌保存在 \
         ~/.local/state/toolgraft/logins 中，由所有命令使用和刷新。",
    ),
    (
        "Exit codes: 0 logged in, 1 the login failed, 2 wrong usage or configuration.",
        "退出码：0 已登录，1 登录失败，2 用法或配置错误。",
    ),
    ("Server to log out at, by its name in the configuration", "要退出登录的服务器，用配置中的名字"),
    (
        "The tokens are taken back at the authorization server, where it has a place for that, and removed \
         here in any case.",
        "如果授权服务器支持，令牌会在那里撤销；无论如何都会从本机删除。",
    ),
    (
        "Exit codes: 0 logged out, 2 wrong usage or configuration, or nobody was logged in.",
        "退出码：0 已退出登录，2 用法或配置错误，或原本没有登录。",
    ),
    ("Configuration file of a project", "项目的配置文件"),
    ("Say yes without being asked", "不经询问就同意"),
    ("List the trusted files", "列出受信任的文件"),
    ("Take the trust in FILE back", "撤销对 FILE 的信任"),
    (
        "A project's ./.mcp.json that was not named on the command line starts nothing before you have \
         said yes. The answer is kept in ~/.local/state/toolgraft, for that path and that content.",
        "没有在命令行上写明的项目 ./.mcp.json，在你同意之前不会启动任何东西。你的回答保存在 \
         ~/.local/state/toolgraft 中，只对该路径和该内容有效。",
    ),
    ("Words to look for, whatever their case", "要查找的词，不分大小写"),
    (
        "Print one JSON object: per conversation its id, time, model, questions and title",
        "打印一个 JSON 对象：每个对话的 id、时间、模型、问题数和标题",
    ),
    ("The beginning of its id", "id 的开头部分"),
    ("The beginnings of their ids", "各个 id 的开头部分"),
    (
        "Print one JSON object: the file, and per key its value and what it does",
        "打印一个 JSON 对象：文件，以及每个键的值和作用",
    ),
    ("One of the keys that `toolgraft config` shows", "`toolgraft config` 所显示的键之一"),
    ("Its value; lists as in TOML", "它的值；列表按 TOML 的写法"),
    ("Print help (see more with '--help')", "显示帮助（用 --help 查看详情）"),
];
