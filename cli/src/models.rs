//! `toolgraft models`: the models of an endpoint, or of all servers on this machine.
//!
//! In: an endpoint, or none. Out: each model with what its server says of it, and what is kept of
//! it. Nothing is asked of a model.

use std::collections::BTreeMap;

use futures::future::join_all;
use futures::{StreamExt, TryStreamExt, stream};
use serde::Serialize;
use toolgraft::model::ModelInfo;

use crate::base::{Failure, output};
use crate::chat::{Endpoint, EndpointOrUrl};
use crate::screen::{DIM, visible::word};
use crate::servers::app::App;
use crate::settings::{self, Names, Settings, Source, saved_profiles};

/// Maximum number of concurrent requests to an endpoint for the properties of its models.
const ASKED_AT_ONCE: usize = 8;

/// Options of `toolgraft models`.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("help/models.txt").trim_end())]
pub(crate) struct ModelsArgs {
    /// Print one JSON array: each endpoint with its models
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    endpoint: EndpointOrUrl,
}

/// An endpoint and its models, for output.
#[derive(Serialize)]
struct ListedModel {
    endpoint: String,
    /// Name of the endpoint in `config.toml`; `None` if it has none.
    called: Option<String>,
    #[serde(skip)]
    name: String,
    models: Vec<Model>,
}

#[derive(Serialize)]
struct Model {
    model: String,
    /// Short names of the model in `config.toml`.
    called: Vec<String>,
    context: Option<u64>,
    parameters: Option<u64>,
    tools: Option<bool>,
    images: Option<bool>,
    audio: Option<bool>,
    dialect: Option<String>,
    /// Settings that `probe` saved for the model.
    kept: BTreeMap<String, String>,
}

/// Runs `toolgraft models`.
pub(crate) fn run(args: ModelsArgs) -> Result<(), Failure> {
    let flags = args.endpoint.flags();
    // What is only the usual one hides no other.
    let place = flags.place(&Settings::default())?;
    // Only a model of the command line narrows the list, not that of the settings.
    let named = flags.model.and(place.model.as_deref());
    let usual = Settings::default().resolve(&Source::EVERYWHERE)?.base_url;
    let app = App::start(None)?;
    let names = settings::file()?.names;
    let endpoints = app.wait(async {
        let endpoints = Endpoint::all(&place, usual).await?;
        join_all(endpoints.iter().map(|endpoint| listed(endpoint, named, &names)))
            .await
            .into_iter()
            .collect::<Result<Vec<_>, _>>()
    })?;
    output::emit_either(args.json, &endpoints, || text(&endpoints))
}

/// Returns the models of an endpoint with their properties, or only the model with the name `named`.
async fn listed(endpoint: &Endpoint, named: Option<&str>, names: &Names) -> Result<ListedModel, Failure> {
    let wanted = endpoint.listed.iter().filter(|listed| named.is_none_or(|named| named == listed.id));
    let models = stream::iter(wanted).map(|listed| async {
        let asked = endpoint.with_model(&listed.id).learned().await;
        model(endpoint, &asked.info, names)
    });
    let models = models.buffered(ASKED_AT_ONCE).try_collect().await?;
    let called = endpoint.called.clone();
    Ok(ListedModel { endpoint: toolgraft::secrets::shown_url(&endpoint.url), called, name: endpoint.name(), models })
}

fn model(endpoint: &Endpoint, info: &ModelInfo, names: &Names) -> Result<Model, Failure> {
    let saved = saved_profiles::find(Some(&endpoint.url), &info.id)?;
    let called = names.of(endpoint.called.as_deref(), &info.id).map(str::to_owned).collect();
    let kept = saved.into_iter().flat_map(|saved| saved.kept()).collect();
    let (model, dialect) = (info.id.clone(), info.dialect.map(|dialect| dialect.name().to_owned()));
    let ModelInfo { context, parameters, tools, images, audio, .. } = *info;
    Ok(Model { model, called, context, parameters, tools, images, audio, dialect, kept })
}

fn text(endpoints: &[ListedModel]) -> String {
    let mut lines = Vec::new();
    for endpoint in endpoints {
        lines.push(endpoint.name.clone());
        if endpoint.models.is_empty() {
            lines.push("  no models".to_owned());
        }
        for model in &endpoint.models {
            lines.push(line(model));
        }
    }
    lines.join("\n") + "\n"
}

fn line(model: &Model) -> String {
    let said = |said: Option<bool>, yes: &str| said.filter(|it| *it).map(|_| yes.to_owned());
    let facts = [
        model.parameters.map(|count| format!("{} parameters", millions(count))),
        model.context.map(|tokens| format!("{tokens} tokens")),
        match model.tools {
            Some(true) => Some("takes tools".to_owned()),
            Some(false) => Some("takes no tools".to_owned()),
            None => None,
        },
        said(model.images, "reads images"),
        said(model.audio, "hears"),
        model.dialect.as_ref().map(|dialect| format!("its template writes {dialect}")),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    let facts = if facts.is_empty() { "the endpoint reports nothing about it".to_owned() } else { facts.join(", ") };
    let called = match model.called.is_empty() {
        true => String::new(),
        false => {
            format!(" = {}", model.called.iter().map(|name| word(name).to_string()).collect::<Vec<_>>().join(" = "))
        }
    };
    let mut line = format!("  {}{called}  {}", word(&model.model), dim(&facts));
    if !model.kept.is_empty() {
        let kept: Vec<String> = model.kept.iter().map(|(key, value)| format!("{key} {value}")).collect();
        line += &format!("\n    {}", dim(&format!("kept: {}", kept.join(", "))));
    }
    line
}

fn dim(text: &str) -> String {
    format!("{DIM}{text}{DIM:#}")
}

/// Returns a number of parameters as text, such as `1.5B` or `135M`.
fn millions(parameters: u64) -> String {
    match parameters {
        // From 999.5 million on a number would be rounded to `1000M`.
        0..999_500_000 => format!("{}M", (parameters + 500_000) / 1_000_000),
        _ => {
            let tenths = (parameters + 50_000_000) / 100_000_000;
            let (whole, tenth) = (tenths / 10, tenths % 10);
            if tenth == 0 { format!("{whole}B") } else { format!("{whole}.{tenth}B") }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_told_as_models_are_named() {
        for (count, name) in
            [(134_515_008, "135M"), (494_032_768, "494M"), (1_543_714_304, "1.5B"), (8_030_261_248, "8B")]
        {
            assert_eq!(millions(count), name);
        }
    }
}
