//! What the command says by itself, in Chinese: by `--lang zh`, or by the locale.

use serde_json::json;

#[cfg(target_os = "linux")]
use crate::chat_screen::Window;
use crate::endpoint::{Endpoint, Reply, mcp_call};
use crate::inspect::Looking;
use crate::process::{Place, demo_server};
use crate::replay_page::text_of;

fn weather(city: &str) -> Reply {
    Reply::text(&mcp_call("demo", "weather_query", &json!({ "city": city })))
}

#[cfg(target_os = "linux")]
#[test]
fn a_conversation_speaks_chinese_from_its_first_line_to_its_last() {
    let replies = [weather("Oslo"), Reply::text("好的。"), weather("Rome"), Reply::text("罗马有雨。")];
    let window = Window::start((100, 70), replies, &["--lang", "zh"]);
    let shown = window.sees("/help 列出所有命令，Ctrl-D 退出");
    for line in
        ["small-model · http://", " · 模型配置 ", "demo 的 ", " 个工具，通过提示词（use_mcp_tool，", "已启动 demo（"]
    {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    window.types("天气？\r");
    let shown = window.sees("？[y/a/n]");
    assert!(shown.contains("#1 调用 demo.weather_query"), "{shown}");
    assert!(
        shown.contains("，而且还没有任何设置允许它。\n运行 demo.weather_query {\"city\":\"Oslo\"}？[y/a/n]"),
        "{shown}"
    );
    window.types("随便\r");
    window.sees("警告：请回答 y（批准这一次）、a（批准，此工具以后的调用也不再询问）");
    // What is typed before the question stands there again is kept for the next prompt.
    window.waits("the question again", |shown| shown.matches("？[y/a/n]").count() >= 2);
    window.types("n，太远了\r");
    window.sees("#1 未获批准 demo.weather_query");
    window.sees("2 轮，没有调用，");
    window.comes_to_a_prompt();
    assert!(window.endpoint.seen()[1].question().contains("太远了"), "the model is told why");
    window.types("那罗马呢？\r");
    window.waits("the second question", |shown| shown.matches("？[y/a/n]").count() >= 3);
    window.types("批准\r");
    let shown = window.sees("罗马有雨。");
    assert!(shown.contains("#2 结果 demo.weather_query，"), "{shown}");
    window.comes_to_a_prompt();
    for (command, answer) in [
        ("/result 9", "此对话中没有编号为 9 的结果"),
        ("/resul", "没有命令 /resul；相近的有：/result"),
        ("/help", "以 \\ 结尾的行在下一行继续"),
        ("/think", "（没有推理）"),
        ("/undo", "已撤回：那罗马呢？"),
    ] {
        window.types(&format!("{command}\r"));
        window.sees(answer);
        window.comes_to_a_prompt();
    }
    // A line is read whenever it comes; Ctrl-D only once keys are read one by one.
    window.types("/quit\r");
    window.sees("对话已保存为 ");
}

#[test]
fn the_locale_decides_where_no_flag_does_and_the_prompt_stays_as_it_is() {
    let place = Place::new();
    place.servers(json!({ "demo": demo_server() }));
    let endpoint = Endpoint::start([weather("Oslo"), Reply::text("No."), Reply::refused(401, "no such key")]);
    let url = endpoint.url();
    let args = ["chat", "--base-url", &url, "--model", "m", "--mcp-config", "mcp.json", "--tools-mode", "prompt"];
    let ask = |more: &[&str]| {
        place.run_with(&[&args, more].concat(), |command| {
            command
                .env_remove("OPENAI_API_KEY")
                .env_remove("OPENAI_BASE_URL")
                .env("LANG", "zh_CN.UTF-8")
                .write_stdin("")
        })
    };
    let run = ask(&["Weather?"]).ok();
    assert_eq!(run.out, "No.\n");
    for said in
        ["demo.weather_query 没有运行：没有终端可以询问；用 --allow 'demo.weather_query' 允许它", "2 轮，没有调用，"]
    {
        assert!(run.err.contains(said), "{said}: {}", run.err);
    }
    let prompt = endpoint.seen()[0].messages();
    assert!(!prompt.contains("工具"), "the prompt is in the language of the model's profile: {prompt}");
    ask(&["And now?"]).fails_with(1, &["模型出错：", "no such key"]);
    let run = ask(&["--lang", "en", "--allow", "nothing.*", "And now?"]);
    assert!(run.err.contains("--allow nothing.*: no tool has such a name; /tools lists them"), "{}", run.err);
}

#[tokio::test]
async fn the_pages_of_requests_are_in_chinese_where_that_is_asked_for() {
    let mut looking = Looking::start_with(&["--lang", "zh"]);
    looking.enter().await;
    let empty = text_of(&looking.page("/inspect").await);
    assert!(empty.contains("还没有收到请求。") && empty.contains("0 个请求"), "{empty}");
    looking.ask_all().await;
    let list = looking.page("/inspect").await;
    assert!(list.contains("<html lang=\"zh\""), "{}", &list[..400]);
    let list = text_of(&list);
    for words in ["3 个请求", "刚刚", "到达", "自动刷新", "搜索调用过的工具；"] {
        assert!(list.contains(words), "{words}: {list}");
    }
    assert!(!list.contains("Request") && !list.contains("Search"), "{list}");
    let found = text_of(&looking.page("/inspect?q=fjord").await);
    assert!(found.contains("3 个请求中的 1 个") && found.contains("显示全部"), "{found}");
    let one = text_of(&looking.page("/inspect/1").await);
    for words in ["全部请求", "下载会话记录", "接口", "用时", "系统提示词"] {
        assert!(one.contains(words), "{words}: {one}");
    }
}

#[test]
fn a_probe_says_in_chinese_what_is_best_and_what_was_left_out() {
    let endpoint = Endpoint::start((0..400).map(|_| Reply::text("I do not know.")));
    let place = Place::new();
    let probe = |url: &str, model: &str, more: &[&str]| {
        let which = ["--quick", "--only", "tool_tag, compact", "--lang", "zh"];
        place.run(&[&["probe", "--base-url", url, "--model", model], &which[..], more].concat())
    };
    probe(&endpoint.url(), "m", &[]).fails_with(1, &["没有一种提供工具的方式得到过正确的调用"]);
    let wrong = mcp_call("", "play_song", &json!({})).replace("<server_name></server_name>\n", "");
    let endpoint = Endpoint::answer(move |_, _| Reply::text(&wrong));
    probe(&endpoint.url(), "n", &["--html=p.html"]);
    let page = text_of(&std::fs::read_to_string(place.path("p.html")).unwrap());
    assert!(page.contains("没有调用；需要的是 get_weather") || page.contains("调用被拒绝："), "{page}");
    assert!(!page.contains("was wanted") && !page.contains("rejected"), "{page}");
}
