//! Compiles a prompt's templates and fills the caller's with samples, so that their errors are found before the first
//! turn.

use minijinja::{Value, context};
use serde_json::json;

use super::budget::Style;
use super::error::PromptError;
use super::options::{Listing, Options};
use super::templates::Templates;
use super::writer::{Prompt, PromptDraft};
use super::{entry, listing, results};
use crate::conversation::{Answered, Replies};
use crate::dialect::Dialect;
use crate::event::{Call, Rejected, RejectedKind};
use crate::outcome::{Neutraliser, Outcome, Status};
use crate::tools::{ACCESS_RESOURCE, BuiltIn, Catalog, Server, ToolChoice};

impl Prompt {
    /// Compiles the templates and fills the caller's with sample values, so that most of their errors are found here.
    ///
    /// # Errors
    /// [`PromptError::Template`] if a template does not compile, uses a variable that does not exist, or cannot be
    /// filled.
    pub fn new(options: Options) -> Result<Self, PromptError> {
        let prompt = Prompt { templates: Templates::new(&options)?, options };
        if !prompt.options.templates.is_empty() {
            validate_templates(&prompt)?;
        }
        Ok(prompt)
    }
}

/// Checks the variables that the caller's templates use, and fills each template once with all values and once with
/// few.
fn validate_templates(prompt: &Prompt) -> Result<(), PromptError> {
    let catalog = sample().with_built_in(BuiltIn::Find).with_built_in(BuiltIn::Read);
    let mixed = PromptDraft::new(prompt, &catalog);
    let styles: Vec<Style> =
        Listing::ALL.iter().copied().map(Some).chain([None]).cycle().take(mixed.tools.len()).collect();
    let view = mixed.view(&styles)?;
    let call = Call::new(Dialect::UseMcpTool, "look", json!({"place": "here"}));
    let [loose, call] = [call.clone(), Call { server: Some("sample".to_owned()), ..call }];
    let statuses =
        [Status::Result, Status::ToolError, Status::Denied, Status::TimedOut, Status::Cancelled, Status::Displayed];
    let outcomes = statuses.map(|status| Outcome::new(status, "text"));
    let rejected = rejected();
    let mut replies = Replies { unmet: true, request: Some("Look."), ..Replies::default() };
    replies.answered = outcomes.iter().map(|outcome| Answered::new("call_1", &call, outcome)).collect();
    replies.rejected = rejected.iter().collect();
    replies.earlier = vec![Answered::new("call_0", &loose, &outcomes[3])];
    let told = results::view(&catalog, &prompt.options, &replies, prompt.options.result_bytes);
    let described = ["look", "lok"].map(|name| listing::describe(&catalog, &prompt.options, name));

    let tool = entry::Lister::new(&catalog, &prompt.options, &Neutraliser::new(&catalog))
        .tool(mixed.tools[0], Listing::Signature);
    for template in prompt.templates.custom() {
        let known = match template.name() {
            "system" | "frame" | "listing" | "lookup" | "rules" => names(&view),
            "results" => names(&told),
            "describe" => names(&described[0]),
            "tool" => vec!["tool".to_owned()],
            _ => continue,
        };
        if let Some(error) = prompt.templates.unknown_variable(template, &known) {
            return Err(error.into());
        }
    }
    prompt.render("tool", context! { tool })?;
    prompt.render(prompt.stem(), view)?;
    prompt.render(prompt.results_stem(), told)?;
    for described in described {
        prompt.render("describe", described)?;
    }
    // Without calls and without tools many variables are empty.
    for (catalog, tool_choice) in [(&catalog, ToolChoice::None), (&Catalog::default(), ToolChoice::Auto)] {
        let bare = Prompt {
            templates: prompt.templates.clone(),
            options: Options { tool_choice, tool_budget: None, ..prompt.options.clone() },
        };
        bare.system(catalog)?;
        bare.results(catalog, &Replies::default())?;
    }
    Ok(())
}

/// Returns the names of the template variables in a view.
fn names(view: &Value) -> Vec<String> {
    view.try_iter().into_iter().flatten().map(|name| name.to_string()).collect()
}

/// Returns a sample catalog whose servers have all that a server can have.
fn sample() -> Catalog {
    let tool = json!({
        "name": "look", "description": "Looks somewhere. Then says what is there.",
        "inputSchema": {"type": "object", "required": ["place"], "properties": {
            "place": {"type": "string", "description": "Where to look."}, "times": {"type": "integer", "minimum": 1},
        }},
    });
    let named = |name: &str| json!({"name": name, "description": "Does it.", "inputSchema": {"type": "object"}});
    let servers = json!([
        {
            "name": "sample", "instructions": "First line.\nSecond line.",
            "tools": [tool, named("one"), named("two"), named("three")],
            "resources": [{"uri": "sample://a", "name": "a", "description": "A text.", "mimeType": "text/plain"}],
            "resourceTemplates": [{"uriTemplate": "sample://{x}", "name": "x"}],
        },
        {"name": "other", "tools": [tool]},
        {"tools": [named("loose")]},
    ]);
    let servers: Vec<Server> =
        serde_json::from_value(servers).expect("the sample is constant and has the servers' form");
    Catalog::new(servers)
}

/// Returns a sample rejected call of each kind.
fn rejected() -> Vec<Rejected> {
    use RejectedKind::{
        InReasoning, InvalidArguments, Invented, Limit, Malformed, NearCall, Quoted, Truncated, UnknownTool,
    };
    let kinds = [UnknownTool, InvalidArguments, Malformed, Truncated, Limit, Invented, Quoted, NearCall, InReasoning];
    let rejected = |kind| {
        let tool = match kind {
            UnknownTool => "nothing_like_it",
            InvalidArguments => ACCESS_RESOURCE,
            _ => "look",
        };
        let rejected = Rejected::new(kind, Dialect::UseMcpTool, "<look>", "something is wrong");
        Rejected { tool: Some(tool.to_owned()), ..rejected }
    };
    kinds.map(rejected).into()
}
