//! The tables of `docs/prompt.md` and `docs/appendix/profiles.md` match the code.

use std::fs;
use std::sync::Arc;

use serde_json::Value;
use toolgraft::dialect::{Lang, Profile};
use toolgraft::message::TokenCounter;
use toolgraft::prompt::{Listing, Options, Prompt};
use toolgraft::tools::Server;
use toolgraft::{Catalog, Dialect, Tool};

const SERVERS: [&str; 5] = ["time", "git", "everything", "filesystem", "memory"];

fn repository(path: &str) -> String {
    fs::read_to_string(format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn tokens(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len()
}

/// Returns a server with its tools only, since resources and instructions would distort the
/// comparison.
fn tools(server: &str) -> Server {
    let server: Server = serde_json::from_str(&repository(&format!("fixtures/tools/{server}.json"))).unwrap();
    server.with_instructions(None).with_resources(Vec::new()).with_resource_templates(Vec::new())
}

fn system(catalog: &Catalog, dialect: Dialect, lang: Lang, listing: Listing) -> String {
    let options = Options::default().with_dialect(dialect).with_lang(lang).with_listing(listing);
    let catalog = options.callable(Arc::new(catalog.clone()));
    Prompt::new(options).unwrap().system(&catalog).unwrap()
}

/// Returns the listing and the rest of a prompt.
fn parts(text: &str) -> (String, String) {
    let start = text.find("\n## ").unwrap() + 1;
    let end = start + text[start..].find("\n# ").unwrap();
    (text[start..end].trim().to_owned(), format!("{}{}", &text[..start], &text[end..]))
}

/// Returns each tool with its description and its schema, indented or on one line.
fn with_schemas(server: &Server, schema: impl Fn(&Value) -> String) -> String {
    let block = |tool: &Tool| {
        let description = tool.description.as_deref().unwrap_or_default();
        format!(
            "- {}: {description}\n    Input Schema:\n    {}",
            tool.name,
            schema(tool.input_schema.as_ref().unwrap())
        )
    };
    let blocks: Vec<_> = server.tools.iter().map(block).collect();
    format!("## {}\n\n{}", server.name.as_deref().unwrap(), blocks.join("\n\n"))
}

fn pretty(schema: &Value) -> String {
    serde_json::to_string_pretty(schema).unwrap().replace('\n', "\n    ")
}

fn listing_row(name: &str, servers: Vec<Server>) -> String {
    let sum = |text: &dyn Fn(&Server) -> String| servers.iter().map(|server| tokens(&text(server))).sum::<usize>();
    let (full, minified) = (sum(&|s| with_schemas(s, pretty)), sum(&|s| with_schemas(s, Value::to_string)));
    let count: usize = servers.iter().map(|server| server.tools.len()).sum();
    let catalog = Catalog::new(servers);
    let ours = |listing| tokens(&parts(&system(&catalog, Dialect::UseMcpTool, Lang::En, listing)).0);
    let styles: Vec<String> = Listing::ALL.iter().map(|listing| ours(*listing).to_string()).collect();
    format!("| {name} | {count} | {full} | {minified} | {} |\n", styles.join(" | "))
}

fn listing_table() -> String {
    let mut table = String::from(
        "| server | tools | full schemas, indented | full schemas, minified | `schema` | `signature` | `brief` | `index` |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for server in SERVERS {
        table += &listing_row(server, vec![tools(server)]);
    }
    table + &listing_row("all five", SERVERS.map(tools).to_vec())
}

fn fixed_table() -> String {
    let catalog = Catalog::new([tools("time")]);
    let cost = |dialect, lang, listing| tokens(&parts(&system(&catalog, dialect, lang, listing)).1);
    let row = |d: Dialect| {
        let costs = [Listing::Signature, Listing::Index].map(|l| [Lang::En, Lang::Zh].map(|lang| cost(d, lang, l)));
        let [[en, zh], [index_en, index_zh]] = costs;
        format!("| `{d}` | {en} | {zh} | {index_en} | {index_zh} |\n")
    };
    let rows: String = Dialect::taught().map(row).collect();
    format!("| dialect | `en` | `zh` | `en`, `index` | `zh`, `index` |\n|---|--:|--:|--:|--:|\n{rows}")
}

/// Returns the table of the five servers as full schemas within budgets.
fn budget_table() -> String {
    let catalog = Arc::new(Catalog::new(SERVERS.map(tools)));
    let row = |budget: usize| {
        let options = Options::default()
            .with_listing(Listing::Schema)
            .with_tool_budget(budget)
            .with_tokens(TokenCounter::new(tokens));
        let system = Prompt::new(options.clone()).unwrap().compose(&options.callable(catalog.clone()), &[]).unwrap();
        let listed = &system.listed;
        assert!(listed.is_over_budget() || listed.tokens <= budget, "{listed:?}");
        let counts: Vec<String> = Listing::ALL.iter().map(|style| listed.count(*style).to_string()).collect();
        format!("| {budget} | {} | {} |\n", listed.tokens, counts.join(" | "))
    };
    let rows: String = [5000, 4000, 3000, 2000, 1000, 500].map(row).concat();
    format!("| budget | tokens | `schema` | `signature` | `brief` | `index` |\n|--:|--:|--:|--:|--:|--:|\n{rows}")
}

fn profile_table() -> String {
    let row = |p: &Profile| {
        let known = |known: Option<bool>| known.map_or("unknown", |yes| if yes { "yes" } else { "no" });
        let code = |mark: &&str| format!("`{}`", mark.replace('|', "\\|").replace('\n', "\\n"));
        let marks: Vec<_> = p.reasoning_marks.iter().map(code).collect();
        let marks = if marks.is_empty() { "–".to_owned() } else { marks.join(", ") };
        let temperature = p.temperature.map_or("–".to_owned(), |t| t.to_string());
        let pattern = if p.pattern.is_empty() {
            "every other name".to_owned()
        } else {
            format!("`{}`", p.pattern.replace('|', "\\|"))
        };
        format!(
            "| `{}` | {pattern} | `{}` | `{}` | `{}` | {marks} | {} | `{}` | `{}` | {temperature} | {} |\n",
            p.name,
            p.dialect,
            p.reasoning,
            p.reasoning_calls,
            known(p.reasons),
            p.system,
            p.lang,
            known(p.native_tools),
        )
    };
    let head = "| profile | model's name | dialect | reasoning | calls in it | its marks | reasons | system text | language | temperature | native tools |\n\
                |---|---|---|---|---|---|---|---|---|--:|---|\n";
    format!("{head}{}", Profile::all().iter().map(row).collect::<String>())
}

#[track_caller]
fn stands_in_the_docs(table: &str) {
    stands_in("docs/prompt.md", table);
}

#[track_caller]
fn stands_in(page: &str, table: &str) {
    assert!(repository(page).contains(table), "{page} lacks:\n{table}");
}

#[test]
fn the_table_of_listings_is_true() {
    stands_in_the_docs(&listing_table());
}

#[test]
fn the_table_of_fixed_costs_is_true() {
    stands_in_the_docs(&fixed_table());
}

#[test]
fn the_table_of_budgets_is_true() {
    stands_in_the_docs(&budget_table());
}

#[test]
fn the_table_of_profiles_is_true() {
    stands_in("docs/appendix/profiles.md", &profile_table());
}
