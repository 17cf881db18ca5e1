//! Words of a server's question to the person: a form field by field, or a page to open.

use std::fmt::Display;

use super::Phrases;
use toolgraft_mcp::{FieldError, TextFormat};

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
