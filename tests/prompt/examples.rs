//! The examples of the compact style: their content and their cost, for the tools of real servers.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Map, Value, json};
use toolgraft::dialect::{Lang, PromptStyle};
use toolgraft::message::TokenCounter;
use toolgraft::prompt::{Example, Options, Prompt, Template};
use toolgraft::tools::{BuiltIn, ToolChoice, ToolExample};
use toolgraft::validate::Validator;
use toolgraft::{Call, Catalog, Dialect, Tool};

use crate::search;

fn all() -> impl Iterator<Item = (Dialect, Lang)> {
    Dialect::taught().flat_map(|dialect| Lang::ALL.iter().map(move |lang| (dialect, *lang)))
}

/// Counts tokens in o200k.
fn tokens(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len()
}

fn compact(dialect: Dialect, lang: Lang) -> Options {
    let options = Options::default().with_dialect(dialect).with_lang(lang).with_style(PromptStyle::Compact);
    options.with_tokens(TokenCounter::new(tokens))
}

/// Returns the system text without examples, and the examples.
fn apart(catalog: &Catalog, options: Options) -> (String, Vec<Example>) {
    Prompt::new(options).unwrap().system_apart(catalog, &[]).unwrap().unwrap()
}

fn texts(examples: &[Example]) -> impl Iterator<Item = &str> {
    examples.iter().flat_map(|example| [example.question.as_str(), &example.call])
}

fn with_text(name: &str, parameters: &[&str]) -> Tool {
    let properties: Map<String, Value> =
        parameters.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
    Tool::new(name).with_schema(json!({"type": "object", "properties": properties, "required": parameters}))
}

fn without_server(tool: &Tool) -> Tool {
    let mut tool = tool.clone();
    tool.server = None;
    tool
}

/// Returns all texts and numbers of a value.
fn leaves(value: &Value) -> Vec<String> {
    match value {
        Value::Object(members) => members.values().flat_map(leaves).collect(),
        Value::Array(items) => items.iter().flat_map(leaves).collect(),
        Value::String(text) => vec![text.clone()],
        other => vec![other.to_string()],
    }
}

fn written() -> BTreeMap<String, BTreeMap<String, Vec<Value>>> {
    let path = format!("{}/prompts/examples.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn a_written_example_has_its_values_from_what_was_said_and_none_in_its_answer() {
    for (key, languages) in written() {
        assert_eq!(languages.keys().collect::<Vec<_>>(), ["en", "zh"], "{key}");
        for (lang, dialogue) in languages {
            let [question, calls @ .., answer] = &dialogue[..] else { panic!("{key}") };
            let (mut said, answer) = (question.as_str().unwrap().to_owned(), answer.as_str().unwrap());
            assert_eq!(calls.len(), 2 * key.split(" > ").count(), "{key} {lang}");
            for call in calls.chunks(2) {
                let (arguments, result) = (leaves(&call[0]), call[1].as_str().unwrap());
                for value in arguments.iter().map(String::as_str) {
                    // A place is named in the text, but not its time zone.
                    let zone = value.rsplit_once('/').filter(|(region, _)| ["Asia", "Pacific"].contains(region));
                    let place = zone.map_or(value, |(_, city)| city);
                    assert!(said.contains(place), "{key} {lang}: nobody said {value:?}");
                    assert!(value.len() == 1 || !answer.contains(value), "{key} {lang}: {value:?} is in the answer");
                }
                assert!(!answer.contains(result), "{key} {lang}: {result:?} is in the answer");
                said += result;
            }
        }
    }
}

#[test]
fn the_tools_of_written_examples_are_those_of_public_servers_and_take_the_calls() {
    let catalog = search::catalog();
    let fixtures = ["everything", "filesystem", "git", "memory", "time"].map(|name| {
        let path = format!("{}/fixtures/tools/{name}.json", env!("CARGO_MANIFEST_DIR"));
        serde_json::from_str::<toolgraft::tools::Server>(&fs::read_to_string(path).unwrap()).unwrap()
    });
    let identity = |tool: &Tool| {
        let mut required: Vec<&str> = tool.parameters().filter(|p| p.required).map(|p| p.name).collect();
        required.sort_unstable();
        format!("{}({})", tool.name, required.join(", "))
    };
    let tools: Vec<Tool> =
        catalog.tools().cloned().chain(fixtures.into_iter().flat_map(|server| server.tools)).collect();
    let mut servers: BTreeMap<String, usize> = BTreeMap::new();
    for (key, languages) in written() {
        for (at, known) in key.split(" > ").enumerate() {
            let takes = |tool: &&Tool| {
                let validator = Validator::new(Catalog::from_tools([without_server(tool)]).into());
                languages.values().all(|dialogue| {
                    let arguments = dialogue[1 + 2 * at].clone();
                    let call = Call::new(Dialect::UseMcpTool, tool.name.as_str(), arguments);
                    validator.check(call, "").is_ok()
                })
            };
            let mut of = tools.iter().filter(|tool| identity(tool) == known).filter(takes).peekable();
            // The built-in tool has no server.
            assert!(of.peek().is_some() || known == "read_result()", "{key}: {known}");
            of.for_each(|tool| *servers.entry(tool.server.clone().unwrap_or_default()).or_default() += 1);
        }
    }
    assert!(servers.len() > 30, "{servers:?}");
}

#[test]
fn examples_go_one_step_at_a_time_and_a_step_has_a_value_of_the_result_before_it() {
    let tools = [with_text("list_rooms", &[]), with_text("heat_up", &["room", "degrees"])];
    let catalog = Catalog::from_tools(tools);
    for (dialect, lang) in all() {
        let (_, examples) = apart(&catalog, compact(dialect, lang));
        let [.., first, second, answer] = &examples[..] else { panic!("{examples:#?}") };
        assert!(!first.follows && second.follows && answer.follows, "{examples:#?}");
        assert!(first.call.contains("list_rooms") && second.call.contains("heat_up"), "{examples:#?}");
        // One value is from the result, the other from the question.
        assert!(!first.question.contains("room-2") && first.question.contains("degrees-1"), "{first:?}");
        assert!(second.question.contains("room-2") && second.call.contains("room-2"), "{second:?}");
        assert!(second.call.contains("degrees-1") && !answer.call.contains("room-2"), "{examples:#?}");
        assert!(
            examples.iter().all(|example| !(example.call.contains("list_rooms") && example.call.contains("heat_up")))
        );
    }
    // For a well-known server the questions are written by hand.
    let known = [with_text("search_files", &["path", "pattern"]), with_text("read_text_file", &["path"])];
    let (_, examples) = apart(&Catalog::from_tools(known), compact(Dialect::ToolTag, Lang::En));
    assert!(examples.iter().any(|example| example.question.contains("Monday's soup")), "{examples:#?}");
}

#[test]
fn two_questions_want_no_tool_and_no_answer_stands_for_a_call_that_is_due() {
    let catalog = Catalog::from_tools([with_text("get_weather", &["city"])]);
    for (dialect, lang) in all() {
        let (_, examples) = apart(&catalog, compact(dialect, lang));
        let free = examples.iter().filter(|example| !example.follows && !example.call.contains("get_weather"));
        assert_eq!((examples.len(), free.count()), (4, 2), "{examples:#?}");
        let marked = examples.iter().filter(|example| example.call.starts_with("TYPE: ANSWER")).count();
        assert_eq!(marked, if dialect == Dialect::TypeMarker { 3 } else { 0 });
        let (_, due) = apart(&catalog, compact(dialect, lang).with_tool_choice(ToolChoice::Required));
        assert!(due.len() == 2 && due[0].call.contains("get_weather"), "{due:#?}");
    }
}

#[test]
fn no_example_shows_a_tool_that_may_destroy_something() {
    let tools = [with_text("get_weather", &["city"]), with_text("delete_city", &["city"])];
    let only = Catalog::from_tools([with_text("delete_city", &["city"])]).with_built_in(BuiltIn::Read);
    for style in PromptStyle::ALL {
        let options = Options::default().with_style(*style);
        let shown = |catalog: &Catalog| {
            let source = "{% for shown in examples %}{{ shown.question }} {{ shown.call }}{% endfor %}{{ example }}";
            let template = Template::system(source);
            Prompt::new(options.clone().with_templates(vec![template])).unwrap().system(catalog).unwrap()
        };
        let text = shown(&Catalog::from_tools(tools.clone()));
        assert!(text.contains("get_weather") && !text.contains("delete_city"), "{text}");
        // The syntax is shown with the built-in tool.
        let text = shown(&only);
        assert!(text.contains("read_result") && !text.contains("delete_city"), "{text}");
    }
}

#[test]
fn up_to_four_tools_cost_at_most_150_tokens_beside_their_list() {
    let tools: Vec<Tool> = search::catalog().tools().cloned().collect();
    let listing = vec![Template::system("{% include \"listing.j2\" %}")];
    let (mut whole, mut cut) = (0, 0);
    for (dialect, lang) in all() {
        for some in (1..=4).flat_map(|count| tools.chunks(count).step_by(701 / count)) {
            let catalog = Catalog::from_tools(some.to_vec());
            let (text, examples) = apart(&catalog, compact(dialect, lang));
            let list = Prompt::new(compact(dialect, lang).with_templates(listing.clone())).unwrap();
            let list = tokens(&list.system(&catalog).unwrap());
            let cost = tokens(&text).saturating_sub(list) + texts(&examples).map(tokens).sum::<usize>();
            // A long call is the only example.
            let is_alone = examples.len() == 1;
            assert!(cost <= 150 || is_alone, "{dialect} {lang}: {cost} {examples:#?}");
            *(if is_alone { &mut cut } else { &mut whole }) += 1;
        }
    }
    assert!(cut * 20 < whole, "{cut} of {whole}");
}

#[test]
fn the_compact_prompt_is_never_longer_than_the_full_one() {
    let tools: Vec<Tool> = search::catalog().tools().cloned().collect();
    for (dialect, lang) in all() {
        for count in (1..=40).filter(|count| (dialect, lang) == (Dialect::UseMcpTool, Lang::En) || count % 19 == 1) {
            let catalog = Catalog::from_tools(tools[count * 61..].iter().take(count).cloned());
            let size = |style| {
                let text = Prompt::new(compact(dialect, lang).with_style(style)).unwrap().system(&catalog).unwrap();
                tokens(&text)
            };
            let (compact, full) = (size(PromptStyle::Compact), size(PromptStyle::Full));
            assert!(compact <= full, "{dialect} {lang} {count}: {compact} of {full}");
        }
    }
}

#[test]
fn a_tools_own_example_comes_before_a_made_one() {
    let example =
        |question: &str, city: &str| ToolExample::new(question, json!({"city": city}).as_object().unwrap().clone());
    let own = example("Do I need a coat in Turku today?", "Turku").answered("rain", "Yes, it rains.");
    let weather = with_text("weather", &["city"]).with_example(own);
    let catalog = Catalog::from_tools([weather.clone(), with_text("turn_on", &["city"])]);
    let (_, examples) = apart(&catalog, compact(Dialect::UseMcpTool, Lang::En));
    let [.., call, answer] = &examples[..] else { panic!("{examples:#?}") };
    assert_eq!((call.question.as_str(), answer.call.as_str()), ("Do I need a coat in Turku today?", "Yes, it rains."));
    assert!(call.call.contains("Turku") && answer.question.contains("rain"), "{examples:#?}");
    assert!(!texts(&examples).any(|text| text.contains("city-1")), "{examples:#?}");
    let stored: Tool = serde_json::from_value(serde_json::to_value(&weather).unwrap()).unwrap();
    assert_eq!(stored, weather);
}
