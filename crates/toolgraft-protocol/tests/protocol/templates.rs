//! Tests that chat templates accept the endpoint's requests: public templates render every history,
//! and no text of it is lost.

use std::path::{Path, PathBuf};

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, Serde, Value as JinjaValue};
use minijinja::{Environment, Error, ErrorKind, context};
use serde_json::{Value, json};
use toolgraft::dialect::Profile;
use toolgraft_testkit::client_histories::{STRICT, histories, marks, sent};

/// Returns an environment with the functions that `transformers` gives to templates.
fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build().unwrap();
    environment.set_syntax(syntax);
    environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    environment.add_function("raise_exception", |message: String| -> Result<(), Error> {
        Err(Error::new(ErrorKind::InvalidOperation, message))
    });
    environment.add_function("strftime_now", |_: String| "25 Nov 2026");
    environment.add_filter("tojson", |value: JinjaValue, _: Kwargs| {
        JinjaValue::from_safe_string(serde_json::to_string(&value).unwrap())
    });
    environment
}

/// Returns a template without the tags for training data, which only `transformers` has.
fn source(path: &Path) -> String {
    let mut text = std::fs::read_to_string(path).unwrap();
    for tag in ["generation", "endgeneration"] {
        for (open, close) in [("{%", "%}"), ("{%-", "%}"), ("{%", "-%}"), ("{%-", "-%}")] {
            text =
                text.replace(&format!("{open} {tag} {close}"), &format!("{open} if true {close}{open} endif {close}"));
        }
    }
    text
}

fn templates() -> Vec<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/templates");
    let more = std::env::var_os("TOOLGRAFT_CORPORA").map(|corpora| Path::new(&corpora).join("templates"));
    let files = [own].into_iter().chain(more).flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "jinja"));
    files.sort();
    files
}

fn rendered(template: &str, messages: &Value) -> Result<String, Error> {
    let environment = environment();
    let tools = json!([]);
    let [messages, tools] = [messages, &tools].map(|value| JinjaValue::from(Serde(value)));
    environment.template_from_str(template)?.render(context! {
        messages, tools, functions => "", datetime => "", add_generation_prompt => true, bos_token => "<s>",
        eos_token => "</s>",
    })
}

#[test]
fn public_templates_render_every_history_with_all_its_texts() {
    let files = templates();
    assert!(files.len() >= 13, "{files:?}");
    let mut wrong = Vec::new();
    for file in files {
        let (name, template) = (file.file_stem().unwrap().to_string_lossy().into_owned(), source(&file));
        let profile = name.contains("gemma-2").then(|| Profile::for_model("gemma-2-9b-it"));
        for (what, history) in histories() {
            match rendered(&template, &sent(profile, &history)) {
                Err(error) => wrong.push(format!("{name}, {what}: {error:#}")),
                Ok(text) => {
                    let mut texts = marks(&history);
                    texts.push("get_weather".to_owned());
                    let lost: Vec<_> = texts.iter().filter(|mark| !text.contains(*mark)).collect();
                    if !lost.is_empty() {
                        wrong.push(format!("{name}, {what}: lost {lost:?}"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn models_without_a_system_role_get_its_text_in_the_first_user_message() {
    for model in ["gemma-2-9b-it", "gemma:7b", "mistral:7b", "Phi-3-mini-4k-instruct"] {
        let profile = Some(Profile::for_model(model));
        for (what, history) in histories() {
            let text = rendered(STRICT, &sent(profile, &history)).unwrap();
            assert!(marks(&history).iter().all(|mark| text.contains(mark)), "{model}, {what}: {text}");
        }
    }
}
