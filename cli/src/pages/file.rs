//! Pages: one file each, that holds all it needs and runs nothing.
//!
//! `pages/page.html` is what all of them share; a page of its own kind extends it. `pages/block.html` shows what is
//! said in a conversation.

use std::io;
use std::path::Path;
use std::sync::LazyLock;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior};
use serde_json::Value;

use crate::base::Failure;
use crate::pages::text::visible_in;
use toolgraft::wire::set_member;
use toolgraft_files::{self as files, Mode};

const SHARED: [(&str, &str); 2] =
    [("page.html", include_str!("../../pages/page.html")), ("block.html", include_str!("../../pages/block.html"))];

/// Template that renders one [block](super::block::PageBlock), passed as `part`.
pub(super) const ONE_BLOCK: &str = r#"{% from "block.html" import block %}{{ block(part) }}"#;

const STYLE: &str = include_str!("../../pages/page.css");

/// First line of every page that this program writes. Files that begin otherwise are not overwritten.
const BEGINNING: &str = "<!doctype html>\n";

/// Fails if the path is a directory or a file that is neither empty nor a page of this program.
pub(crate) fn writable(path: &Path) -> Result<(), Failure> {
    if path.is_dir() {
        return Err(Failure::usage(format!("{} is a directory: name a file in it", path.display())));
    }
    match std::fs::read(path) {
        // An empty file has nothing to lose, such as one that `mktemp` made.
        Ok(bytes) if !bytes.is_empty() && !bytes.starts_with(BEGINNING.as_bytes()) => Err(Failure::usage(format!(
            "{} exists already and is not a page of toolgraft: name another file with --html PAGE",
            path.display()
        ))),
        _ => Ok(()),
    }
}

/// Writes a page to a file and replaces an existing one; an error if the directory does not exist.
pub(crate) fn write(path: &Path, page: &str) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder.is_none_or(Path::is_dir) {
        true => files::replace(path, page.as_bytes(), Mode::Kept),
        false => Err(io::Error::new(io::ErrorKind::NotFound, "its folder does not exist: create it first")),
    }
}

/// Renders a template with the values `page`, in whose strings hidden characters are made visible.
pub(crate) fn render(template: &str, mut page: Value) -> io::Result<String> {
    // Everything that is shown, wherever it came from.
    visible_in(&mut page);
    set_member(&mut page, "version", env!("CARGO_PKG_VERSION"));
    set_member(&mut page, "style", STYLE);
    filled(template, &page).map_err(io::Error::other)
}

/// Template environment with the shared templates, which the templates of pages extend or import.
static TEMPLATES: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(syntax.expect("the delimiters differ"));
    for (name, template) in SHARED {
        environment.add_template(name, template).expect("a template of this program is well-formed");
    }
    environment
});

/// Renders a template with the values `page` as they are.
pub(super) fn filled(template: &str, page: &Value) -> Result<String, minijinja::Error> {
    // The name's ending turns escaping on.
    TEMPLATES.template_from_named_str("own.html", template)?.render(Serde(page))
}
