//! Words of `toolgraft launch`.

use super::phrases;

phrases! {
    LAUNCH:
    not_installed(program, install) =
        "{program} is not installed (PATH has no program of that name): {install}",
        "没有安装 {program}（PATH 中没有这个程序）：{install}";
    launches(client, model, endpoint, url) =
        "{client}: {model} of {endpoint}, served at {url}",
        "{client}：{endpoint} 的 {model}，通过 {url} 提供";
    launch_context(tokens) = "; context {tokens} tokens", "；上下文 {tokens} 个 token";
    launch_budget(tokens) = ", the list of tools at most {tokens}", "，工具列表最多 {tokens}";
    launch_output(tokens) = ", an answer at most {tokens}", "，每个回答最多 {tokens}";
    launch_compact(tokens) = ", history made shorter from {tokens} on", "，历史到 {tokens} 时压缩";
    launch_no_context =
        "; the endpoint does not say how long the context is (--context TOKENS)",
        "；端点没有说明上下文有多长（用 --context TOKENS 指定）";
    launch_short_context(client, first, context, longer) =
        "the first request of {client} takes about {first} tokens, and the context has {context}{longer}",
        "{client} 的第一个请求约占 {first} 个 token，而上下文只有 {context}{longer}";
}
