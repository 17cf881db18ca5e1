//! Variables in configuration strings: `${VAR}`, `${VAR:-default}`, `${env:VAR}`; `$${` is an
//! escaped `${`.

/// A function that looks up an environment variable by name.
pub type Environment<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// Replaces the variables (`${VAR}`) of a text by their values. Other uses of `$` are left as they are.
///
/// As in a shell, the default after `:-` also replaces an empty variable.
pub(super) fn expand(text: &str, environment: &Environment<'_>) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let Some(length) = rest[start + 2..].find('}') else { break };
        if let Some(before) = rest[..start].strip_suffix('$') {
            out.push_str(before);
            out.push_str("${");
            rest = &rest[start + 2..];
            continue;
        }
        out.push_str(&rest[..start]);
        out.push_str(&value(&rest[start + 2..start + 2 + length], environment)?);
        rest = &rest[start + 3 + length..];
    }
    out.push_str(rest);
    Ok(out)
}

fn value(inside: &str, environment: &Environment<'_>) -> Result<String, String> {
    let (name, default) = match inside.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inside, None),
    };
    let name = name.strip_prefix("env:").unwrap_or(name);
    if !is_name(name) {
        return Err(format!(
            "${{{inside}}} is not supported: write ${{VAR}}, ${{VAR:-default}} or ${{env:VAR}}; $${{ stands for ${{ itself"
        ));
    }
    let found = environment(name).filter(|v| default.is_none() || !v.is_empty());
    found
        .or_else(|| default.map(str::to_owned))
        .ok_or_else(|| format!("the environment variable {name} is not set: set it, or write ${{{name}:-default}}"))
}

fn is_name(name: &str) -> bool {
    // The names that a shell accepts; others are the variables of other programs, such as
    // `input:token`.
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here(name: &str) -> Option<String> {
        match name {
            "KEY" => Some("s3cret".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        }
    }

    #[test]
    fn variables_are_replaced_in_all_their_forms() {
        for (text, expected) in [
            ("${KEY}", "s3cret"),
            ("a ${env:KEY} b ${KEY}", "a s3cret b s3cret"),
            ("${NONE:-x}", "x"),
            ("${env:NONE:-x y}", "x y"),
            ("${NONE:-}", ""),
            ("${KEY:-x}", "s3cret"),
            ("${EMPTY:-x}", "x"),
            ("[${EMPTY}]", "[]"),
            ("$${KEY} ${KEY} $${1##*/}", "${KEY} s3cret ${1##*/}"),
            ("https://h/${NONE:-a:-b}", "https://h/a:-b"),
        ] {
            assert_eq!(expand(text, &here).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn other_dollars_stay() {
        for text in ["$KEY", "100$", "${KEY", "$$", "$(pwd)", "", "日本 $ 語"] {
            assert_eq!(expand(text, &here).as_deref(), Ok(text));
        }
    }

    #[test]
    fn an_unset_variable_is_named_and_others_do_not_show() {
        let error = expand("${KEY} ${NONE}", &here).unwrap_err();
        assert!(error.contains("variable NONE is not set") && !error.contains("s3cret"), "{error}");
    }

    #[test]
    fn forms_of_other_programs_are_refused_by_name() {
        let error = expand("${input:token}", &here).unwrap_err();
        assert!(error.contains("${input:token} is not supported"), "{error}");
    }
}
