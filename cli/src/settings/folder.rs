//! What holds for the conversations in one folder: what `/set` and `/allow` of `chat` were told
//! there.
//!
//! It is kept in `folders.json` among the program's own files, by the folder's path without
//! links. Nothing of it is read from the folder itself: what somebody else made brings no
//! permission along.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::keys::Settings;
use crate::base::{Failure, state};
use toolgraft_files::{self as files, Mode};

/// The only version of the file that there is.
const VERSION: u32 = 1;

/// Keys of [`Settings`] with their values, as JSON has them.
type Values = Map<String, Value>;

#[derive(Serialize, Deserialize)]
struct Kept {
    toolgraft: u32,
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
        serde_json::from_value(Value::Object(self.values()?)).map_err(|error| self.unread(&error))
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
        let failed = |error: std::io::Error| Failure::job(format!("cannot write {}: {error}", file.display()));
        let text = serde_json::to_string_pretty(&kept).map_err(|error| failed(error.into()))?;
        files::replace(file, format!("{text}\n").as_bytes(), Mode::Private).map_err(failed)
    }

    fn read(&self) -> Result<Kept, Failure> {
        let none = Kept { toolgraft: VERSION, folders: BTreeMap::new() };
        let Some(file) = &self.file else { return Ok(none) };
        let kept: Kept = match std::fs::read(file) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| self.unread(&error))?,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(none),
            Err(error) => return Err(self.unread(&error)),
        };
        match kept.toolgraft {
            VERSION => Ok(kept),
            other => Err(self.unread(&format!("it has format {other}, this program knows {VERSION}"))),
        }
    }

    fn unread(&self, why: &dyn std::fmt::Display) -> Failure {
        let file = self.file.clone().unwrap_or_default();
        Failure::usage(format!("cannot read {}: {why}: mend it, or remove it", file.display()))
    }
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
