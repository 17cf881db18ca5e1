//! The terminal's width, and counts in words.

/// Columns where neither the environment nor a terminal says.
const USUAL: usize = 80;

/// Columns that output may take: `COLUMNS`, else the terminal's own width. Shells
/// seldom export the former.
pub(crate) fn columns() -> usize {
    let terminal = terminal_size::terminal_size().map(|(width, _)| width.0);
    choose(std::env::var("COLUMNS").ok().as_deref(), terminal)
}

fn choose(variable: Option<&str>, terminal: Option<u16>) -> usize {
    let variable = variable.and_then(|c| c.trim().parse().ok());
    variable.or(terminal.map(usize::from)).filter(|columns| *columns > 0).unwrap_or(USUAL)
}

/// `1 tool`, `2 tools`.
pub(crate) fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_terminals_own_width_counts_where_columns_is_not_exported() {
        assert_eq!(choose(None, Some(60)), 60);
        assert_eq!(choose(Some("100"), Some(60)), 100);
        assert_eq!(choose(Some("wide"), Some(60)), 60);
        assert_eq!(choose(None, None), 80);
        assert_eq!(choose(None, Some(0)), 80, "some terminals say 0 columns when they do not know");
    }

    #[test]
    fn one_is_counted_in_the_singular() {
        assert_eq!([counted(0, "tool"), counted(1, "tool"), counted(2, "tool")], ["0 tools", "1 tool", "2 tools"]);
    }
}
