//! What holds for the conversations in one folder: what `/set` and `/allow` of `chat` were told
//! there.
//!
//! It is kept in `folders.json` among the program's own files, by the folder's path without
//! links. Nothing of it is read from the folder itself: what somebody else made brings no
//! permission along.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::keys::Settings;
use crate::base::{Failure, state};

/// Keys of [`Settings`] with their values, as JSON has them.
type Values = Map<String, Value>;

#[derive(Default, Serialize, Deserialize)]
struct Kept {
    /// By place.
    folders: BTreeMap<PathBuf, Values>,
}

/// The working directory, and where its settings are kept.
pub(crate) struct Folder {
    /// `None` where there is no home.
    file: Option<PathBuf>,
    place: PathBuf,
}

impl Folder {
    /// The working directory.
    pub(crate) fn here() -> Self {
        let place = std::env::current_dir().and_then(|here| here.canonicalize());
        Folder { file: state::file("folders.json"), place: place.unwrap_or_default() }
    }

    /// What holds here.
    pub(crate) fn settings(&self) -> Result<Settings, Failure> {
        let values = Value::Object(self.values()?);
        let file = self.file.as_deref().unwrap_or(Path::new(""));
        serde_json::from_value(values).map_err(|error| unread(format!("cannot read {}: {error}", file.display())))
    }

    /// The same as keys and values; those that say nothing are not there.
    pub(crate) fn values(&self) -> Result<Values, Failure> {
        Ok(self.read()?.folders.remove(&self.place).unwrap_or_default())
    }

    /// Changes what holds here from the next start on.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Values)) -> Result<(), Failure> {
        let file = self.file.as_deref().ok_or_else(|| Failure::job("there is no home directory to keep it in"))?;
        // Read anew: another conversation may have changed it.
        let mut kept = self.read()?;
        let mut values = kept.folders.remove(&self.place).unwrap_or_default();
        change(&mut values);
        values.retain(|_, value| !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty()));
        if !values.is_empty() {
            kept.folders.insert(self.place.clone(), values);
        }
        state::write_versioned(file, &kept).map_err(Failure::job)
    }

    fn read(&self) -> Result<Kept, Failure> {
        self.file.as_deref().map_or_else(|| Ok(Kept::default()), state::read_versioned).map_err(unread)
    }
}

fn unread(problem: String) -> Failure {
    Failure::usage(format!("{problem}: mend it, or remove it"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_folder_has_its_own_and_what_is_taken_back_leaves_nothing() {
        let state = tempfile::tempdir().unwrap();
        let folder = |place: &str| Folder { file: Some(state.path().join("x/folders.json")), place: place.into() };
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
        assert_eq!(one.read().unwrap().folders.len(), 0);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named_and_stays() {
        let state = tempfile::tempdir().unwrap();
        let file = state.path().join("folders.json");
        let folder = Folder { file: Some(file.clone()), place: "/one".into() };
        for text in
            ["{", "{\"toolgraft\": 2, \"folders\": {}}", "{\"toolgraft\": 1, \"folders\": {\"/one\": {\"no\": 1}}}"]
        {
            std::fs::write(&file, text).unwrap();
            let Err(Failure::Usage(message)) = folder.settings() else { panic!("{text}") };
            assert!(message.contains("folders.json") && message.contains("mend it"), "{message}");
            assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
        }
    }
}
