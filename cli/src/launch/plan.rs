//! The settings for a client: its entry, filled with the session's values.

use std::path::Path;

use minijinja::{Environment, UndefinedBehavior, Value, context};

use super::clients::Client;

/// Divisor of the context size for the maximum number of tokens of an answer, and the upper limit of that number.
const OUTPUT: (u64, u64) = (4, 32_000);

/// Seconds that the program should wait for an answer: a model on a CPU reads some fifty tokens per second, and a
/// program that gives up sends the whole request again.
const PATIENCE: u64 = 3_600;

/// The values of a session that the templates of a client can use.
#[derive(Debug, Clone)]
pub(super) struct PlanValues<'a> {
    /// URL of the server, without `/v1`.
    pub(super) root: &'a str,
    /// The API key that the server requires.
    pub(super) key: &'a str,
    /// Id of the model.
    pub(super) model: &'a str,
    /// Size of the model's context in tokens; `None` if unknown.
    pub(super) context: Option<u64>,
    /// Temporary directory of the session's files.
    pub(super) folder: &'a Path,
}

impl PlanValues<'_> {
    /// Returns the maximum number of tokens of an answer; `None` if the context size is unknown.
    pub(super) fn output(&self) -> Option<u64> {
        Some((self.context? / OUTPUT.0).clamp(1, OUTPUT.1))
    }

    /// Returns the number of tokens from which the client should shorten its history, so that an answer still fits;
    /// `None` if the context size is unknown.
    pub(super) fn compact(&self) -> Option<u64> {
        Some(self.context? - self.output()?)
    }
}

/// A program to start, with its environment, files and arguments.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LaunchPlan {
    pub(super) program: &'static str,
    pub(super) set: Vec<(String, String)>,
    pub(super) unset: &'static [String],
    /// Names of the files in the session's directory, with their contents.
    pub(super) files: Vec<(&'static str, String)>,
    pub(super) arguments: Vec<String>,
}

impl LaunchPlan {
    /// Fills the templates of a client with these values, and adds the variables and arguments of the user.
    pub(super) fn new(
        client: &'static Client,
        values: &PlanValues<'_>,
        variables: &[(String, String)],
        arguments: &[String],
    ) -> Result<Self, minijinja::Error> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
        // `none` would be written as that word, where an empty text leaves a variable or an argument
        // out.
        let or_nothing = |tokens: Option<u64>| tokens.map_or_else(|| Value::from(""), Value::from);
        let known = context! {
            root => values.root,
            v1 => format!("{}/v1", values.root),
            key => values.key,
            model => values.model,
            context => or_nothing(values.context),
            output => or_nothing(values.output()),
            compact => or_nothing(values.compact()),
            folder => values.folder.to_string_lossy(),
            patience => PATIENCE,
        };
        let filled = |text: &str| environment.render_str(text, &known);
        let all = |texts: &'static [(String, String)]| {
            let filled = texts.iter().map(|(name, text)| Ok((name.as_str(), filled(text)?)));
            let mut filled = filled.collect::<Result<Vec<_>, minijinja::Error>>()?;
            filled.retain(|(_, text)| !text.is_empty());
            Ok::<_, minijinja::Error>(filled)
        };
        let own = client.arguments.iter().map(|text| filled(text)).collect::<Result<Vec<_>, _>>()?;
        let own = own.into_iter().filter(|text| !text.is_empty());
        let set = all(&client.set)?.into_iter();
        Ok(LaunchPlan {
            program: &client.program,
            set: set.map(|(name, text)| (name.to_owned(), text)).chain(variables.iter().cloned()).collect(),
            unset: &client.unset,
            files: all(&client.files)?,
            arguments: own.chain(arguments.iter().cloned()).collect(),
        })
    }

    /// Returns the plan as shell commands that write the files, set the variables and start the program.
    pub(super) fn text(&self, folder: &Path) -> String {
        let quoted = |word: &str| shlex::try_quote(word).map_or_else(|_| word.to_owned(), |word| word.into_owned());
        let mut text = String::new();
        for (name, content) in &self.files {
            text += &format!("cat > {}/{name} <<'END'\n{}\nEND\n", folder.display(), content.trim_end());
        }
        if !self.unset.is_empty() {
            text += &format!("unset {}\n", self.unset.join(" "));
        }
        for (name, value) in &self.set {
            text += &format!("export {name}={}\n", quoted(value));
        }
        let words = std::iter::once(self.program).chain(self.arguments.iter().map(String::as_str));
        text + &words.map(quoted).collect::<Vec<_>>().join(" ") + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::super::clients::CLIENTS;
    use super::*;

    fn plan(client: &'static Client, context: Option<u64>) -> LaunchPlan {
        let values = PlanValues {
            root: "http://127.0.0.1:1",
            key: "k",
            model: "say \"hi\":7b",
            context,
            folder: Path::new("/tmp/folder"),
        };
        LaunchPlan::new(client, &values, &[], &["-p".to_owned(), "a b".to_owned()]).unwrap()
    }

    #[test]
    fn every_client_is_told_the_door_the_model_and_the_context_where_it_is_known() {
        for client in CLIENTS.iter() {
            let told = plan(client, Some(32_768));
            let all = told.text(Path::new("/tmp/folder"));
            assert!(all.contains("http://127.0.0.1:1") && all.contains("hi"), "{all}");
            assert!(all.ends_with(" -p 'a b'\n"), "{all}");
            // Cline has no setting for it.
            let numbers = ["32768", "24576", "45768", &(24_576.0 / 1_048_576.0).to_string()];
            assert_eq!(numbers.iter().any(|number| all.contains(number)), client.name != "cline", "{all}");
            let unset = plan(client, None);
            let unknown = unset.text(Path::new("/tmp/folder"));
            assert!(!unknown.contains("none") && !unknown.contains("=\n") && !unknown.contains("''"), "{unknown}");
            let set = told.set.iter().chain(&unset.set).map(|(name, content)| (name.as_str(), content));
            for (name, content) in told.files.iter().map(|(name, content)| (*name, content)).chain(set) {
                if name.ends_with(".json") || content.starts_with('{') {
                    let value: serde_json::Value = serde_json::from_str(content).unwrap();
                    assert!(value.to_string().contains("say \\\"hi\\\":7b"), "{value}");
                }
            }
        }
    }

    #[test]
    fn a_program_with_a_time_limit_waits_an_hour() {
        let limits = [
            ("claude", "API_TIMEOUT_MS=3600000"),
            ("codex", "stream_idle_timeout_ms=3600000"),
            ("opencode", "\"chunkTimeout\": 3600000"),
            ("qwen", "\"timeout\": 3600000"),
            ("cline", "\"timeout\": 3600000"),
            ("vibe", "VIBE_API_TIMEOUT=3600"),
        ];
        for (client, limit) in limits {
            let all = plan(Client::named(client).unwrap(), None).text(Path::new("/tmp/folder"));
            // As the program reads it, not the shell.
            assert!(all.replace('\\', "").contains(limit), "{all}");
        }
    }

    #[test]
    fn what_codex_is_told_is_toml() {
        let told = plan(Client::named("codex").unwrap(), Some(8_192));
        let settings: Vec<&String> = told.arguments.iter().filter(|word| word.contains('=')).collect();
        assert_eq!(settings.len(), 6, "{told:#?}");
        for setting in settings {
            setting.parse::<toml_edit::DocumentMut>().unwrap();
        }
    }

    #[test]
    fn a_third_of_what_is_left_is_for_the_answer() {
        let values = |context| PlanValues { root: "", key: "", model: "", context, folder: Path::new("") };
        for (context, output, compact) in [
            (Some(8_192), Some(2_048), Some(6_144)),
            (Some(1_000_000), Some(32_000), Some(968_000)),
            (None, None, None),
        ] {
            assert_eq!((values(context).output(), values(context).compact()), (output, compact));
        }
    }
}
