//! Words of a server's question to the person: a form field by field, or a page to open.

use std::fmt::Display;

use super::{Phrases, phrases};
use toolgraft_mcp::{FieldError, TextFormat};

phrases! {
    ELICIT:
    nobody_to_ask(server, message) =
        "{server} asks for input ({message}), and there is no terminal to ask on: it was declined",
        "{server} 请求输入（{message}），但没有终端可以询问：已拒绝";
    put_away(server) = "({server} is told that you put its question away)", "（已告知 {server}：你搁置了它的问题）";
    nobody_waits =
        "(nobody waits for this answer any more: press Enter to go on)", "（已不再等待这个回答：按 Enter 继续）";
    asks_for_input(server) = "{server} asks for input", "{server} 请求输入";
    asks_to_open(server) = "{server} asks you to open a page", "{server} 请你打开一个网页";
    wants_secret =
        "it seems to ask for a password or key, which no server should do by a form",
        "它似乎在索要密码或密钥，任何服务器都不应通过表单这样做";
    fill_in(server) = "Fill this in for {server}? [y/n] ", "为 {server} 填写？[y/n] ";
    say_yes_to(server) = "Say yes to {server}? [y/n] ", "同意 {server} 吗？[y/n] ";
    send_this(server) = "Send this to {server}? [y/n/e] ", "把这些发送给 {server}？[y/n/e] ";
    tell_opened(server) = "Tell {server} that you open it? [y/n] ", "告诉 {server} 你会打开它？[y/n] ";
    help_yes_no =
        "answer y (yes), n (decline), or press Ctrl-D (put it away)", "请回答 y（是）、n（拒绝），或按 Ctrl-D（搁置）";
    help_send =
        "answer y (send it), n (decline), e (fill it in again), or press Ctrl-D (put it away)",
        "请回答 y（发送）、n（拒绝）、e（重新填写），或按 Ctrl-D（搁置）";
    help_open =
        "answer y (you will open it), n (decline), or press Ctrl-D (put it away)",
        "请回答 y（你会打开）、n（拒绝），或按 Ctrl-D（搁置）";
    looks_alike(host) =
        "the host has letters that may only look like others: {host}", "主机名中的字母可能只是看起来像别的字母：{host}";
    opened_by_you(host) =
        "It is at {host}. Nothing is opened for you: open it yourself, if you trust that host.",
        "网页在 {host}。这里不会替你打开：如果信任这个主机，请自己打开。";

    // A field.
    field_line(name, what) = "{name}: {what}", "{name}：{what}";
    field_prompt(name, what, default) = "{name} ({what}){default}: ", "{name}（{what}）{default}：";
    field_proposed(line, default) = "{line}; proposed: {default}", "{line}；建议值：{default}";
    field_required(what) = "{what}; required", "{what}；必填";
    field_left_out = "(left out)", "（不填）";
    an_email = "e-mail address", "电子邮件地址";
    a_uri = "URI", "网址（URI）";
    a_date = "date, YYYY-MM-DD", "日期，YYYY-MM-DD";
    a_date_time = "date and time, YYYY-MM-DDTHH:MM:SSZ", "日期和时间，YYYY-MM-DDTHH:MM:SSZ";
    a_text = "text", "文本";
    a_number = "number", "数字";
    a_whole_number = "whole number", "整数";
    a_yes_or_no = "y or n", "y 或 n";
    one_of_list = "one of the list", "列表中的一项";
    some_of_list = "some of the list, with commas between", "列表中的若干项，用逗号分隔";
    anything = "anything", "任意内容";
    at_least(what, least) = "{what}, at least {least}", "{what}，至少 {least}";
    at_most(what, most) = "{what}, at most {most}", "{what}，至多 {most}";
    between(what, least, most) = "{what}, {least} to {most}", "{what}，{least} 到 {most}";
    counted_in_characters(limits) = "{limits} characters", "{limits} 个字符";
}

impl Phrases {
    /// What a text should be.
    pub(crate) fn text_format(self, format: Option<TextFormat>) -> &'static str {
        match format {
            Some(TextFormat::Email) => self.an_email(),
            Some(TextFormat::Uri) => self.a_uri(),
            Some(TextFormat::Date) => self.a_date(),
            Some(TextFormat::DateTime) => self.a_date_time(),
            _ => self.a_text(),
        }
    }
    /// Why what was typed does not fit its field.
    pub(crate) fn field_error(self, error: &FieldError) -> String {
        if self.is_chinese() { chinese_error(error) } else { error.to_string() }
    }

    /// Something with its limits.
    pub(crate) fn limited<L: Display>(self, what: &str, limits: (Option<L>, Option<L>)) -> String {
        match limits {
            (None, None) => what.to_owned(),
            (Some(least), None) => self.at_least(what, least),
            (None, Some(most)) => self.at_most(what, most),
            (Some(least), Some(most)) => self.between(what, least, most),
        }
    }
}

fn chinese_error(error: &FieldError) -> String {
    match error {
        FieldError::Required => "此项必填".to_owned(),
        FieldError::NotAText => "请输入文本".to_owned(),
        FieldError::NotANumber => "请输入数字，例如 1.5".to_owned(),
        FieldError::NotAnInteger => "请输入整数，例如 3".to_owned(),
        FieldError::NotABoolean => "请输入 y 或 n".to_owned(),
        FieldError::TooSmall(least) => format!("不能小于 {least}"),
        FieldError::TooGreat(most) => format!("不能大于 {most}"),
        FieldError::TooShort(least) => format!("至少要有 {least} 个字符"),
        FieldError::TooLong(most) => format!("最多 {most} 个字符"),
        FieldError::Format(TextFormat::Email) => "请输入电子邮件地址，例如 ada@example.org".to_owned(),
        FieldError::Format(TextFormat::Uri) => "请输入 URI，例如 https://example.org/a".to_owned(),
        FieldError::Format(TextFormat::Date) => "请输入日期，例如 2026-03-14".to_owned(),
        FieldError::Format(TextFormat::DateTime) => "请输入带时区的日期和时间，例如 2026-03-14T09:26:53Z".to_owned(),
        FieldError::NotAChoice { given, choices, .. } => format!("{given:?} 不在列表中：{}", choices.join("，")),
        FieldError::TooFew(least) => format!("至少选择 {least} 项"),
        FieldError::TooMany(most) => format!("最多选择 {most} 项"),
        other => other.to_string(),
    }
}
