//! All templates, compiled: those of this crate, and those of the caller.

use std::error::Error as _;
use std::sync::LazyLock;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, ErrorKind, UndefinedBehavior, Value};

use super::options::Options;
use super::template::{Template, TemplateError};
use crate::cause::Cause;
use crate::dialect::{Introductions, Lang};

macro_rules! templates {
    ($($lang:ident $folder:literal: $($stem:literal),+;)+) => {
        /// Language, name (without `.j2`) and source of each built-in template.
        const TEMPLATES: &[(Lang, &str, &str)] = &[$($((
            Lang::$lang,
            $stem,
            include_str!(concat!("../../prompts/", $folder, "/", $stem, ".j2")),
        )),+),+];
    };
}

templates! {
    En "en": "compact", "examples", "compact_results", "use_mcp_tool", "tool_tag", "type_marker", "shown", "frame", "listing", "tool", "lookup", "rules", "results", "bounded", "native", "native_reply", "thought", "describe", "output";
    Zh "zh": "compact", "examples", "compact_results", "use_mcp_tool", "tool_tag", "type_marker", "shown", "frame", "listing", "tool", "lookup", "rules", "results", "bounded", "native", "native_reply", "thought", "describe", "output";
}

/// Names of built-in templates that others include, and that the caller may replace there.
const PARTIALS: &[&str] = &["frame", "listing", "tool", "lookup", "rules"];

/// The built-in templates, compiled once per process, since compiling is most of the cost of a prompt.
static BUILT_IN: LazyLock<Result<Environment<'static>, minijinja::Error>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_debug(true);
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    for (lang, stem, source) in TEMPLATES {
        environment.add_template_owned(format!("{lang}/{stem}.j2"), *source)?;
    }
    Ok(environment)
});

/// All templates, compiled. Filling one fails if it uses a variable that the program does not provide.
#[derive(Clone)]
pub(super) struct Templates {
    environment: Environment<'static>,
    lang: Lang,
    custom: Vec<Template>,
}

impl Templates {
    pub(super) fn new(options: &Options) -> Result<Self, TemplateError> {
        let mut templates = Templates { environment: Environment::new(), lang: options.lang, custom: Vec::new() };
        templates.take_built_in(options).map_err(|error| templates.problem(error, &[]))?;
        for template in &options.templates {
            templates.custom.push(template.clone());
            templates.replace(template).map_err(|error| templates.problem(error, &[]))?;
        }
        Ok(templates)
    }

    fn take_built_in(&mut self, options: &Options) -> Result<(), minijinja::Error> {
        let built_in = BUILT_IN.as_ref().map_err(|error| minijinja::Error::new(error.kind(), error.to_string()))?;
        self.environment = built_in.clone();
        let environment = &mut self.environment;
        environment.add_global("lang", options.lang.as_str());
        environment.add_global("dialect", options.dialect.name());
        environment.add_global("introductions", Value::from(Serde(Introductions::of(options.lang))));
        // Only a program's own templates include others without the folder of the language.
        if !options.templates.is_empty() {
            for (_, stem, source) in TEMPLATES.iter().filter(|(lang, ..)| *lang == options.lang) {
                environment.add_template_owned(format!("{stem}.j2"), *source)?;
            }
        }
        Ok(())
    }

    fn replace(&mut self, template: &Template) -> Result<(), minijinja::Error> {
        let Template { name, source, .. } = template;
        self.environment.add_template_owned(format!("{name}.j2"), source.clone())?;
        // The built-in templates include their parts by these names.
        if PARTIALS.contains(&name.as_str()) {
            for lang in Lang::ALL {
                self.environment.add_template_owned(format!("{lang}/{name}.j2"), source.clone())?;
            }
        }
        Ok(())
    }

    /// Returns the caller's templates.
    pub(super) fn custom(&self) -> &[Template] {
        &self.custom
    }

    /// Returns the name `own` if the caller has a template of this name, otherwise the name `built_in`.
    pub(super) fn own_or<'a>(&self, own: &'a str, built_in: &'a str) -> &'a str {
        if self.custom.iter().any(|template| template.name == own) { own } else { built_in }
    }

    pub(super) fn render(&self, stem: &str, view: minijinja::Value) -> Result<String, TemplateError> {
        let folder = if self.custom.is_empty() { format!("{}/", self.lang) } else { String::new() };
        let variables: Vec<String> = view.try_iter().into_iter().flatten().map(|key| key.to_string()).collect();
        let template = self.environment.get_template(&format!("{folder}{stem}.j2"));
        let text = template.and_then(|template| template.render(view));
        text.map(|text| text.trim().to_owned()).map_err(|error| self.problem(error, &variables))
    }

    /// Returns an error if a template of the caller uses a variable that is neither in `variables` nor global, else
    /// `None`.
    pub(super) fn unknown_variable(&self, template: &Template, variables: &[String]) -> Option<TemplateError> {
        let compiled = self.environment.get_template(&format!("{}.j2", template.name)).ok()?;
        let is_known = |name: &String| {
            variables.contains(name)
                || ["loop", "self", "super", "caller"].contains(&name.as_str())
                || self.environment.globals().any(|(global, _)| global == name)
        };
        let mut unknown: Vec<String> = compiled.undeclared_variables(false).into_iter().collect();
        unknown.retain(|name| !is_known(name));
        let place = |name: &String| template.source.lines().position(|line| line.contains('{') && has_word(line, name));
        let (name, line) =
            unknown.into_iter().map(|name| (place(&name), name)).min().map(|(line, name)| (name, line))?;
        Some(TemplateError {
            origin: template.origin.clone(),
            line: line.map(|line| line + 1),
            message: format!("there is no variable `{name}`; there are {}", self.listed(variables)),
            source: None,
        })
    }

    fn listed(&self, variables: &[String]) -> String {
        let mut names: Vec<&str> = variables.iter().map(String::as_str).chain(["lang", "dialect"]).collect();
        names.sort_unstable();
        names.dedup();
        names.join(", ")
    }

    /// Converts an error of the template engine to one for the template's author. If one template includes another, the
    /// innermost error has the details.
    fn problem(&self, error: minijinja::Error, variables: &[String]) -> TemplateError {
        let mut inner = &error;
        while let Some(source) = inner.source().and_then(|source| source.downcast_ref::<minijinja::Error>()) {
            inner = source;
        }
        let detail = inner.detail().unwrap_or_default();
        let expression = inner.range().and_then(|range| whole_expression(inner.template_source()?, range));
        let message = match (inner.kind(), expression) {
            (ErrorKind::UndefinedError, Some(expression)) => {
                let remedy = match variables {
                    // A field of a variable is not in the list of variables.
                    some if !some.is_empty() && !expression.contains(['.', '[']) => {
                        format!("; there are {}", self.listed(some))
                    }
                    _ => ": docs/prompt.md lists the fields of each variable".to_owned(),
                };
                format!("`{expression}` is not defined{remedy}")
            }
            (ErrorKind::TemplateNotFound, _) => {
                let mut names: Vec<&str> = self.environment.templates().map(|(name, _)| name).collect();
                names.retain(|name| !name.contains('/'));
                names.sort_unstable();
                format!("{detail}; there are {}", names.join(", "))
            }
            (kind, _) if detail.is_empty() => kind.to_string(),
            (ErrorKind::SyntaxError, _) => detail.to_owned(),
            (kind, _) => format!("{kind}: {detail}"),
        };
        let (origin, line) = (self.origin(inner.name().unwrap_or_default()), inner.line());
        TemplateError { origin, line, message, source: Some(Cause::new(error)) }
    }

    /// Returns the file of a template by its name in the environment; the name itself for a built-in template.
    fn origin(&self, name: &str) -> String {
        let stem = name.rsplit_once('/').map_or(name, |(_, stem)| stem).trim_end_matches(".j2");
        let custom = self.custom.iter().find(|template| template.name == stem);
        custom.map_or_else(|| name.to_owned(), |template| template.origin.clone())
    }
}

/// Returns the expression at `range`, extended to the left to the beginning of its first name.
fn whole_expression(source: &str, range: std::ops::Range<usize>) -> Option<&str> {
    let before = source.get(..range.start)?;
    let start = before.trim_end_matches(|c: char| c.is_alphanumeric() || matches!(c, '_' | '.')).len();
    source.get(start..range.end).map(str::trim)
}

fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word)
        .any(|(at, _)| !line[..at].ends_with(is_part) && !line[at + word.len()..].starts_with(is_part))
}
