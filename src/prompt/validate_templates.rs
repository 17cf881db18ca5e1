//! Compiles a prompt's templates and fills the caller's with samples, so that their errors are found before the first
//! turn.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::budget::Style;
use super::error::PromptError;
use super::options::{Listing, Options};
use super::round::{Earlier, Item, Round};
use super::templates::Templates;
use super::writer::{Prompt, PromptDraft};
use super::{entry, listing, results};
use crate::event::{Rejected, RejectedKind};
use crate::outcome::{Neutraliser, Outcome, Status};
use crate::tools::{ACCESS_RESOURCE, Catalog, Server, ToolChoice};

impl Prompt {
    /// Compiles the templates and fills those of the caller with samples, so that most of their errors are found here.
    ///
    /// # Errors
    /// [`PromptError::Template`] for a template that does not compile, names a
    /// variable that does not exist, or cannot be filled.
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
    let catalog = sample().with_find_tool().with_read_tool();
    let mixed = PromptDraft::new(prompt, &catalog);
    let styles: Vec<Style> =
        Listing::ALL.iter().copied().map(Some).chain([None]).cycle().take(mixed.tools.len()).collect();
    let view = mixed.view(&styles)?;
    let round = sample_round();
    let items: Vec<Item<'_>> = round.items().collect();
    let earlier = [Earlier { server: None, tool: "look", arguments: &round.arguments, status: Status::TimedOut }];
    let round = Round::new(&items).with_earlier(&earlier).with_request("Look.");
    let told = results::view(&catalog, &prompt.options, &round);
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
    prompt.render("tool", &listing::ToolVariables { tool })?;
    prompt.render(prompt.stem(), &view)?;
    prompt.render(prompt.results_stem(), &told)?;
    for described in &described {
        prompt.render("describe", described)?;
    }
    for (catalog, tool_choice) in [(&catalog, ToolChoice::None), (&Catalog::default(), ToolChoice::Auto)] {
        let bare = Prompt {
            templates: prompt.templates.clone(),
            options: Options { tool_choice, tool_budget: None, ..prompt.options.clone() },
        };
        bare.system(catalog)?;
        bare.results(catalog, &Round::default())?;
    }
    Ok(())
}

/// Returns the names of a view's variables.
fn names(view: &impl Serialize) -> Vec<String> {
    match serde_json::to_value(view) {
        Ok(Value::Object(map)) => map.into_iter().map(|(name, _)| name).collect(),
        _ => Vec::new(),
    }
}

/// Returns two servers with everything that servers can have.
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

/// A round with an item of each kind.
struct SampleRound {
    arguments: Map<String, Value>,
    outcomes: Vec<Outcome>,
    rejected: Vec<Rejected>,
}

impl SampleRound {
    fn items(&self) -> impl Iterator<Item = Item<'_>> {
        let answered = self.outcomes.iter().map(|outcome| Item::Answered {
            id: "call_1",
            server: Some("sample"),
            tool: "look",
            arguments: &self.arguments,
            outcome,
        });
        answered.chain(self.rejected.iter().map(Item::Rejected)).chain([Item::UnmetChoice])
    }
}

fn sample_round() -> SampleRound {
    let statuses =
        [Status::Result, Status::ToolError, Status::Denied, Status::TimedOut, Status::Cancelled, Status::Displayed];
    let rejected = |kind, tool: &str| Rejected {
        tool: Some(tool.to_owned()),
        ..Rejected::new(kind, crate::dialect::Dialect::UseMcpTool, "<look>", "something is wrong")
    };
    SampleRound {
        arguments: Map::from_iter([("place".to_owned(), "here".into())]),
        outcomes: statuses.map(|status| Outcome::new(status, "text")).into(),
        rejected: vec![
            rejected(RejectedKind::UnknownTool, "nothing_like_it"),
            rejected(RejectedKind::InvalidArguments, ACCESS_RESOURCE),
            rejected(RejectedKind::Malformed, "look"),
            rejected(RejectedKind::Truncated, "look"),
            rejected(RejectedKind::Limit, "look"),
            rejected(RejectedKind::Invented, "look"),
            rejected(RejectedKind::Quoted, "look"),
            rejected(RejectedKind::NearCall, "look"),
            rejected(RejectedKind::InReasoning, "look"),
        ],
    }
}
