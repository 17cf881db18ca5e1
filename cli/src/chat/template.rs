//! `toolgraft chat --template`: a template file as one question.
//!
//! ```text
//! +++                          settings of config.toml, for this question
//! model = "qwen3:8b"
//! servers = ["files"]          of those in the user's own configuration
//! tools = ["files.read_*"]
//! [variables]                  values where none is given; others must be
//! words = "100"
//! +++
//! Sum {{ file }} up in {{ words }} words.
//! ```
//!
//! A file may be somebody else's: it
//! says neither where requests go, nor which programs are started, nor which calls need no question.

use std::collections::BTreeMap;
use std::path::Path;

use minijinja::{Environment, UndefinedBehavior};
use toml_edit::{DocumentMut, Item};

use super::args::ChatArgs;
use crate::base::{Failure, input, words::near};
use crate::screen::excerpt::names as shown_names;
use crate::sessions::said::{Placed, with_placed};
use crate::settings::{self, Place, Settings};
use toolgraft::conversation::User;
use toolgraft::outcome::boundary;

/// The line before and after the settings of a template file.
const FENCE: &str = "+++";

/// Keys of a template file in addition to the settings keys.
const OWN: [&str; 3] = ["servers", "tools", "variables"];

/// Settings keys that a template file must not set, each with the remedy.
const REFUSED: [(&str, &str); 5] = [
    ("base_url", "name it with --base-url or `toolgraft config set base_url URL`"),
    ("allow", "allow calls with --allow GLOB"),
    ("prompt", "name it with --set prompt=FILE"),
    ("history", "leave it out"),
    ("sessions", "leave it out; --no-session keeps no conversation"),
];

/// Fills in a template with the `NAME=VALUE` words of the command line, and uses it as the question. Options of the
/// command line override the template's tools and settings.
pub(super) fn ask(file: &Path, args: &mut ChatArgs) -> Result<(), Failure> {
    let template = Template::read(file)?;
    args.filled = Some(template.filled(&std::mem::take(&mut args.question))?);
    args.talk.listed.servers.only = template.servers;
    // Tools of the command line override those of the file, which may be somebody else's.
    if args.talk.listed.tools.is_empty() {
        args.talk.listed.tools = template.tools;
    }
    args.talk.settings.over(&template.settings);
    Ok(())
}

/// A template file: settings, servers, tools and the text of a question.
#[derive(Debug)]
struct Template {
    /// The file's name in error messages.
    name: String,
    settings: Settings,
    servers: Option<Vec<String>>,
    tools: Vec<String>,
    /// Default values of the variables; others are required.
    variables: BTreeMap<String, String>,
    text: String,
}

impl Template {
    fn read(file: &Path) -> Result<Self, Failure> {
        let text = input::read_text(file)?;
        Template::parsed(input::without_bom(&text), file)
    }

    fn parsed(text: &str, file: &Path) -> Result<Self, Failure> {
        let name = input::shown(file);
        let (front, text) = parts(text).ok_or_else(|| {
            Failure::usage(format!("{name}:1: a second line of {FENCE} is missing after the settings"))
        })?;
        let (settings, document) = settings::parsed_with(&front, file, &OWN, &REFUSED)?;
        if settings.system.as_deref().is_some_and(|system| system.starts_with('@')) {
            return Err(Failure::usage(format!(
                "{name}: system: a template cannot read a file: write the text itself"
            )));
        }
        let place = Place { model: settings.model.clone(), ..Place::default() };
        if let Some(called) = settings::file()?.names.locate(place)?.called {
            return Err(Failure::usage(format!(
                "{name}: model: it names the endpoint {called}, which a template cannot choose: give --model on the \
                 command line"
            )));
        }
        let strings =
            |key: &str| strings(&document, key).map_err(|problem| Failure::usage(format!("{name}: {problem}")));
        let (servers, tools) = (strings("servers")?, strings("tools")?.unwrap_or_default());
        let variables = variables(&document).map_err(|problem| Failure::usage(format!("{name}: {problem}")))?;
        Ok(Template { name, settings, servers, tools, variables, text: text.to_owned() })
    }

    /// Returns the text with the variables replaced by these `NAME=VALUE` words; the content of `@FILE` is inserted as
    /// an attached file.
    fn filled(&self, given: &[String]) -> Result<User, Failure> {
        let wrong = |e: minijinja::Error| {
            let what = e.detail().map_or_else(|| e.kind().to_string(), str::to_owned);
            Failure::usage(format!("{}:{}: {what}: fix the template there", self.name, e.line().unwrap_or(1)))
        };
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        let template = environment.template_from_str(&self.text).map_err(wrong)?;
        let wanted: Vec<String> = template.undeclared_variables(false).into_iter().collect();
        let (mut values, mut files) = (self.variables.clone(), Vec::new());
        for word in given {
            let (name, value) = word
                .split_once('=')
                .filter(|(name, _)| !name.is_empty())
                .ok_or_else(|| Failure::usage(format!("{word:?}: expected NAME=VALUE with a name of {}", self.name)))?;
            if !wanted.iter().any(|known| known == name) {
                return Err(self.unknown(name, &wanted));
            }
            let value = match value.strip_prefix('@') {
                Some(file) => {
                    let text = input::read_text(Path::new(file))?;
                    let mark = format!("<file {}>", boundary([name, self.text.as_str()], &text));
                    files.push(Placed { mark: mark.clone(), name: file.to_owned(), text });
                    mark
                }
                None => value.to_owned(),
            };
            values.insert(name.to_owned(), value);
        }
        let mut missing: Vec<String> =
            wanted.iter().filter(|name| !values.contains_key(*name)).map(|name| format!("{name}=…")).collect();
        missing.sort();
        if !missing.is_empty() {
            return Err(Failure::usage(format!("{} also needs {}", self.name, shown_names(missing))));
        }
        template.render(&values).map(|text| with_placed(&text, files)).map_err(wrong)
    }

    fn unknown(&self, name: &str, wanted: &[String]) -> Failure {
        let what = match near(name, wanted.iter().map(String::as_str)) {
            Some(near) => format!("did you mean {near}?"),
            None if wanted.is_empty() => "it has none".to_owned(),
            None => format!("there are: {}", shown_names(wanted)),
        };
        Failure::usage(format!("{} has no name {name:?}; {what}", self.name))
    }
}

/// Splits a template into its settings and its text. Each is padded with as many empty lines as precede it in the file,
/// so that errors have the right line number. Returns `None` if the settings have no closing line.
fn parts(text: &str) -> Option<(String, String)> {
    let is_fence = |line: &str| line.trim_end() == FENCE;
    let mut lines = text.split_inclusive('\n');
    if !lines.next().is_some_and(is_fence) {
        return Some((String::new(), text.to_owned()));
    }
    let rest: Vec<&str> = lines.collect();
    let end = rest.iter().position(|line| is_fence(line))?;
    Some((format!("\n{}", rest[..end].concat()), "\n".repeat(end + 2) + &rest[end + 1..].concat()))
}

fn strings(document: &DocumentMut, key: &str) -> Result<Option<Vec<String>>, String> {
    let Some(item) = document.get(key) else { return Ok(None) };
    let wrong = || format!("{key}: expected a list of names: write, for instance, {key} = [\"files\"]");
    let list = item.as_array().ok_or_else(wrong)?;
    list.iter().map(|name| name.as_str().map(str::to_owned)).collect::<Option<_>>().map(Some).ok_or_else(wrong)
}

fn variables(document: &DocumentMut) -> Result<BTreeMap<String, String>, String> {
    let Some(item) = document.get("variables") else { return Ok(BTreeMap::new()) };
    let wrong = || "variables: expected texts: write, for instance, variables.words = \"100\"".to_owned();
    let table = item.as_table_like().ok_or_else(wrong)?;
    let text = |(name, value): (&str, &Item)| Some((name.to_owned(), value.as_str()?.to_owned()));
    table.iter().map(text).collect::<Option<_>>().ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUMMARY: &str = "+++\nmodel = \"m\"\nservers = [\"files\"]\n[variables]\nwords = \"100\"\n+++\n\
        Sum {{ file }} up in {{ words }} words.\n";

    fn template(text: &str) -> Result<Template, String> {
        Template::parsed(text, Path::new("t.md")).map_err(|failure| failure.message().to_owned())
    }

    fn filled(text: &str, given: &[&str]) -> Result<String, String> {
        let given: Vec<String> = given.iter().map(|&word| word.to_owned()).collect();
        template(text)?.filled(&given).map(|said| said.text).map_err(|failure| failure.message().to_owned())
    }

    #[test]
    fn a_template_has_settings_names_and_a_text() {
        let read = template(SUMMARY).unwrap();
        assert_eq!((read.settings.model.as_deref(), read.servers), (Some("m"), Some(vec!["files".to_owned()])));
        assert_eq!(filled(SUMMARY, &["file=a=b"]).unwrap(), "Sum a=b up in 100 words.");
        assert_eq!(filled(SUMMARY, &["words=9", "file=x"]).unwrap(), "Sum x up in 9 words.");
        assert_eq!(filled("Just this.\n+++\n", &[]).unwrap(), "Just this.\n+++");
        assert_eq!(filled("{% if a %}{{ a }}{% endif %}<b>", &["a=<&>"]).unwrap(), "<&><b>");
    }

    #[test]
    fn what_is_wrong_has_its_place_and_the_remedy() {
        for (text, given, problem) in [
            (SUMMARY, &[][..], "t.md also needs file=…"),
            (SUMMARY, &["file=x", "word=9"], "t.md has no name \"word\"; did you mean words?"),
            (SUMMARY, &["file"], "\"file\": expected NAME=VALUE with a name of t.md"),
            ("x", &["a=b"], "t.md has no name \"a\"; it has none"),
            ("+++\nmodel = 1", &[], "t.md:1: a second line of +++ is missing after the settings"),
            ("+++\n\nmodle = \"m\"\n+++\n", &[], "t.md:3: no key \"modle\": did you mean \"model\"?"),
            ("+++\nallow = [\"*\"]\n+++\n", &[], "t.md:2: allow is not accepted here: allow calls with --allow GLOB"),
            ("+++\nsystem = \"@keys.txt\"\n+++\n", &[], "t.md: system: a template cannot read a file"),
            ("+++\nservers = \"files\"\n+++\n", &[], "t.md: servers: expected a list of names"),
            ("+++\nvariables.a = 1\n+++\n", &[], "t.md: variables: expected texts"),
            ("+++\nlang = \"en\"\n+++\nHi\n{{ a", &[], "t.md:5: "),
        ] {
            let told = filled(text, given).unwrap_err();
            assert!(told.starts_with(problem), "{text:?}: {told}");
        }
    }
}
