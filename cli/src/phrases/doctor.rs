//! Words of `toolgraft doctor` and `toolgraft models`.

use super::phrases;

phrases! {
    DOCTOR:
    no_models_listed = "no models", "没有模型";
    no_list(why) = "the list of models cannot be had: {why}", "无法取得模型列表：{why}";
    parameters(count) = "{count} parameters", "{count} 参数";
    takes_tools = "takes tools", "支持工具";
    takes_no_tools = "takes no tools", "不支持工具";
    reads_images = "reads images", "能读图片";
    hears = "hears", "能听声音";
    writes_calls_as(dialect) = "its template writes {dialect}", "聊天模板写 {dialect}";
    kept_of_model(settings) = "kept: {settings}", "已保存：{settings}";
    doctor_endpoint = "endpoint", "端点";
    doctor_model = "model", "模型";
    doctor_server = "server", "服务器";
    doctor_context = "context", "上下文";
    doctor_tokens(tokens) = "{tokens} tokens", "{tokens} 个 token";
    doctor_profile = "profile", "模型配置";
    doctor_template = "template writes", "聊天模板所写的格式";
    doctor_says_tools = "says it takes tools", "声明支持工具";
    doctor_yes = "yes", "是";
    doctor_no = "no", "否";
    doctor_says_nothing = "says nothing of that", "没有说明";
    doctor_native = "tools in the request", "工具放在请求中";
    doctor_history = "… with a result", "……并带有结果";
    doctor_prompt = "tools in the prompt", "工具放在提示词中";
    doctor_fault = "known fault", "已知缺陷";
    doctor_remedy = "at the server", "在服务器上";
    doctor_learned = "learned", "已了解到";
    doctor_without(names) = "requests go without {names}", "请求中不带 {names}";
    doctor_left(version, fault) =
        "serve leaves native calls behind {version} ({fault})",
        "serve 在 {version} 上不再使用原生调用（{fault}）";
    doctor_saved = "saved by probe", "probe 保存的设置";
    doctor_advice = "advice", "建议";
    doctor_called = "a right call", "调用正确";
    doctor_in_text(dialect) = "a call in the text ({dialect}), which is read all the same", "调用写在文本中（{dialect}），同样能读出";
    doctor_damaged(arguments) = "a call with damaged arguments: {arguments}", "调用的参数已损坏：{arguments}";
    doctor_empty(finish) = "nothing, and the end is called {finish}", "什么都没有，结束原因为 {finish}";
    doctor_answered = "an answer without a call", "只有回答，没有调用";
    doctor_failed(message) = "failed: {message}", "失败：{message}";
    doctor_nothing_to_do =
        "tools go into the request by themselves (--tools-mode auto, the default of chat and serve)",
        "工具会自动放进请求（--tools-mode auto，chat 和 serve 的默认值）";
    doctor_take_native = "--tools-mode native: it works, and the endpoint does not say so", "--tools-mode native：可以使用，只是端点没有说明";
    doctor_take_prompt =
        "--tools-mode prompt; auto goes round the fault as well, with one request more at first",
        "--tools-mode prompt；auto 也会绕开这个缺陷，只是开头多一次请求";
    doctor_take_probe =
        "no call came in either way: `toolgraft probe` measures further ways",
        "两种方式都没有得到调用：`toolgraft probe` 会测试更多方式";
    doctor_saved_differs = "the saved profile says otherwise: `toolgraft probe --save` measures anew", "保存的模型配置与此不同：`toolgraft probe --save` 会重新测试";
    doctor_short_context(how) = "the context is short for tools: {how}", "上下文对工具来说太短：{how}";
    no_way_to_a_call = "no call came, neither from the request's tools nor by the prompt", "没有得到调用：工具放在请求中或提示词中都不行";
}
