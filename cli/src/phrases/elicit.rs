//! Words of a server's question to the person: a form field by field, or a page to open.

use std::fmt::Display;

use super::Phrases;
use super::sentences::{FIELDS, chinese};
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
        match error {
            _ if !self.is_chinese() => error.to_string(),
            FieldError::NotAChoice { given, choices, .. } => format!("{given:?} 不在列表中：{}", choices.join("，")),
            error => chinese(FIELDS, &error.to_string()),
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use toolgraft::dialect::Lang;

    #[test]
    fn whatever_is_wrong_in_a_field_is_said_in_chinese() {
        let formats = [TextFormat::Email, TextFormat::Uri, TextFormat::Date, TextFormat::DateTime];
        let number = serde_json::Number::from(3);
        let errors = [
            FieldError::Required,
            FieldError::NotAText,
            FieldError::NotANumber,
            FieldError::NotAnInteger,
            FieldError::NotABoolean,
            FieldError::TooSmall(number.clone()),
            FieldError::TooGreat(number),
            FieldError::TooShort(1),
            FieldError::TooShort(2),
            FieldError::TooLong(1),
            FieldError::TooLong(2),
            FieldError::TooFew(2),
            FieldError::TooMany(2),
        ];
        let chinese = Phrases::of(Lang::Zh);
        for error in errors.into_iter().chain(formats.map(FieldError::Format)) {
            let said = chinese.field_error(&error);
            assert!(said.chars().any(|c| matches!(c, '\u{3400}'..='\u{9fff}')), "{said}");
        }
        assert_eq!(chinese.field_error(&FieldError::TooShort(1)), "至少要有 1 个字符");
    }
}
