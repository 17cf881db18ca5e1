//! The language of the environment: `LC_ALL`, `LC_MESSAGES`, `LANG`, the first that says something.

use toolgraft::dialect::Lang;

/// The user's language. `None` where the locale names none that we speak, as `C` or none at all.
pub(crate) fn of_environment() -> Option<Lang> {
    of(|name| std::env::var(name).ok())
}

fn of(variable: impl Fn(&str) -> Option<String>) -> Option<Lang> {
    let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().filter_map(variable).find(|value| !value.is_empty())?;
    // `zh_CN.UTF-8`, `zh-Hans`, `en`.
    match locale.split(['_', '-', '.', '@']).next().unwrap_or_default().to_ascii_lowercase().as_str() {
        "zh" => Some(Lang::Zh),
        "en" => Some(Lang::En),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn language(set: &[(&str, &str)]) -> Option<Lang> {
        of(|name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn the_first_variable_that_is_set_decides() {
        for (set, expected) in [
            (&[("LANG", "zh_CN.UTF-8")][..], Some(Lang::Zh)),
            (&[("LANG", "zh_CN.UTF-8"), ("LC_MESSAGES", "en_GB.UTF-8")], Some(Lang::En)),
            (&[("LANG", "en_US"), ("LC_MESSAGES", "en_US"), ("LC_ALL", "zh-Hans")], Some(Lang::Zh)),
            (&[("LANG", "zh"), ("LC_ALL", "")], Some(Lang::Zh)),
            (&[("LANG", "zh_CN.UTF-8"), ("LC_ALL", "C.UTF-8")], None),
            (&[("LANG", "de_DE.UTF-8")], None),
            (&[], None),
        ] {
            assert_eq!(language(set), expected, "{set:?}");
        }
    }
}
