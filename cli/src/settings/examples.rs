//! Examples of tools that a model made, for prompts that show some: `examples.json` among the files for
//! state, by model and by what the tool is. A file that cannot be read is as good as none.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use serde::{Deserialize, Serialize};
use serde_json::json;
use toolgraft::agent::make_example;
use toolgraft::dialect::Lang;
use toolgraft::model::ModelError;
use toolgraft::prompt::ExampleSource;
use toolgraft::tools::ToolExample;
use toolgraft::{OpenAi, Tool};

use crate::base::{digest::sha256, state};

const FILE: &str = "examples.json";

/// Where the examples of the compact prompt come from, of tools that have none of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Examples {
    /// The tool's schema.
    Schema,
    /// The model, once for each tool.
    Made,
}

/// Tools of one model that are kept. Of more nothing is made: a client may bring any number.
const MOST: usize = 2_000;

/// By a model's name and a tool's hash; `None` where the model made none that was right.
type Kept = BTreeMap<String, BTreeMap<String, Option<ToolExample>>>;

/// The examples that one model made.
#[derive(Clone)]
pub(crate) struct MadeExamples {
    model: String,
    known: Arc<RwLock<BTreeMap<String, Option<ToolExample>>>>,
    /// How often some were added.
    changes: Arc<AtomicU64>,
}

impl MadeExamples {
    /// Those that are kept of a model.
    pub(crate) fn of(model: &str) -> Self {
        let known = state::read::<Kept>(FILE).remove(model).unwrap_or_default();
        MadeExamples { model: model.to_owned(), known: Arc::new(RwLock::new(known)), changes: Arc::default() }
    }

    /// The examples of a tool; `None` where nothing is known of it yet.
    pub(crate) fn known(&self, tool: &Tool) -> Option<Vec<ToolExample>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.get(&hash(tool)).map(|example| example.iter().cloned().collect())
    }

    /// How often some were added.
    pub(crate) fn changes(&self) -> Arc<AtomicU64> {
        self.changes.clone()
    }

    /// Where a prompt finds them.
    pub(crate) fn source(&self) -> ExampleSource {
        let known = self.clone();
        ExampleSource::new(move |tool| known.known(tool).unwrap_or_default())
    }

    /// The tools of which nothing is known, and that have no examples of their own, each once.
    pub(crate) fn missing<'a>(&self, tools: impl Iterator<Item = &'a Tool>) -> Vec<Tool> {
        let missing = tools.filter(|tool| tool.examples.is_empty() && self.known(tool).is_none());
        let missing: BTreeMap<String, Tool> = missing.map(|tool| (hash(tool), tool.clone())).collect();
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner).len();
        missing.into_values().take(MOST.saturating_sub(known)).collect()
    }

    /// Has the model make them, and keeps them once all are made: until then each prompt is as before.
    ///
    /// # Errors
    /// The model cannot be asked. What it made before counts all the same.
    pub(crate) async fn make(&self, client: &OpenAi, tools: &[Tool], lang: Lang) -> Result<(), ModelError> {
        let (mut made, mut failed) = (BTreeMap::new(), Ok(()));
        for tool in tools {
            match make_example(client, tool, lang).await {
                Ok(example) => drop(made.insert(hash(tool), example)),
                Err(error) => {
                    failed = Err(error);
                    break;
                }
            }
        }
        self.known.write().unwrap_or_else(PoisonError::into_inner).extend(made.clone());
        self.changes.fetch_add(1, Ordering::Relaxed);
        keep(&self.model, made);
        failed
    }
}

/// What a tool is, but for its place: an example of it is one as long as none of that changes.
fn hash(tool: &Tool) -> String {
    sha256(json!([tool.name, tool.description, tool.input_schema]).to_string().as_bytes())
}

/// Adds to the file. What cannot be written is made again another time.
fn keep(model: &str, made: BTreeMap<String, Option<ToolExample>>) {
    if !made.is_empty() {
        state::change(FILE, |kept: &mut Kept| {
            kept.entry(model.to_owned()).or_default().extend(made);
            true
        });
    }
}
