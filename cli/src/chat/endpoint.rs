//! Which endpoint and model to talk to.

use std::time::Duration;

use futures::future::join_all;

use super::args::{EndpointArgs, ModelArgs};
use crate::ask::Asker;
use crate::{Failure, output};
use toolgraft::model::{ModelError, ModelInfo, OpenAi, OpenAiBuilder, Tracer};
use toolgraft::profile::Profile;
use toolgraft::secrets::Secrets;

/// Servers that people run on their own machine, by their usual ports.
const LOCAL: [(&str, &str); 3] = [
    ("LM Studio", "http://localhost:1234/v1"),
    ("Ollama", "http://localhost:11434/v1"),
    ("llama.cpp", "http://localhost:8080/v1"),
];

/// Time that a local server has to say which models it has. It is on this
/// machine and has nothing to load for that.
const PROBE: Duration = Duration::from_millis(1500);

/// Most models that an error names.
const MAX_NAMES: usize = 30;

/// An endpoint and one of its models.
#[derive(Clone)]
pub(super) struct Endpoint {
    /// Base URL, as given.
    url: String,
    /// `Ollama`, where it was found by its port.
    found: Option<&'static str>,
    key: Option<String>,
    /// Where all that goes over the wire is written.
    tracer: Option<Tracer>,
    /// What the endpoint says of its models, as far as it was asked.
    listed: Vec<ModelInfo>,
    /// The model that is talked to; empty until it is chosen.
    pub(super) model: String,
}

impl Endpoint {
    /// The endpoint and model of the flags, of the environment, or of this machine.
    pub(super) async fn choose(args: &EndpointArgs, asker: Option<&Asker>) -> Result<Self, Failure> {
        let named = args.base_url.clone().or_else(|| variable("OPENAI_BASE_URL"));
        match named {
            Some(url) => {
                let key = args.api_key.clone().or_else(|| variable("OPENAI_API_KEY"));
                let mut endpoint = Endpoint::new(url, None, key);
                // Whether the URL is one is said before anything is asked.
                let client = endpoint.builder().build().map_err(Failure::usage)?;
                let model = match &args.model {
                    Some(model) => model.clone(),
                    None => {
                        endpoint.listed = listed(client.models().await)?;
                        endpoint.pick(asker).await?
                    }
                };
                Ok(endpoint.with_model(&model))
            }
            None => Endpoint::local(args, asker).await,
        }
    }

    fn new(url: String, found: Option<&'static str>, key: Option<String>) -> Self {
        Endpoint { url, found, key, tracer: None, listed: Vec::new(), model: String::new() }
    }

    /// Has all that goes over the wire written down.
    pub(super) fn traced(self, tracer: Option<Tracer>) -> Self {
        Endpoint { tracer, ..self }
    }

    /// What must not be written down.
    pub(super) fn secrets(&self) -> Secrets {
        Secrets::new(&self.key)
    }

    /// The context of the model, where the endpoint was asked and says so.
    pub(super) fn context(&self) -> Option<usize> {
        usize::try_from(self.info(&self.model)?.context?).ok()
    }

    /// The profile of the flags, or the model's.
    pub(super) fn profile(&self, args: &ModelArgs) -> &'static Profile {
        args.profile.unwrap_or_else(|| Profile::for_model(&self.model))
    }

    fn info(&self, model: &str) -> Option<&ModelInfo> {
        self.listed.iter().find(|info| info.id == model)
    }

    /// Looks for a server on this machine.
    async fn local(args: &EndpointArgs, asker: Option<&Asker>) -> Result<Self, Failure> {
        let probes = LOCAL.map(|(name, url)| {
            // A key of the environment belongs to somebody else's endpoint.
            let key = args.api_key.clone();
            Endpoint::new(url.to_owned(), Some(name), key)
        });
        let answers = join_all(probes.iter().map(Endpoint::probe)).await;
        let mut there: Vec<Endpoint> = Vec::new();
        let mut tried = Vec::new();
        for (endpoint, answer) in probes.iter().zip(answers) {
            match answer {
                Ok(listed) => there.push(Endpoint { listed, ..endpoint.clone() }),
                Err(why) => tried.push(format!("  {} at {}: {why}", endpoint.found.unwrap_or_default(), endpoint.url)),
            }
        }
        let has = |endpoint: &&Endpoint| match &args.model {
            Some(model) => endpoint.info(model).is_some(),
            None => !endpoint.listed.is_empty(),
        };
        let Some(endpoint) = there.iter().find(has).or(there.first()) else { return Err(nobody(&tried)) };
        let model = match &args.model {
            Some(model) => model.clone(),
            None => endpoint.pick(asker).await?,
        };
        Ok(endpoint.with_model(&model))
    }

    /// The models of a server, or why it is none.
    async fn probe(&self) -> Result<Vec<ModelInfo>, String> {
        let client = self.builder().connect_timeout(PROBE).build().map_err(|e| e.to_string())?;
        match tokio::time::timeout(PROBE, client.models()).await {
            Err(_) => Err("no answer".to_owned()),
            Ok(Ok(models)) => Ok(models),
            Ok(Err(ModelError::Unreachable { .. })) => Err("nothing there".to_owned()),
            Ok(Err(ModelError::Refused { status: 401 | 403, .. })) => Err("it wants a key: --api-key KEY".to_owned()),
            Ok(Err(ModelError::Refused { status, .. })) => Err(format!("HTTP {status}, no list of models")),
            Ok(Err(ModelError::BadAnswer { message, .. })) => Err(message),
            Ok(Err(other)) => Err(other.to_string()),
        }
    }

    /// The only model, or the one that is chosen.
    async fn pick(&self, asker: Option<&Asker>) -> Result<String, Failure> {
        let models: Vec<String> = self.listed.iter().map(|info| info.id.clone()).collect();
        match models.as_slice() {
            [] => Err(Failure::usage(format!(
                "{} has no model: load one (LM Studio), pull one (`ollama pull NAME`), or name one with --model",
                self.name()
            ))),
            [only] => Ok(only.clone()),
            several => match asker {
                Some(asker) => self.ask(several, asker).await,
                None => Err(Failure::usage(format!(
                    "{} has several models: name one with --model\n{}",
                    self.name(),
                    list(several)
                ))),
            },
        }
    }

    async fn ask(&self, models: &[String], asker: &Asker) -> Result<String, Failure> {
        anstream::eprintln!("{} has these models:", self.name());
        for (n, model) in models.iter().enumerate() {
            anstream::eprintln!("  {:>2}  {}", n + 1, clean(model));
        }
        let prompt = format!("Which one? [1-{}] ", models.len());
        loop {
            let Some(answer) = asker.ask(&prompt).await else {
                return Err(Failure::usage("no model was chosen: name one with --model"));
            };
            if let Some(model) = chosen(models, answer.trim()) {
                return Ok(model.clone());
            }
            output::warn(&format!("a number from 1 to {}, or a model's name", models.len()));
        }
    }

    /// The same endpoint with another model.
    pub(super) fn with_model(&self, model: &str) -> Self {
        Endpoint { model: model.to_owned(), ..self.clone() }
    }

    /// A client for the model.
    pub(super) fn client(&self) -> Result<OpenAi, Failure> {
        self.builder().build().map_err(Failure::usage)
    }

    fn builder(&self) -> OpenAiBuilder {
        let builder = OpenAi::builder(self.url.as_str(), self.model.as_str());
        let builder = match &self.key {
            Some(key) => builder.api_key(key.as_str()),
            None => builder,
        };
        match &self.tracer {
            Some(tracer) => builder.trace(tracer.clone()),
            None => builder,
        }
    }

    /// The endpoint for messages, without secrets.
    pub(super) fn name(&self) -> String {
        let url = toolgraft::model::shown_url(&self.url);
        self.found.map_or_else(|| url.clone(), |found| format!("{found} at {url}"))
    }
}

/// A variable that is set to something.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

fn listed(models: Result<Vec<ModelInfo>, ModelError>) -> Result<Vec<ModelInfo>, Failure> {
    models.map_err(|error| Failure::usage(format!("no model was named, and the list of models cannot be had: {error}")))
}

fn nobody(tried: &[String]) -> Failure {
    Failure::usage(format!(
        "no model endpoint was found on this machine; tried\n{}\nStart one of them (LM Studio: its server is in the \
         Developer tab; Ollama: `ollama serve`; llama.cpp: `llama-server -m MODEL.gguf`), or name one with --base-url URL",
        tried.join("\n")
    ))
}

/// The model of a number or of a name.
fn chosen<'a>(models: &'a [String], answer: &str) -> Option<&'a String> {
    match answer.parse::<usize>() {
        Ok(number) => models.get(number.checked_sub(1)?),
        Err(_) => models.iter().find(|model| *model == answer),
    }
}

fn list(models: &[String]) -> String {
    let mut lines: Vec<String> = models.iter().take(MAX_NAMES).map(|m| format!("  {}", clean(m))).collect();
    if models.len() > MAX_NAMES {
        lines.push(format!("  and {} more", models.len() - MAX_NAMES));
    }
    lines.join("\n")
}

/// A name as an endpoint gives it, in one line that cannot steer a terminal.
pub(super) fn clean(name: &str) -> String {
    crate::screen::boxes::clean(name).replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_chosen_by_number_or_name() {
        let models = ["a:1".to_owned(), "7".to_owned()];
        assert_eq!(chosen(&models, "1"), Some(&models[0]));
        assert_eq!(chosen(&models, "a:1"), Some(&models[0]));
        for wrong in ["0", "3", "", "a"] {
            assert_eq!(chosen(&models, wrong), None, "{wrong}");
        }
    }
}
