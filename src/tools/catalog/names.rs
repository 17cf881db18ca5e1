//! Matches tools' names that a model wrote differently from the catalog.
//!
//! Only equivalent names match, never names that are merely similar: a name with other separators, in another case, or
//! after a namespace.

use crate::tools::wire_name::{may_be_hashed, wire_name};
use crate::tools::{ACCESS_RESOURCE, Tool};

use super::{Catalog, Found, NotFound};

/// Namespaces that models write before names, whatever the server: OpenAI's (`namespace functions`,
/// openai/harmony, docs/format.md) and Kimi's (`functions.NAME:0`, moonshotai/Kimi-K2-Instruct,
/// docs/tool_call_guidance.md), Gemini's (`default_api`, google/adk-python), those of MCP clients
/// (`mcp__SERVER__TOOL`, docs.anthropic.com), and the same in the singular or for any tool.
const NAMESPACES: &[&str] = &["functions", "function", "tools", "tool", "mcp", "default_api"];

/// Words that change the meaning of the name after them, so that they are not a namespace.
const TURNING: &[&str] =
    &["undo", "un", "re", "pre", "no", "not", "dont", "never", "cancel", "revert", "stop", "dry_run"];

/// Rule for a written name that means a tool: returns the length of the namespace before the tool's name, or `None`.
type NameRule = fn(&Catalog, &Tool, &str) -> Option<usize>;

/// Rules by which a written name matches a tool, in order: the first rule that matches any tool decides.
const RULES: [NameRule; 5] = [
    // A name that is the server's and the tool's own name is matched by the rules below as well.
    |_, tool, name| (may_be_hashed(name) && wire_name(tool.server.as_deref(), &tool.name) == name).then_some(0),
    |_, tool, name| same(&tool.name, name).then_some(0),
    |_, tool, name| same_in_any_case(&tool.name, name).then_some(0),
    Catalog::namespace_before,
    |_, tool, name| left_out(tool, name),
];

impl Catalog {
    /// Finds the tool that a model means by a name: as [`find`](Catalog::find); otherwise, on the named server if it is
    /// known,
    ///
    /// 1. the only tool whose name is the same if `.`, `-` and `_` count as equal, then also in another case;
    /// 2. the only tool whose name follows a namespace: its server's name (`weather.get_forecast`) or a common one
    ///    (`functions.get_forecast`), the longest such name first;
    /// 3. the only tool whose own name has a namespace that was left out.
    ///
    /// A name with a hash at its end, as a request with tools offers it ([`wire_name`](crate::wire::wire_name)), is
    /// matched before all of these.
    ///
    /// A word before a name that is neither its server's nor a common namespace makes it another name:
    /// `preview_delete_file` does not mean `delete_file`, nor does `github.delete` mean `delete`. A server that is
    /// named in the namespace and does not have the tool is not replaced by another.
    ///
    /// # Errors
    /// [`NotFound`] with all tools that the name matches equally well, or the nearest names.
    pub fn resolve(&self, server: Option<&str>, name: &str) -> Result<Found<'_>, NotFound> {
        let exact = self.find(server, name);
        // A name that some server has is not another spelling of one.
        if exact.is_ok() || self.knows(name) || name == ACCESS_RESOURCE {
            return exact;
        }
        let found = self.alike(server, name, exact);
        // The number may belong to the tool's name, so the whole name is tried first.
        match numbered(name).filter(|_| found.is_err()).map(|name| self.resolve(server, name)) {
            Some(Ok(numbered)) => Ok(Found { name_matched: true, ..numbered }),
            _ => found,
        }
    }

    /// Returns the only tool whose name is `name` except for case, separators and namespaces; `exact` if there is none,
    /// and an error if there are several.
    fn alike<'c>(
        &'c self,
        server: Option<&str>,
        name: &str,
        exact: Result<Found<'c>, NotFound>,
    ) -> Result<Found<'c>, NotFound> {
        // An unknown server may be misspelled, so it excludes no tool.
        let known = server.filter(|name| self.server(name).is_some());
        let in_scope = |tool: &&Tool| known.is_none() || tool.server.as_deref() == known;
        for rule in RULES {
            let fits: Vec<_> =
                self.tools().filter(in_scope).filter_map(|tool| Some((rule(self, tool, name)?, tool))).collect();
            // The longest matching name is the one with the shortest namespace.
            let Some(shortest) = fits.iter().map(|(length, _)| *length).min() else { continue };
            let best: Vec<_> = fits.into_iter().filter(|(length, _)| *length == shortest).map(|(_, t)| t).collect();
            return match best.as_slice() {
                [tool] => Ok(Found {
                    tool,
                    // `weather.get_forecast` has named its server in the name.
                    server_resolved: tool.server.as_deref() != server && !names_server(tool, &name[..shortest]),
                    name_matched: true,
                }),
                several => Err(NotFound {
                    server: server.map(str::to_owned),
                    tool: name.to_owned(),
                    nearest: several.iter().map(|tool| self.tag(tool).into_owned()).collect(),
                }),
            };
        }
        exact
    }

    /// Returns the length of the namespace and separators before the tool's name in `written`; `None` if `written` does
    /// not mean the tool.
    fn namespace_before(&self, tool: &Tool, written: &str) -> Option<usize> {
        let at = written.len().checked_sub(tool.name.len()).filter(|at| written.is_char_boundary(*at))?;
        let (before, name) = written.split_at(at);
        if !same_in_any_case(&tool.name, name) {
            return None;
        }
        if names_server(tool, before) {
            // The text before the server's name does not matter.
            return separated(before).map(|_| at);
        }
        let (namespace, _) = separated(before)?;
        // `github.delete` names another server's tool.
        let other = self.servers.iter().filter_map(|s| s.name.as_deref()).any(|server| ends_in(namespace, server));
        (!other && is_namespace(namespace)).then_some(at)
    }
}

/// Returns 0 if the tool's own name is `written` after a namespace that the model left out; otherwise `None`.
fn left_out(tool: &Tool, written: &str) -> Option<usize> {
    let at = tool.name.len().checked_sub(written.len()).filter(|at| tool.name.is_char_boundary(*at))?;
    let (before, name) = tool.name.split_at(at);
    let (namespace, _) = separated(before).filter(|_| same_in_any_case(name, written))?;
    (names_server(tool, before) || is_spelt_out(namespace, written)).then_some(0)
}

/// Returns `true` if the word before a tool's name is a common namespace. Any other word belongs to the name, which is
/// then another tool's: `preview_delete_file`, `undo.delete`, `github.delete`.
fn is_namespace(namespace: &str) -> bool {
    NAMESPACES.iter().any(|known| same_in_any_case(namespace, known))
}

/// Returns `true` if the name has several words and the text before it does not change its meaning.
fn is_spelt_out(namespace: &str, name: &str) -> bool {
    let turning = TURNING.iter().any(|word| same_in_any_case(namespace, word));
    // A single word such as `delete` may mean a tool of any namespace.
    name.contains(['.', '-', '_']) && !turning
}

/// Removes the number of the call from a name in the form of Kimi's identifiers: `functions.search:2`, and
/// `functions_search_2`, which servers write that allow fewer characters (huggingface.co/moonshotai/Kimi-K2-Instruct,
/// docs/tool_call_guidance.md).
fn numbered(name: &str) -> Option<&str> {
    let rest = name.strip_prefix("functions").filter(|name| name.starts_with(['.', '_', ':', '-']))?;
    let digits = rest.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = rest.len() - digits.len();
    // Kimi's identifiers have a name, a separator and a number after the namespace.
    (number > 0 && digits.len() > 2 && digits.ends_with(['_', ':', '-'])).then(|| &name[..name.len() - number - 1])
}

/// Returns `true` if `before` ends in the name of the tool's server and a separator.
fn names_server(tool: &Tool, before: &str) -> bool {
    let parts = tool.server.as_deref().zip(separated(before));
    parts.is_some_and(|(server, (namespace, _))| ends_in(namespace, server))
}

/// Returns `true` if a namespace is `server`, or ends in it after a separator.
fn ends_in(namespace: &str, server: &str) -> bool {
    let Some(at) = namespace.len().checked_sub(server.len()).filter(|at| namespace.is_char_boundary(*at)) else {
        return false;
    };
    let (before, name) = namespace.split_at(at);
    // The server's name must be a whole word of the namespace.
    !server.is_empty() && same_in_any_case(name, server) && (before.is_empty() || before.ends_with(is_separator))
}

/// Splits a namespace and the separators after it, if there are both.
fn separated(before: &str) -> Option<(&str, &str)> {
    let namespace = before.trim_end_matches(is_separator);
    let separator = &before[namespace.len()..];
    (!namespace.is_empty() && !separator.is_empty()).then_some((namespace, separator))
}

fn is_separator(c: char) -> bool {
    matches!(c, '.' | '-' | '_' | '/' | ':')
}

/// Returns `true` if two names are the same when `.`, `-`, `_` and spaces count as equal.
fn same(a: &str, b: &str) -> bool {
    let folded = |c: char| if matches!(c, '.' | '-' | ' ') { '_' } else { c };
    a.len() == b.len() && a.chars().map(folded).eq(b.chars().map(folded))
}

fn same_in_any_case(a: &str, b: &str) -> bool {
    same(&a.to_ascii_lowercase(), &b.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalog() -> Catalog {
        Catalog::from_tools([
            Tool::new("get_forecast").with_server("weather"),
            Tool::new("get.alerts").with_server("weather"),
            Tool::new("search").with_server("web"),
            Tool::new("search").with_server("files"),
            Tool::new("read_file").with_server("files"),
            Tool::new("read-file").with_server("old-files"),
            Tool::new("order").with_server("shop"),
            Tool::new("github_create_issue").with_server("git"),
            Tool::new("issue").with_server("git"),
        ])
    }

    fn resolved(server: Option<&str>, name: &str) -> Result<(String, bool, bool), Vec<String>> {
        let catalog = catalog();
        let found = catalog.resolve(server, name).map_err(|error| error.nearest)?;
        let tool = format!("{}/{}", found.tool.server.as_deref().unwrap_or_default(), found.tool.name);
        Ok((tool, found.server_resolved, found.name_matched))
    }

    #[test]
    fn an_exact_name_is_found_as_before() {
        assert_eq!(resolved(Some("weather"), "get_forecast"), Ok(("weather/get_forecast".into(), false, false)));
        assert_eq!(resolved(None, "get_forecast"), Ok(("weather/get_forecast".into(), true, false)));
        assert_eq!(resolved(None, "read_file"), Ok(("files/read_file".into(), true, false)));
        assert_eq!(resolved(None, "search"), Err(vec!["web.search".into(), "files.search".into()]));
        assert_eq!(resolved(Some("web"), "get_forecast").unwrap_err()[0], "weather.get_forecast");
    }

    #[test]
    fn other_separators_and_case_say_the_same_where_one_tool_fits() {
        for name in ["get-forecast", "get.forecast", "GET_FORECAST", "Get-Forecast"] {
            assert_eq!(resolved(None, name), Ok(("weather/get_forecast".into(), true, true)), "{name}");
            assert_eq!(resolved(Some("weather"), name), Ok(("weather/get_forecast".into(), false, true)), "{name}");
        }
        assert_eq!(resolved(None, "get_alerts").unwrap().0, "weather/get.alerts");
        assert_eq!(resolved(None, "read.file").unwrap_err(), ["read_file", "read-file"]);
        assert_eq!(resolved(Some("old-files"), "read_file").unwrap_err().len(), 2, "a known server is not replaced");
        assert_eq!(resolved(Some("old-files"), "read.file").unwrap().0, "old-files/read-file");
    }

    #[test]
    fn a_name_is_found_after_a_namespace() {
        for name in [
            "weather.get_forecast",
            "weather_get_forecast",
            "weather/get-forecast",
            "functions.weather.get_forecast",
            "mcp__weather__get_forecast",
        ] {
            assert_eq!(resolved(None, name), Ok(("weather/get_forecast".into(), false, true)), "{name}");
        }
        for name in ["functions.get_forecast", "functions:get_forecast", "mcp_get_forecast"] {
            assert_eq!(resolved(None, name), Ok(("weather/get_forecast".into(), true, true)), "{name}");
        }
        assert_eq!(resolved(Some("weather"), "weather_get_forecast").unwrap().0, "weather/get_forecast");
    }

    #[test]
    fn the_server_in_a_namespace_decides_between_tools_of_one_name() {
        assert_eq!(resolved(None, "files.search").unwrap().0, "files/search");
        assert_eq!(resolved(None, "web_search").unwrap().0, "web/search");
        assert_eq!(resolved(None, "functions.search").unwrap_err(), ["web.search", "files.search"]);
        assert!(resolved(None, "web.get_forecast").is_err(), "a known server is not replaced");
    }

    #[test]
    fn a_word_is_not_a_name_after_another_word() {
        for name in ["cancel_order", "cancel-order", "preorder", "reorder", "_order", ".order"] {
            assert!(resolved(None, name).is_err(), "{name}");
        }
        for name in [
            "undo_get_forecast", "Re-get_forecast", "dry-run_get_forecast", "my_get_forecast", "preview-get-forecast",
            "xmcp_get_forecast",
        ] {
            assert!(resolved(None, name).is_err(), "{name}");
        }
        for name in ["undo.order", "dry_run.order", "github/order", "api.order", "my.get_forecast", "x__get_forecast"] {
            assert!(resolved(None, name).is_err(), "{name}");
        }
        for name in ["shop_order", "functions_order", "functions.order", "tools/order"] {
            assert_eq!(resolved(None, name).unwrap().0, "shop/order", "{name}");
        }
    }

    #[test]
    fn a_namespace_may_be_left_out() {
        assert_eq!(resolved(None, "create_issue"), Ok(("git/github_create_issue".into(), true, true)));
        assert!(resolved(None, "create").is_err());
    }

    #[test]
    fn the_number_of_a_call_is_no_part_of_a_name_after_functions() {
        for name in ["functions_get_forecast_2", "functions.get_forecast:0", "functions_order_10"] {
            assert!(resolved(None, name).is_ok_and(|(_, _, matched)| matched), "{name}");
        }
        for name in ["get_forecast_2", "functions_2", "functions__2", "functions_undo_order_1", "functions_order2"] {
            assert!(resolved(None, name).is_err(), "{name}");
        }
        let numbered = Catalog::from_tools([Tool::new("page"), Tool::new("page_2")]);
        assert_eq!(numbered.resolve(None, "functions_page_2").unwrap().tool.name, "page_2");
    }

    #[test]
    fn likeness_is_not_enough() {
        for name in ["get_forecasts", "getforecast", "get_forcast", "forecast", "", "_", "é"] {
            assert!(resolved(None, name).is_err(), "{name}");
        }
    }
}
