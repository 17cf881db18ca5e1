//! The settings of the conversations in one folder: what `/set` and `/allow` of `chat` were told there.
//!
//! They are kept in the user's `config.toml`, in a table by the folder's path without links
//! (`[folders."/home/kim/notes"]`). Nothing is read from the folder itself: files that somebody else made grant no
//! permission.

use std::path::PathBuf;

use toml_edit::{DocumentMut, Item, Table};

use super::file;
use super::keys::{Settings, Values, is_set};
use crate::base::Failure;

/// The working directory and the configuration file that contains its settings.
pub(crate) struct Folder {
    /// Path of the configuration file; `None` if there is no home directory.
    file: Option<PathBuf>,
    place: String,
}

impl Folder {
    /// Returns the current working directory as a key for its settings.
    pub(crate) fn here() -> Self {
        let place = std::env::current_dir().and_then(|here| here.canonicalize()).unwrap_or_default();
        Folder { file: file::path(), place: place.display().to_string() }
    }

    /// Returns the saved settings of the working directory.
    pub(crate) fn settings(&self) -> Result<Settings, Failure> {
        let content = self.file.as_deref().map(file::read_from).transpose()?;
        Ok(content.and_then(|mut content| content.folders.remove(&self.place)).unwrap_or_default())
    }

    /// Changes the saved settings of the working directory, which apply to chats that start there later.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Values)) -> Result<(), Failure> {
        let file = self.file.as_deref().ok_or_else(|| Failure::job("there is no home directory to keep it in"))?;
        // Read again: another conversation may have changed it.
        let mut values = self.settings()?.values();
        change(&mut values);
        values.retain(|_, value| is_set(value));
        let table = toml_edit::ser::to_document(&values).map(DocumentMut::into_table).map_err(Failure::job)?;
        file::edit(file, false, |document| {
            let folders = document.entry("folders").or_insert_with(|| {
                let mut new = Table::new();
                new.set_implicit(true);
                Item::Table(new)
            });
            let wrong = || file::unfit(file, "\"folders\" has to be written as [folders.\"PATH\"] tables");
            let folders = folders.as_table_mut().ok_or_else(wrong)?;
            match values.is_empty() {
                true => drop(folders.remove(&self.place)),
                false => folders[self.place.as_str()] = Item::Table(table),
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn each_folder_has_its_own_and_what_is_taken_back_leaves_nothing() {
        let state = tempfile::tempdir().unwrap();
        let folder = |place: &str| Folder { file: Some(state.path().join("x/config.toml")), place: place.into() };
        let (one, other) = (folder("/one"), folder("/other"));
        one.change(|values| {
            values.extend([("temperature".to_owned(), json!(0.3)), ("allow".to_owned(), json!(["a/*"]))])
        })
        .unwrap();
        let settings = one.settings().unwrap();
        assert_eq!((settings.temperature, settings.allow), (Some(0.3), vec!["a/*".to_owned()]));
        assert_eq!(other.settings().unwrap(), Settings::default());
        one.change(|values| {
            values.insert("temperature".to_owned(), Value::Null);
            values.insert("allow".to_owned(), json!([]));
        })
        .unwrap();
        assert_eq!(std::fs::read_to_string(state.path().join("x/config.toml")).unwrap(), "");
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named_and_stays() {
        let state = tempfile::tempdir().unwrap();
        let file = state.path().join("config.toml");
        let folder = Folder { file: Some(file.clone()), place: "/one".into() };
        for text in ["{", "folders = 3\n", "[folders.\"/one\"]\nno = 1\n"] {
            std::fs::write(&file, text).unwrap();
            let Err(Failure::Usage(message)) = folder.settings() else { panic!("{text}") };
            assert!(message.contains("config.toml:"), "{message}");
            assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
        }
    }
}
