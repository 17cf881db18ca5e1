//! Tools that can be called by their tags, and what their schemas say of text.

use crate::tools::Catalog;
use crate::tools::schema::Walk;

/// A tool that can be called by its tag.
#[derive(Debug)]
pub(crate) struct TagTool {
    /// The tag: the tool's name, or `server.tool` where several servers have it.
    pub(crate) tag: String,
    pub(crate) server: Option<String>,
    pub(crate) tool: String,
    pub(crate) parameters: Vec<TagParameter>,
}

/// A parameter that can be given by its tag.
#[derive(Debug)]
pub(crate) struct TagParameter {
    pub(crate) name: String,
    /// `true` if the schema accepts a string: the text is then taken verbatim.
    pub(crate) is_text: bool,
    /// `true` if it accepts something else, too: the call's own declaration of the value's type decides.
    pub(crate) is_json: bool,
}

/// The tools of a catalog by their tags.
pub(crate) fn tag_tools(catalog: &Catalog) -> Vec<TagTool> {
    let tag_tool = |tool: &crate::tools::Tool| TagTool {
        tag: catalog.tag(tool).into_owned(),
        server: tool.server.clone(),
        tool: tool.name.clone(),
        parameters: tool
            .parameters()
            .map(|p| {
                let walk = || tool.input_schema.as_ref().map(Walk::new);
                TagParameter {
                    name: p.name.to_owned(),
                    is_text: walk().is_none_or(|walk| walk.accepts_text(p.schema)),
                    is_json: walk().is_none_or(|walk| walk.accepts_other(p.schema)),
                }
            })
            .collect(),
    };
    let mut tools: Vec<_> = catalog.tools().map(tag_tool).collect();
    // The bare name of a tool that several servers have is read, to be refused by name.
    let bare = |tool: &crate::tools::Tool| TagTool { tag: tool.name.clone(), server: None, ..tag_tool(tool) };
    tools.extend(catalog.tools().filter(|t| catalog.is_ambiguous(&t.name)).map(bare));
    tools
}
