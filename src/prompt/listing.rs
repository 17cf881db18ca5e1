//! A catalog as values for the templates: listed, cleaned, with an example.

use serde::Serialize;
use serde_json::{Map, Value};

use super::signature::{notes, parameters};
use super::{DESCRIPTION_CHARS, Listing, NOTE_CHARS, Options, PromptError, TEXT_CHARS};
use crate::catalog::{Catalog, Server};
use crate::dialect::{Dialect, Shape, write_call, write_tool_call};
use crate::outcome::{Neutraliser, strip_invisible};
use crate::tool::{ACCESS_RESOURCE, Resource, ResourceTemplate, Tool, ToolChoice};

/// Characters of a name at most; longer ones are no names that a model could copy.
const NAME_CHARS: usize = 200;

/// Characters of a string in an example at most.
const EXAMPLE_CHARS: usize = 120;

/// What the templates of the system text see.
#[derive(Debug, Serialize)]
pub(super) struct View {
    own: String,
    servers: Vec<ServerView>,
    has_tools: bool,
    has_resources: bool,
    /// Some tool is display-only.
    displays: bool,
    ambiguous: bool,
    choice: &'static str,
    listing: &'static str,
    named: String,
    max_calls: Option<usize>,
    example: Option<String>,
    wrong: Option<String>,
    read: Option<String>,
}

#[derive(Debug, Serialize)]
struct ServerView {
    name: Option<String>,
    instructions: Vec<String>,
    tools: Vec<ToolView>,
    resources: Vec<ResourceView>,
    templates: Vec<ResourceView>,
}

#[derive(Debug, Serialize)]
struct ToolView {
    signature: String,
    needs_server: bool,
    display_only: bool,
    description: String,
    notes: Vec<NoteView>,
    schema: Option<String>,
}

#[derive(Debug, Serialize)]
struct NoteView {
    path: String,
    text: String,
}

#[derive(Debug, Serialize)]
struct ResourceView {
    uri: String,
    name: String,
    description: String,
    mime: Option<String>,
}

/// Values for the system text.
pub(super) fn view(catalog: &Catalog, options: &Options) -> Result<View, PromptError> {
    let neutraliser = Neutraliser::new(catalog);
    let named = named(catalog, &options.tool_choice)?;
    let lister = Lister { catalog, options, neutraliser: &neutraliser };
    let silent = options.tool_choice == ToolChoice::None;
    let listed = if silent { &[] } else { catalog.servers() };
    let resource = listed.iter().find_map(|server| {
        let uri =
            server.resources.first().map(|r| &r.uri).or(server.resource_templates.first().map(|t| &t.uri_template));
        uri.map(|uri| (server.name.as_deref(), uri))
    });
    let example = if silent { None } else { named.or_else(|| example_tool(catalog, &neutraliser)) };
    Ok(View {
        own: options.system.clone().unwrap_or_default(),
        servers: listed.iter().filter(|s| offers(s)).map(|server| lister.server(server)).collect(),
        has_tools: catalog.tools().next().is_some(),
        has_resources: resource.is_some(),
        displays: catalog.tools().any(|tool| tool.display_only),
        ambiguous: catalog.tools().any(|tool| catalog.is_ambiguous(&tool.name)),
        choice: match options.tool_choice {
            _ if catalog.is_empty() => "nothing",
            ToolChoice::Auto => "auto",
            ToolChoice::None => "none",
            ToolChoice::Required => "required",
            ToolChoice::Named(_) => "named",
        },
        named: named
            .map(|tool| neutraliser.describe(&display_name(catalog, options.dialect, tool), NAME_CHARS))
            .unwrap_or_default(),
        listing: options.listing.as_str(),
        max_calls: options.max_calls,
        example: example.map(|tool| example_call(catalog, options.dialect, &neutraliser, tool)),
        wrong: example.map(|tool| wrong_call(&neutraliser, tool)),
        read: resource.map(|(server, uri)| read_call(options.dialect, &neutraliser, server, uri)),
    })
}

fn offers(server: &Server) -> bool {
    !(server.tools.is_empty() && server.resources.is_empty() && server.resource_templates.is_empty())
}

/// The tool that the choice names.
pub(super) fn named<'a>(catalog: &'a Catalog, choice: &ToolChoice) -> Result<Option<&'a Tool>, PromptError> {
    match choice {
        ToolChoice::Auto | ToolChoice::None => Ok(None),
        ToolChoice::Required if catalog.is_empty() => Err(PromptError::NothingToCall),
        ToolChoice::Required => Ok(None),
        ToolChoice::Named(name) => {
            let tool = catalog.tools().find(|tool| choice.admits(tool.server.as_deref(), &tool.name));
            let unknown = || PromptError::UnknownTool { name: name.clone(), nearest: catalog.nearest(name) };
            tool.ok_or_else(unknown).map(Some)
        }
    }
}

struct Lister<'a> {
    catalog: &'a Catalog,
    options: &'a Options,
    neutraliser: &'a Neutraliser,
}

impl Lister<'_> {
    fn server(&self, server: &Server) -> ServerView {
        let clean = |text: &str, limit| self.neutraliser.describe(text, limit);
        let instructions = server.instructions.as_deref().unwrap_or_default();
        ServerView {
            name: server.name.as_deref().map(|name| clean(name, NAME_CHARS)),
            instructions: self.neutraliser.describe_lines(instructions, TEXT_CHARS),
            tools: server.tools.iter().map(|tool| self.tool(tool)).collect(),
            resources: server.resources.iter().map(|resource| self.resource(resource)).collect(),
            templates: server.resource_templates.iter().map(|template| self.template(template)).collect(),
        }
    }

    fn tool(&self, tool: &Tool) -> ToolView {
        let clean = |text: &str, limit| self.neutraliser.describe(text, limit);
        let description = tool.description.as_deref().or(tool.title.as_deref()).unwrap_or_default();
        let name = clean(&display_name(self.catalog, self.options.dialect, tool), NAME_CHARS);
        let (signature, notes, schema, limit) = match self.options.listing {
            Listing::Signature => {
                let signature = format!("{name}({})", clean(&parameters(tool), usize::MAX));
                (signature, self.notes(tool), None, DESCRIPTION_CHARS)
            }
            Listing::Schema => (name, Vec::new(), tool.input_schema.as_ref().map(|s| self.schema(s)), TEXT_CHARS),
        };
        ToolView {
            signature,
            needs_server: self.catalog.is_ambiguous(&tool.name),
            display_only: tool.display_only,
            description: clean(description, limit),
            notes,
            schema,
        }
    }

    fn notes(&self, tool: &Tool) -> Vec<NoteView> {
        let note = |note: super::signature::Note| {
            let clean = |text: &str, limit| self.neutraliser.describe(text, limit);
            let (description, limits) = (clean(&note.description, NOTE_CHARS), clean(&note.limits, NOTE_CHARS));
            let text = match (description.is_empty(), limits.is_empty()) {
                (true, _) => limits,
                (_, true) => description,
                _ => format!("{} ({limits})", description.trim_end_matches('.')),
            };
            NoteView { path: clean(&note.path, NAME_CHARS), text }
        };
        notes(tool).into_iter().map(note).collect()
    }

    /// The schema as one line of JSON, its texts cleaned, without `$schema`.
    fn schema(&self, schema: &Value) -> String {
        let mut schema = schema.clone();
        if let Some(map) = schema.as_object_mut() {
            map.shift_remove("$schema");
        }
        map_strings(&schema, &|text| {
            let stripped = strip_invisible(text);
            match stripped.char_indices().nth(TEXT_CHARS) {
                None => self.neutraliser.neutralise(&stripped).into_owned(),
                Some(_) => self.neutraliser.describe(&stripped, TEXT_CHARS),
            }
        })
        .to_string()
    }

    fn resource(&self, resource: &Resource) -> ResourceView {
        self.readable(&resource.uri, &resource.name, resource.description.as_deref(), resource.mime_type.as_deref())
    }

    fn template(&self, template: &ResourceTemplate) -> ResourceView {
        let (description, mime) = (template.description.as_deref(), template.mime_type.as_deref());
        self.readable(&template.uri_template, &template.name, description, mime)
    }

    fn readable(&self, uri: &str, name: &str, description: Option<&str>, mime: Option<&str>) -> ResourceView {
        let clean = |text: &str, limit| self.neutraliser.describe(text, limit);
        ResourceView {
            uri: clean(uri, TEXT_CHARS),
            name: clean(name, NAME_CHARS),
            description: clean(description.unwrap_or_default(), NOTE_CHARS),
            mime: mime.map(|mime| clean(mime, NAME_CHARS)),
        }
    }
}

/// The name that a call of the tool starts with: `server.tool` where the tag
/// alone would be ambiguous.
pub(super) fn display_name(catalog: &Catalog, dialect: Dialect, tool: &Tool) -> String {
    match (&dialect.spec().shape, &tool.server) {
        (Shape::ToolTag, Some(server)) if catalog.is_ambiguous(&tool.name) => format!("{server}.{}", tool.name),
        _ => tool.name.clone(),
    }
}

/// The tool that shows a call best: harmless, few parameters, a short call.
pub(super) fn example_tool<'a>(catalog: &'a Catalog, neutraliser: &Neutraliser) -> Option<&'a Tool> {
    let hint = |value: Option<bool>, bad: bool| value == Some(bad);
    let cost = |tool: &&Tool| {
        let annotations = tool.annotations.clone().unwrap_or_default();
        let required = tool.parameters().filter(|p| p.required).count();
        let arguments = tool.example_arguments();
        let text = Value::Object(arguments.clone()).to_string();
        // A server's own values may hold markers; such a tool teaches nothing good.
        let hostile = neutraliser.describe(&text, usize::MAX) != text
            || neutraliser.describe(&tool.name, NAME_CHARS) != tool.name;
        let nested = arguments.values().filter(|v| v.is_object() || v.is_array()).count();
        let deprecated = tool.description.as_ref().is_some_and(|d| d.to_lowercase().contains("deprecated"));
        (
            hostile,
            tool.display_only,
            arguments.is_empty(),
            deprecated || hint(annotations.destructive_hint, true) && !hint(annotations.read_only_hint, true),
            !hint(annotations.read_only_hint, true),
            nested,
            required.abs_diff(1),
            text.len(),
        )
    };
    catalog.tools().min_by_key(cost)
}

/// A correct call of the tool.
pub(super) fn example_call(catalog: &Catalog, dialect: Dialect, neutraliser: &Neutraliser, tool: &Tool) -> String {
    write_tool_call(dialect, catalog, &clean_tool(neutraliser, tool), &example_arguments(neutraliser, tool))
}

/// A correct reading of a resource.
pub(super) fn read_call(dialect: Dialect, neutraliser: &Neutraliser, server: Option<&str>, uri: &str) -> String {
    let mut arguments = Map::new();
    arguments.insert("uri".to_owned(), neutraliser.describe(uri, TEXT_CHARS).into());
    let server = server.map(|server| neutraliser.describe(server, NAME_CHARS));
    write_call(dialect, server.as_deref(), ACCESS_RESOURCE, &arguments)
}

/// The call with its marker line and its keys gone: what `type_marker` warns of.
fn wrong_call(neutraliser: &Neutraliser, tool: &Tool) -> String {
    let arguments = Value::Object(example_arguments(neutraliser, tool));
    format!("{{\"{}\": {arguments}}}", clean_tool(neutraliser, tool).name)
}

fn clean_tool(neutraliser: &Neutraliser, tool: &Tool) -> Tool {
    let server = tool.server.as_ref().map(|server| neutraliser.describe(server, NAME_CHARS));
    Tool { server, ..Tool::new(neutraliser.describe(&tool.name, NAME_CHARS)) }
}

fn example_arguments(neutraliser: &Neutraliser, tool: &Tool) -> Map<String, Value> {
    let arguments = Value::Object(tool.example_arguments());
    match map_strings(&arguments, &|text| neutraliser.describe(text, EXAMPLE_CHARS)) {
        Value::Object(arguments) => arguments,
        _ => Map::new(),
    }
}

/// The value with each key and string put through `change`.
fn map_strings(value: &Value, change: &impl Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => change(text).into(),
        Value::Array(items) => items.iter().map(|item| map_strings(item, change)).collect(),
        Value::Object(map) => map.iter().map(|(key, value)| (change(key), map_strings(value, change))).collect(),
        other => other.clone(),
    }
}
