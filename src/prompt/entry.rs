//! The entries of the templates: what servers offer, one entry each, cleaned and cut to limits.

use minijinja::{Value, context};
use serde_json::Value as Json;

use super::budget::Style;
use super::example::display_name;
use super::options::{DESCRIPTION_CHARS, Listing, NAME_CHARS, NOTE_CHARS, Options, SENTENCE_CHARS, TEXT_CHARS};
use super::sentence::first_sentence;
use super::signature::{self, parameters};
use crate::dialect::Dialect;
use crate::json::map_texts;
use crate::outcome::{Neutraliser, strip_invisible};
use crate::tools::{Catalog, Server, Tool};

/// Returns the tool's description, or its title if it has none; may be empty.
fn described(tool: &Tool) -> &str {
    tool.description.as_deref().or(tool.title.as_deref()).unwrap_or_default()
}

/// Returns the part of a tool's description that this style lists, before it is cut to a limit.
pub(super) fn listed(tool: &Tool, style: Listing) -> &str {
    match style {
        Listing::Schema | Listing::Signature => described(tool),
        Listing::Brief | Listing::Index => first_sentence(described(tool)),
    }
}

/// Returns the maximum length in characters of a description in a style; `description_chars` is the program's own
/// limit.
pub(super) fn limit(style: Listing, description_chars: Option<usize>) -> usize {
    match style {
        Listing::Schema => description_chars.unwrap_or(TEXT_CHARS),
        Listing::Signature => description_chars.unwrap_or(DESCRIPTION_CHARS),
        Listing::Brief | Listing::Index => SENTENCE_CHARS,
    }
}

/// Creates the entries of a catalog's servers and tools for the templates.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lister<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) dialect: Dialect,
    pub(super) neutraliser: &'a Neutraliser,
    /// Maximum length in characters of a description where a tool is listed in full, if the program set one.
    pub(super) description_chars: Option<usize>,
}

impl<'a> Lister<'a> {
    pub(super) fn new(catalog: &'a Catalog, options: &Options, neutraliser: &'a Neutraliser) -> Self {
        let Options { dialect, description_chars, .. } = *options;
        Lister { catalog, dialect, neutraliser, description_chars }
    }

    fn clean(&self, text: &str, limit: usize) -> String {
        self.neutraliser.describe(text, limit)
    }

    /// Returns the template entry of a server, with its tools in these styles, one for each tool.
    pub(super) fn server(&self, server: &Server, styles: &[Style]) -> Value {
        let instructions = server.instructions.as_deref().unwrap_or_default();
        let tools = server.tools.iter().zip(styles).filter_map(|(tool, style)| Some(self.tool(tool, (*style)?)));
        let resources = server.resources.iter().map(|resource| {
            let (description, mime) = (resource.description.as_deref(), resource.mime_type.as_deref());
            self.readable(&resource.uri, &resource.name, description, mime)
        });
        let templates = server.resource_templates.iter().map(|template| {
            let (description, mime) = (template.description.as_deref(), template.mime_type.as_deref());
            self.readable(&template.uri_template, &template.name, description, mime)
        });
        context! {
            name => server.name.as_deref().map(|name| self.clean(name, NAME_CHARS)),
            instructions => self.neutraliser.describe_lines(instructions, TEXT_CHARS),
            tools => tools.collect::<Value>(),
            resources => resources.collect::<Value>(),
            templates => templates.collect::<Value>(),
        }
    }

    pub(super) fn tool(&self, tool: &Tool, style: Listing) -> Value {
        self.tool_within(tool, style, limit(style, self.description_chars))
    }

    /// Returns `true` if a list in this style omits a part of the tool's description.
    pub(super) fn cuts(&self, tool: &Tool, style: Listing) -> bool {
        let characters = |text: &str| text.split_whitespace().map(|word| word.chars().count() + 1).sum::<usize>();
        // White space counts as one character, however long it is.
        let all = characters(described(tool));
        all > characters(listed(tool, style)).min(limit(style, self.description_chars).saturating_add(1))
    }

    /// Returns the template entry of a tool in a style, with its description cut to `limit` characters.
    pub(super) fn tool_within(&self, tool: &Tool, style: Listing, limit: usize) -> Value {
        let description = listed(tool, style);
        let name = self.clean(&display_name(self.catalog, self.dialect, tool), NAME_CHARS);
        let (signature, notes, schema) = match style {
            Listing::Signature | Listing::Brief => {
                // A signature is one line whose names and values the model has to write back unchanged, so it is only
                // escaped.
                let parameters = parameters(tool);
                let parameters = self.neutraliser.neutralise(&strip_invisible(&parameters)).into_owned();
                (format!("{name}({parameters})"), self.notes(tool), None)
            }
            Listing::Schema => (name.clone(), Vec::new(), tool.input_schema.as_ref().map(|s| self.schema(s))),
            Listing::Index => (name.clone(), Vec::new(), None),
        };
        context! {
            style => style.as_str(),
            // The name to call.
            name,
            server => tool.server.as_deref().map(|server| self.clean(server, NAME_CHARS)),
            // Name with parameters, in the styles that have them; otherwise the name.
            signature,
            needs_server => self.catalog.is_ambiguous(&tool.name),
            display_only => tool.display_only,
            description => self.clean(description, limit),
            notes,
            schema,
        }
    }

    fn notes(&self, tool: &Tool) -> Vec<Value> {
        let note = |note: signature::ParameterNote| {
            let (description, limits) =
                (self.clean(&note.description, NOTE_CHARS), self.clean(&note.limits, NOTE_CHARS));
            let text = match (description.is_empty(), limits.is_empty()) {
                (true, _) => limits,
                (_, true) => description,
                _ => format!("{} ({limits})", description.trim_end_matches('.')),
            };
            context! { path => self.clean(&note.path, NAME_CHARS), text }
        };
        signature::notes(tool).into_iter().map(note).collect()
    }

    /// Returns the schema as one line of JSON without `$schema`, its texts cleaned and cut.
    fn schema(&self, schema: &Json) -> String {
        let mut schema = schema.clone();
        if let Some(map) = schema.as_object_mut() {
            map.shift_remove("$schema");
        }
        map_texts(schema, &mut |text| {
            let stripped = strip_invisible(&text);
            match stripped.char_indices().nth(TEXT_CHARS) {
                None => self.neutraliser.neutralise(&stripped).into_owned(),
                // A shorter text is only escaped: its line breaks and blanks may be a part of a value.
                Some(_) => self.clean(&stripped, TEXT_CHARS),
            }
        })
        .to_string()
    }

    fn readable(&self, uri: &str, name: &str, description: Option<&str>, mime: Option<&str>) -> Value {
        context! {
            uri => self.clean(uri, TEXT_CHARS),
            name => self.clean(name, NAME_CHARS),
            description => self.clean(description.unwrap_or_default(), NOTE_CHARS),
            mime => mime.map(|mime| self.clean(mime, NAME_CHARS)),
        }
    }
}
