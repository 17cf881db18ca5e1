//! Dialects of chat templates: known ones that parse the template's calls, and derived ones.

use std::fs;
use std::path::Path;

use toolgraft::Dialect;
use toolgraft::dialect::{DialectSet, write_call};
use toolgraft::parse::Config;
use toolgraft::{Catalog, Parser, Tool};

const PAGE: &str = include_str!("../../docs/appendix/templates.md");

/// Returns the dialect of each template in a folder.
fn found(folder: &Path) -> Vec<(String, Option<Dialect>)> {
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "jinja"));
    files.sort();
    let of = |file: &std::path::PathBuf| {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        (name, Dialect::of_template(&fs::read_to_string(file).unwrap()))
    };
    files.iter().map(of).collect()
}

#[test]
fn the_page_says_what_public_templates_write() {
    let found = found(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/templates"));
    assert!(found.len() >= 13, "{found:?}");
    for (name, dialect) in found {
        let dialect = match dialect {
            Some(Dialect::Loaded(_)) => "derived".to_owned(),
            Some(known) => format!("`{known}`"),
            None => "none".to_owned(),
        };
        let row = format!("| {name} | {dialect} |");
        assert!(PAGE.contains(&row), "docs/appendix/templates.md lacks: {row}");
    }
}

/// Returns a template that writes calls in this form, with the turns of ChatML.
fn template(call: &str) -> String {
    format!(
        "{{%- for message in messages %}}<|im_start|>{{{{ message.role }}}}\n{{{{ message.content }}}}\
         {{%- for call in message.tool_calls or [] %}}{call}{{%- endfor %}}<|im_end|>\n{{% endfor %}}"
    )
}

#[test]
fn a_dialect_that_nobody_knows_is_derived_and_reads_back_what_it_writes() {
    for call in [
        // A name and JSON; several in a row.
        "\n<moon:run {{ call.function.name }}>{{ call.function.arguments | tojson }}</moon:run>",
        // An object after a marker, with its own keys.
        "\n[[MOON]] {{ {'do': call.function.name, 'with': call.function.arguments} | tojson }} [[/MOON]]",
        // A tag for each argument, with and without line breaks around the value.
        "\n<moon:do {{ call.function.name }}>{% for k, v in call.function.arguments.items() %}<moon:arg {{ k }}>{{ v }}</moon:arg>{% endfor %}</moon:do>",
        "\n<moon:do={{ call.function.name }}>\n{% for k, v in call.function.arguments.items() %}<moon:arg={{ k }}>\n{{ v }}\n</moon:arg>\n{% endfor %}</moon:do>",
    ] {
        let dialect = Dialect::of_template(&template(call));
        let Some(dialect @ Dialect::Loaded(_)) = dialect else { panic!("{call}: {dialect:?}") };
        let catalog = Catalog::from_tools([Tool::new("read_file")]);
        let arguments = serde_json::json!({"path": "a b"});
        let text = write_call(dialect, None, "read_file", arguments.as_object().unwrap());
        let config = Config::default().with_catalog(Some(catalog.into())).with_dialects(DialectSet::AUTO.with(dialect));
        let message = Parser::new(config).parse(&format!("I look.\n{text}"));
        let calls: Vec<_> = message.calls().map(|call| (call.dialect, &call.arguments)).collect();
        assert_eq!(calls, [(dialect, &arguments)], "{text}\n{message:?}");
        assert_eq!(Dialect::of_template(&template(call)), Some(dialect), "the same template, the same dialect");
    }
}

#[test]
fn a_template_that_writes_no_calls_or_runs_on_has_no_dialect() {
    for template in [
        "{{ messages[0].content }}",
        "{{ raise_exception('no') }}",
        "{% for a in range(9999) %}{% for b in range(9999) %}{{ a }}{% endfor %}{% endfor %}",
        "{% for call in messages[1].tool_calls %}{ {{ call.function.name }} }{% endfor %}",
    ] {
        assert_eq!(Dialect::of_template(template), None, "{template}");
    }
}

/// Prints the dialects of other templates: `TOOLGRAFT_CORPORA=DIR cargo test --test prompt
/// other_templates -- --ignored`.
#[test]
#[ignore = "reads templates that are not in the repository"]
#[allow(clippy::print_stdout, reason = "a list to look at")]
fn other_templates() {
    let folder = std::env::var_os("TOOLGRAFT_CORPORA").expect("a folder with `templates`");
    for (name, dialect) in found(&Path::new(&folder).join("templates")) {
        println!("| {name} | {} |", dialect.map_or("none", Dialect::name));
    }
}
