//! Examples that the model makes of the tools that come by, beside the requests. Until those of all tools
//! that came together are made, prompts are as before: their beginning changes once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::mpsc;
use toolgraft::dialect::Lang;
use toolgraft::prompt::ExampleSource;
use toolgraft::{OpenAi, Tool};

use crate::base::output;
use crate::settings::examples::MadeExamples;

/// Tools that wait for examples at most; others are told of by a later request.
const MOST: usize = 256;

/// Time in which the tools of a request come together.
const GATHER: Duration = Duration::from_millis(200);

/// Time until a model that could not be asked is asked again.
const PAUSE: Duration = Duration::from_secs(60);

/// Where prompts find them, as long as they are `wanted`. An endpoint without a named model is asked for
/// its first one.
pub(super) fn source(wanted: Arc<AtomicBool>, client: OpenAi, model: Option<&str>, place: &str) -> ExampleSource {
    let made = MadeExamples::of(model.unwrap_or(place));
    let (changes, (tell, told)) = (made.changes(), mpsc::channel(MOST));
    tokio::spawn(make(made.clone(), client, model.is_none(), told));
    ExampleSource::new(move |tool| {
        if !wanted.load(Ordering::Relaxed) {
            return Vec::new();
        }
        made.known(tool).unwrap_or_else(|| {
            // Where too many wait, a later request tells of it once more.
            let _ = tell.try_send(tool.clone());
            Vec::new()
        })
    })
    .counting(changes)
}

async fn make(made: MadeExamples, mut client: OpenAi, is_unnamed: bool, mut told: mpsc::Receiver<Tool>) {
    while let Some(first) = told.recv().await {
        tokio::time::sleep(GATHER).await;
        let mut tools = vec![first];
        while let Ok(tool) = told.try_recv() {
            tools.push(tool);
        }
        if is_unnamed && let Some(first) = client.models().await.unwrap_or_default().first() {
            client = client.with_model(first.id.as_str());
        }
        if let Err(error) = made.make(&client, &made.missing(tools.iter()), Lang::En).await {
            output::warn(&format!("no examples were made: {error}"));
            tokio::time::sleep(PAUSE).await;
        }
    }
}
