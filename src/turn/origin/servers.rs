//! Finds calls in what servers say about themselves.
//!
//! The model reads instructions, descriptions and schemas, so that a server may write calls of another server's tools
//! into them. A server's examples of calls of its own tools are not counted: whatever such a call does, its server could
//! do without it.

use std::borrow::Cow;

use super::{Contents, MAX_BYTES, WrittenCall, reader, shown};
use crate::tools::Server;
use crate::turn::setup::Setup;

/// The contents of each server's texts, in the order of the catalog.
#[derive(Debug)]
pub(in crate::turn) struct ServerTexts(Vec<Contents>);

impl ServerTexts {
    /// Reads the texts of all servers, if there are several.
    pub(in crate::turn) fn new(setup: &Setup) -> Self {
        let servers = setup.catalog.servers();
        if servers.len() < 2 {
            return ServerTexts(Vec::new());
        }
        let parser = reader(setup);
        let read = |server: &Server| {
            let (mut contents, mut left) = (Contents::default(), MAX_BYTES);
            for text in texts_of(server) {
                contents.is_incomplete |= left == 0;
                if left > 0 {
                    contents.read(&text, &parser, setup);
                }
                left = left.saturating_sub(text.len());
            }
            contents
        };
        ServerTexts(servers.iter().map(read).collect())
    }

    /// Returns `true` if the texts of another server than the call's have the call.
    pub(super) fn holds(&self, written: &WrittenCall<'_>, setup: &Setup) -> bool {
        let others =
            setup.catalog.servers().iter().zip(&self.0).filter(|(server, _)| server.name != written.call.server);
        others.into_iter().any(|(server, contents)| written.is_in(contents, setup, || texts_of(server)))
    }
}

/// Returns what the model may be told of a server.
fn texts_of(server: &Server) -> impl Iterator<Item = Cow<'_, str>> {
    let of_tools = server.tools.iter().flat_map(|tool| {
        let texts = [&tool.title, &tool.description].into_iter().flatten().map(|text| text.as_str().into());
        let schemas = [&tool.input_schema, &tool.output_schema].into_iter().flatten();
        texts.chain(schemas.map(|schema| Cow::Owned(schema.to_string())))
    });
    let resources = server.resources.iter().flat_map(|it| [Some(&it.name), Some(&it.uri), it.description.as_ref()]);
    let templates = server.resource_templates.iter();
    let templates = templates.flat_map(|it| [Some(&it.name), Some(&it.uri_template), it.description.as_ref()]);
    let others = server.instructions.iter().chain(resources.chain(templates).flatten());
    others.map(|text| text.as_str().into()).chain(of_tools).map(shown)
}
