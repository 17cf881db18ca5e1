//! What the command itself says, in English and in Chinese.
//!
//! The texts stand in `words/*.txt`, both languages beside each other, where a translator reads
//! and changes them. An entry has three lines, with an empty line behind them: its name and its
//! values, the English, the Chinese. A value's name in braces is its place in the text, which is
//! another one in each language where that reads better. `+n` in place of values is a noun in the
//! singular, which is shown with a number in front. In a text `\n` is a line break, `\\` a
//! backslash, and `\x20` a space at an end, where it would not be seen. A line that begins with
//! `#` and stands before an entry is a remark.
//!
//! ```text
//! more                        phrases.more() -> &'static str
//! Show the rest
//! 显示其余部分
//!
//! left_out n                  phrases.left_out(3) -> String
//! {n} were left out
//! 省略了 {n} 条
//!
//! messages +n                 phrases.messages(3) -> String
//! message
//! 条消息
//! ```
//!
//! A page's template names its words itself: those of `words/NAME_page.txt`, all without values,
//! and those of `words/every_page.txt`.
//!
//! Each entry is a method of [`Phrases`], which `build.rs` makes. One that lacks a language, or a
//! value in one of them, does not compile; that the Chinese is Chinese is a test. A command asks
//! [`Phrases::of_user`] once, and hands the answer on.
//!
//! What a model, a tool or a server said is nobody's to translate. Keywords of the formats
//! (`in_reasoning`, `tool_error`) and errors of the command stay English. Help has a table of its own,
//! since its English stands beside the commands ([`crate::base::help`]), and so have sentences of
//! the library ([`sentences`]).

mod chat;
mod elicit;
mod locale;
mod page;
mod probe;
mod replay;
mod sentences;
mod stops;

use toolgraft::dialect::Lang;

pub(crate) use locale::of_environment;
pub(crate) use page::capitalised;
pub(crate) use sentences::pairs;

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

/// Entries, and a list of them.
macro_rules! phrases {
    ($($(#[$doc:meta])* $name:ident $(($($value:ident),+))? = $english:literal, $chinese:literal;)*) => {
        impl Phrases {
            $(phrases!(@entry [$(#[$doc])*] $name [$($($value),+)?] $english, $chinese);)*
        }
        #[cfg(test)]
        const ALL: &[(&str, &str, &str)] = &[$((stringify!($name), $english, $chinese)),*];
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
        impl Phrases {
            $(pub(crate) fn $name(self, n: usize) -> String {
                if self.is_chinese() { format!("{n} {}", $chinese) } else { $crate::terminal::counted(n, $english) }
            })*
        }
    };
}

/// The words that a page's template names.
macro_rules! pages {
    ($($page:ident: $($name:ident)*;)*) => {
        impl Phrases {
            $(pub(crate) fn $page(self) -> Vec<(&'static str, &'static str)> {
                vec![$((stringify!($name), self.$name())),*]
            })*
        }
    };
}

include!(concat!(env!("OUT_DIR"), "/phrases.rs"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_has_both_languages() {
        for (name, english, chinese) in ALL {
            let is_ideograph = |c: char| matches!(c, '\u{3400}'..='\u{9fff}');
            let is_mark = |c: char| matches!(c, '：' | '（' | '，' | '。');
            let is_chinese = chinese.chars().any(|c| is_ideograph(c) || is_mark(c));
            assert!(is_chinese, "{name}: {chinese:?} is not Chinese");
            assert!(!english.is_empty() && !english.chars().any(is_ideograph), "{name}: {english:?} is not English");
        }
    }

    #[test]
    fn every_word_of_a_page_is_named_there() {
        let say = Phrases::of(Lang::En);
        let up = concat!(include_str!("../../pages/up.html"), include_str!("../../pages/up.js"));
        let [page, replay, probe, inspect] = [
            include_str!("../../pages/page.html"),
            include_str!("../../pages/replay.html"),
            include_str!("../../pages/probe.html"),
            include_str!("../../pages/inspect.html"),
        ];
        let all = [up, page, replay, probe, inspect].concat();
        for (template, words) in [
            (up, say.up_page()),
            (replay, say.replay_page()),
            (probe, say.probe_page()),
            (inspect, say.inspect_page()),
            (&all, say.every_page()),
        ] {
            assert!(!words.is_empty());
            for (name, _) in words {
                assert!(template.contains(&format!("words.{name}")), "{name} is for nothing");
            }
        }
    }

    #[test]
    fn what_is_asked_for_comes_before_the_locale() {
        assert_eq!(Phrases::of_user(Some(Lang::Zh)).lang(), Lang::Zh);
        assert_eq!(Phrases::of_user(Some(Lang::En)).lang(), Lang::En);
    }
}
