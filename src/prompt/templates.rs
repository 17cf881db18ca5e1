//! The templates, compiled in.

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, UndefinedBehavior};

macro_rules! templates {
    ($($lang:literal: $($stem:literal),+;)+) => {
        /// Name (`<lang>/<stem>.j2`) and source of each template.
        const TEMPLATES: &[(&str, &str)] = &[$($((
            concat!($lang, "/", $stem, ".j2"),
            include_str!(concat!("../../prompts/", $lang, "/", $stem, ".j2")),
        )),+),+];
    };
}

templates! {
    "en": "use_mcp_tool", "tool_tag", "type_marker", "frame", "listing", "tool", "lookup", "rules", "results", "describe";
    "zh": "use_mcp_tool", "tool_tag", "type_marker", "frame", "listing", "tool", "lookup", "rules", "results", "describe";
}

/// An environment that holds all templates. A value that a template names and
/// the program does not give is an error.
pub(super) fn environment() -> Result<Environment<'static>, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    for (name, source) in TEMPLATES {
        environment.add_template(name, source)?;
    }
    Ok(environment)
}
