//! What the command itself says, in English and in Chinese.
//!
//! An entry is a method of [`Phrases`] that has both texts beside each other. One that lacks
//! a language, or a value in one of them, does not compile; that the Chinese is Chinese is
//! a test. A command asks [`Phrases::of_user`] once, and hands the answer on.
//!
//! ```text
//! phrases! {
//!     PAGE:                                   // the list of these entries, for the test
//!     more = "Show the rest", "显示其余部分";        // phrases.more() -> &'static str
//!     round(n) = "Round {n}", "第 {n} 轮";        // phrases.round(3) -> String
//! }
//! ```
//!
//! What a model, a tool or a server said is nobody's to translate. Keywords of the formats
//! (`in_reasoning`, `tool_error`) and errors of the command stay English. Help has a table of its own,
//! since its English stands beside the commands ([`crate::base::help`]).

mod chat;
mod check;
mod doctor;
mod elicit;
mod explain;
mod inspect;
mod kept;
mod launch;
mod locale;
mod page;
mod probe;
mod rejections;
mod replay;
mod servers;
mod shell;
mod stops;
mod up;

use toolgraft::dialect::Lang;

pub(crate) use locale::of_environment;
pub(crate) use page::capitalised;

/// The command's own words in one language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Phrases {
    lang: Lang,
}

impl Phrases {
    /// The words in this language.
    pub(crate) const fn of(lang: Lang) -> Self {
        Phrases { lang }
    }

    /// The words in the language that was asked for, else in that of the locale.
    pub(crate) fn of_user(asked: Option<Lang>) -> Self {
        Phrases::of(asked.or_else(of_environment).unwrap_or(Lang::En))
    }

    /// The language.
    pub(crate) fn lang(self) -> Lang {
        self.lang
    }

    fn is_chinese(self) -> bool {
        self.lang == Lang::Zh
    }

    fn pick(self, english: &'static str, chinese: &'static str) -> &'static str {
        if self.is_chinese() { chinese } else { english }
    }
}

/// Each text of a table with its translation, which stands on the next line. Empty lines, and
/// lines that begin with `#`, say nothing.
pub(crate) fn pairs(table: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let mut lines = table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    std::iter::from_fn(move || Some((lines.next()?, lines.next()?)))
}

/// Entries, and a list of them under the name that stands first.
macro_rules! phrases {
    ($list:ident: $($(#[$doc:meta])* $name:ident $(($($value:ident),+))? = $english:literal, $chinese:literal;)*) => {
        impl $crate::phrases::Phrases {
            $($crate::phrases::phrases!(@entry [$(#[$doc])*] $name [$($($value),+)?] $english, $chinese);)*
        }
        #[cfg(test)]
        pub(super) const $list: &[(&str, &str, &str)] = &[$((stringify!($name), $english, $chinese)),*];
    };
    (@entry [$(#[$doc:meta])*] $name:ident [] $english:literal, $chinese:literal) => {
        $(#[$doc])*
        pub(crate) fn $name(self) -> &'static str {
            self.pick($english, $chinese)
        }
    };
    (@entry [$(#[$doc:meta])*] $name:ident [$($value:ident),+] $english:literal, $chinese:literal) => {
        $(#[$doc])*
        pub(crate) fn $name(self, $($value: impl std::fmt::Display),+) -> String {
            if self.is_chinese() {
                format!($chinese, $($value = $value),+)
            } else {
                format!($english, $($value = $value),+)
            }
        }
    };
}

/// Nouns with their number in front.
macro_rules! counts {
    ($($name:ident = $english:literal, $chinese:literal;)*) => {
        impl $crate::phrases::Phrases {
            $(pub(crate) fn $name(self, n: usize) -> String {
                if self.is_chinese() { format!("{n} {}", $chinese) } else { $crate::terminal::counted(n, $english) }
            })*
        }
    };
}

pub(crate) use {counts, phrases};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_has_both_languages() {
        for (name, english, chinese) in [
            page::PAGE,
            replay::REPLAY,
            explain::EXPLAIN,
            doctor::DOCTOR,
            launch::LAUNCH,
            probe::PROBE,
            chat::CHAT,
            check::CHECK,
            elicit::ELICIT,
            inspect::INSPECT,
            kept::KEPT,
            servers::SERVERS,
            shell::SHELL,
            stops::STOPS,
            up::UP,
        ]
        .into_iter()
        .flatten()
        {
            let is_ideograph = |c: char| matches!(c, '\u{3400}'..='\u{9fff}');
            let is_mark = |c: char| matches!(c, '：' | '（' | '，');
            let is_chinese = chinese.chars().any(|c| is_ideograph(c) || is_mark(c));
            assert!(is_chinese, "{name}: {chinese:?} is not Chinese");
            assert!(!english.is_empty() && !english.chars().any(is_ideograph), "{name}: {english:?} is not English");
        }
    }

    #[test]
    fn what_is_asked_for_comes_before_the_locale() {
        assert_eq!(Phrases::of_user(Some(Lang::Zh)).lang(), Lang::Zh);
        assert_eq!(Phrases::of_user(Some(Lang::En)).lang(), Lang::En);
    }
}
