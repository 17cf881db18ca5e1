//! The ways that `toolgraft probe` found best, saved for each model of each endpoint.
//!
//! Tables of `config.toml`, which people may edit:
//!
//! ```toml
//! [[probed]]
//! name = "qwen3:8b"                        # as the endpoint lists it
//! endpoint = "http://localhost:11434/v1"   # without it, wherever the model is
//! tools_mode = "prompt"                    # or auto, native
//! dialect = "tool_tag"
//! prompt_style = "compact"
//! listing = "signature"
//! constrain = "auto"                       # or off, require
//! way = "measured"                         # or free, auto
//! call_threshold = -2.0                    # for measured
//! ```
//!
//! Settings for all models come first, then these, then the built-in profile.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::SystemTime;

use toml_edit::{ArrayOfTables, DocumentMut, Item, Table};

use super::file::{self, path};
use super::keys::Settings;
pub(crate) use super::probed::SavedProfile;
use crate::base::Failure;

/// Returns the time at which the configuration file was last written; `None` if there is no file.
pub(crate) fn written() -> Option<SystemTime> {
    std::fs::metadata(path()?).and_then(|file| file.modified()).ok()
}

/// Returns the saved profile of a model at an endpoint, or else the one saved for the model at any endpoint; `None` if
/// there is neither.
///
/// # Errors
/// The configuration file cannot be read or has faults.
pub(crate) fn find(endpoint: Option<&str>, model: &str) -> Result<Option<SavedProfile>, Failure> {
    Ok(fitting(&file::read()?.probed, endpoint, model).cloned())
}

/// Returns one saved profile for each model that has one for this endpoint or for any endpoint.
///
/// # Errors
/// The configuration file cannot be read or has faults.
pub(crate) fn all_at(endpoint: &str) -> Result<Vec<SavedProfile>, Failure> {
    Ok(each_at(&file::read()?.probed, endpoint))
}

fn each_at(kept: &[SavedProfile], endpoint: &str) -> Vec<SavedProfile> {
    let names: BTreeSet<&str> = kept.iter().map(|kept| kept.name.as_str()).collect();
    names.into_iter().filter_map(|name| fitting(kept, Some(endpoint), name).cloned()).collect()
}

/// Returns the saved profile for the model at the endpoint, or else one that applies at any endpoint; without an
/// endpoint, any profile of the model.
fn fitting<'a>(kept: &'a [SavedProfile], endpoint: Option<&str>, model: &str) -> Option<&'a SavedProfile> {
    let of_model = || kept.iter().filter(|kept| kept.name == model);
    let is_here =
        |kept: &&SavedProfile| kept.endpoint.is_some() && kept.endpoint.as_deref().map(place) == endpoint.map(place);
    of_model().find(is_here).or_else(|| of_model().find(|kept| kept.endpoint.is_none() || endpoint.is_none()))
}

/// Returns an endpoint's URL in a normalized spelling: no slash at its end, scheme and host in lower case, and
/// `localhost` for each address of this computer.
pub(crate) fn place(url: &str) -> String {
    let url = url.trim_end_matches('/');
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let mut host = host.to_ascii_lowercase();
    for here in ["127.0.0.1", "[::1]", "0.0.0.0", "[::]"] {
        if let Some(port) = host.strip_prefix(here).filter(|port| port.is_empty() || port.starts_with(':')) {
            host = format!("localhost{port}");
        }
    }
    format!("{}://{host}{path}", scheme.to_ascii_lowercase())
}

/// Saves a profile in the configuration file, in place of one of the same model at the same endpoint.
///
/// # Errors
/// The file cannot be read or written, or has faults; it is then left unchanged.
pub(crate) fn save(path: &Path, profile: &SavedProfile) -> Result<(), Failure> {
    file::edit(path, false, |document| {
        let tables = document.entry("probed").or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
        let wrong = || file::unfit(path, "\"probed\" has to be written as [[probed]] tables");
        let tables = tables.as_array_of_tables_mut().ok_or_else(wrong)?;
        let is_same = |table: &Table| {
            table.get("name").and_then(Item::as_str) == Some(&profile.name)
                && table.get("endpoint").and_then(Item::as_str).map(place) == profile.endpoint.as_deref().map(place)
        };
        let known = tables.iter().position(is_same);
        match known.and_then(|at| tables.get_mut(at)) {
            Some(table) => profile.write_into(table),
            None => tables.push(profile.table()),
        }
        Ok(())
    })
}

impl SavedProfile {
    /// Returns the saved profile as a TOML table with its header `[[probed]]`.
    pub(crate) fn text(&self) -> String {
        format!("[[probed]]\n{}", self.table())
    }

    /// Returns the saved settings as pairs of key and value, without the name and the endpoint.
    pub(crate) fn kept(&self) -> Vec<(String, String)> {
        let table = self.table();
        let settings = table.iter().filter(|(key, _)| !["name", "endpoint"].contains(key));
        let number = |item: &Item| item.as_float().unwrap_or_default().to_string();
        let text = |item: &Item| item.as_str().map_or_else(|| number(item), str::to_owned);
        settings.map(|(key, item)| (key.to_owned(), text(item))).collect()
    }

    fn table(&self) -> Table {
        // Words and a number can all be written.
        toml_edit::ser::to_document(self).map(DocumentMut::into_table).unwrap_or_default()
    }

    /// Replaces the content of an existing table with this profile; keys that it does not set are removed.
    fn write_into(&self, table: &mut Table) {
        let kept = self.table();
        table.retain(|key, _| kept.contains_key(key));
        for (key, item) in kept {
            table[key.as_str()] = item;
        }
    }
}

/// Converts the settings that `toolgraft probe` saved.
impl From<&SavedProfile> for Settings {
    fn from(saved: &SavedProfile) -> Self {
        let SavedProfile { tools_mode, dialect, prompt_style, listing, constrain, way, call_threshold, .. } = *saved;
        let rest = Settings::default();
        Settings { tools_mode, dialect, prompt_style, listing, constrain, way, call_threshold, ..rest }
    }
}

#[cfg(test)]
mod tests {
    use toolgraft::Dialect;
    use toolgraft::constrain::{Constrain, Way};
    use toolgraft::dialect::PromptStyle;
    use toolgraft::prompt::Listing;
    use toolgraft::tools::ToolsMode;

    use super::*;

    fn find_in(path: &Path, endpoint: Option<&str>, model: &str) -> Result<Option<SavedProfile>, Failure> {
        Ok(fitting(&file::read_from(path)?.probed, endpoint, model).cloned())
    }

    fn compact(name: &str, endpoint: Option<&str>) -> SavedProfile {
        SavedProfile {
            name: name.to_owned(),
            endpoint: endpoint.map(str::to_owned),
            tools_mode: Some(ToolsMode::Prompt),
            dialect: Some(Dialect::ToolTag),
            prompt_style: Some(PromptStyle::Compact),
            listing: Some(Listing::Signature),
            constrain: Some(Constrain::Require),
            way: Some(Way::Measured),
            call_threshold: Some(-4.5),
        }
    }

    #[test]
    fn a_profile_is_found_for_its_endpoint_and_else_for_its_model() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("toolgraft/config.toml");
        save(&path, &compact("m", Some("http://a/v1"))).unwrap();
        let native = SavedProfile { tools_mode: Some(ToolsMode::Native), ..SavedProfile::default() };
        save(&path, &SavedProfile { name: "m".to_owned(), ..native }).unwrap();
        let found = |endpoint, model| find_in(&path, endpoint, model).unwrap();
        assert_eq!(found(Some("http://a/v1"), "m").unwrap(), compact("m", Some("http://a/v1")));
        assert_eq!(found(Some("http://b/v1"), "m").unwrap().tools_mode, Some(ToolsMode::Native));
        assert!(found(None, "m").is_some() && found(None, "other").is_none());
        let all = |endpoint: &str| each_at(&file::read_from(&path).unwrap().probed, endpoint);
        assert_eq!(all("http://a/v1"), [compact("m", Some("http://a/v1"))]);
        assert_eq!(
            all("http://b/v1").iter().map(|kept| kept.tools_mode).collect::<Vec<_>>(),
            [Some(ToolsMode::Native)]
        );
        save(&path, &compact("n", Some("http://127.0.0.1:8080/v1"))).unwrap();
        for same in ["http://localhost:8080/v1/", "http://[::1]:8080/v1", "HTTP://LocalHost:8080/v1"] {
            assert!(found(Some(same), "n").is_some(), "{same}");
        }
        for other in ["http://localhost:8081/v1", "http://localhost:8080/V1", "http://127.0.0.10:8080/v1"] {
            assert!(found(Some(other), "n").is_none(), "{other}");
        }
    }

    #[test]
    fn what_is_kept_is_replaced_and_the_rest_of_the_file_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        let text = "# mine\n[[probed]]\nname = \"x\" # the big one\nprompt_style = \"full\"\n\n[[probed]]\nname = \"m\"\nlisting = \"schema\"\n";
        std::fs::write(&path, text).unwrap();
        save(&path, &compact("m", None)).unwrap();
        let written = std::fs::read_to_string(&path).unwrap();
        assert!(
            written.starts_with("# mine\n[[probed]]\nname = \"x\" # the big one\nprompt_style = \"full\"\n"),
            "{written}"
        );
        assert_eq!(written.matches("name = \"m\"").count(), 1, "{written}");
        assert_eq!(find_in(&path, None, "m").unwrap().unwrap(), compact("m", None));
    }

    #[test]
    fn faults_name_the_file_and_the_line_and_nothing_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        for (text, words) in [
            (
                "[[probed]]\nname = \"m\"\nprompt_styel = \"full\"\n",
                "config.toml:3: [[probed]] 1: unknown field `prompt_styel`",
            ),
            ("[[probed]]\nname = \"m\"\nprompt_style = \"long\"\n", "config.toml:3: [[probed]] 1: "),
            ("[[probed]]\nname = \"m\"\nconstrain = \"always\"\n", "config.toml:3: [[probed]] 1: "),
            ("[[probed]]\nname = \"m\"\ndialect = \"hermess\"\n", "config.toml:3: [[probed]] 1: "),
            ("probed = 3\n", "config.toml:1: "),
        ] {
            std::fs::write(&path, text).unwrap();
            let Failure::Usage(message) = find_in(&path, None, "m").unwrap_err() else { panic!("{text}") };
            assert!(message.contains(words), "{message}");
        }
        std::fs::write(&path, "probed = 3\n").unwrap();
        assert!(save(&path, &compact("m", None)).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "probed = 3\n");
    }
}
