//! Enums whose values are keywords: on the command line, in files and in recordings.

/// The error for a word that is not a keyword of an enum.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected {what}: one of {}, found {found:?}", expected.join(", "))]
#[non_exhaustive]
pub struct UnknownKeyword {
    /// A description of the enum, such as `a role`.
    pub what: &'static str,
    /// The keywords of the enum.
    pub expected: &'static [&'static str],
    /// The word that is not a keyword.
    pub found: String,
}

impl UnknownKeyword {
    pub(crate) fn new(what: &'static str, expected: &'static [&'static str], found: &str) -> Self {
        UnknownKeyword { what, expected, found: found.to_owned() }
    }
}

/// Gives an enum the methods `as_str`, `Display` and `FromStr`, which convert between its values and keywords.
macro_rules! keyword_enum {
    ($type:ty, $what:literal, $($word:literal => $value:path),+ $(,)?) => {
        impl $type {
            /// Returns the keyword of the value, which the command line and recordings use.
            pub fn as_str(self) -> &'static str {
                match self { $($value => $word),+ }
            }
        }
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
        impl std::str::FromStr for $type {
            type Err = $crate::message::UnknownKeyword;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $($word => Ok($value),)+
                    _ => Err($crate::message::UnknownKeyword::new($what, &[$($word),+], text)),
                }
            }
        }
    };
}
pub(crate) use keyword_enum;
