//! Lists what a server says about itself.

use std::borrow::Cow;

use crate::tools::Server;

/// Returns the texts of a server that the model may be shown: instructions, descriptions, schemas, and resources.
pub(super) fn texts_of(server: &Server) -> impl Iterator<Item = Cow<'_, str>> {
    let of_tools = server.tools.iter().flat_map(|tool| {
        let texts = [&tool.title, &tool.description].into_iter().flatten().map(|text| text.as_str().into());
        let schemas = [&tool.input_schema, &tool.output_schema].into_iter().flatten();
        texts.chain(schemas.map(|schema| Cow::Owned(schema.to_string())))
    });
    let resources = server.resources.iter().flat_map(|it| [Some(&it.name), Some(&it.uri), it.description.as_ref()]);
    let templates = server.resource_templates.iter();
    let templates = templates.flat_map(|it| [Some(&it.name), Some(&it.uri_template), it.description.as_ref()]);
    let others = server.instructions.iter().chain(resources.chain(templates).flatten());
    others.map(|text| text.as_str().into()).chain(of_tools)
}
