//! Edits of a text that the conversation has not shown of the file.

use super::*;
use crate::conversation::User;

const FILE: &str = "[server]\nhost = \"localhost\"\n    port = 8080\nname = \"a\"";

fn tools() -> Vec<Tool> {
    let text = json!({"type": "string"});
    let tool = |name: &str, properties: Value| {
        Tool::new(name).with_schema(json!({"type": "object", "properties": properties}))
    };
    let pair = json!({"type": "object", "properties": {"oldText": text, "newText": text}});
    vec![
        tool("read", json!({"path": text, "offset": {"type": "integer"}})),
        tool("stat", json!({"path": text})),
        tool("write", json!({"path": text, "content": text})),
        tool("edit", json!({"path": text, "old_string": text, "new_string": text})),
        tool("edits", json!({"path": text, "edits": {"type": "array", "items": pair}})),
        tool("replace", json!({"path": text, "search": text, "replace": text, "regex": {"type": "boolean"}})),
    ]
}

fn begun(said: User) -> Turn {
    let validator = Arc::new(Validator::new(Arc::new(Catalog::new([Server::new("demo").with_tools(tools())]))));
    let setup = Arc::new(Setup::new(allowing(), validator, Arc::new(Plain)));
    let mut turn = Turn::new(setup, Conversation::from_user(said), Granted::new()).unwrap();
    actions(&mut turn);
    turn
}

/// Returns a turn in which these calls ran, each with its result.
fn after(ran: &[(&str, Value, &str)]) -> Turn {
    let mut turn = begun(User::new("Change the port."));
    for (tool, arguments, result) in ran {
        let id = runs(&mut turn, tool, arguments).unwrap_or_else(|said| panic!("{tool} {arguments}: {said}"));
        turn.handle(Input::Outcome { id, outcome: Outcome::result(*result) }).unwrap();
        actions(&mut turn);
    }
    turn
}

/// Returns the id of a call that runs, or else the correction that the model is sent.
fn runs(turn: &mut Turn, tool: &str, arguments: &Value) -> Result<String, String> {
    says(turn, &call(tool, arguments));
    let end = ends(turn);
    let told = end.iter().find_map(|action| match action {
        Action::Emit(AgentEvent::Correcting { kind: Some(RejectedKind::InvalidArguments), message }) => Some(message),
        _ => None,
    });
    calls(&end).first().map(|id| (*id).to_owned()).ok_or_else(|| told.unwrap_or_else(|| panic!("{end:?}")).clone())
}

fn edit(old: &str) -> Value {
    json!({"path": "a.toml", "old_string": old, "new_string": "port = 9090"})
}

fn read(text: &str) -> (&str, Value, &str) {
    ("read", json!({"path": "a.toml"}), text)
}

#[test]
fn an_edit_of_an_absent_text_goes_back_once_with_the_nearest_lines() {
    let mut turn = after(&[read(FILE)]);
    let said = runs(&mut turn, "edit", &edit("    port = 8081")).unwrap_err();
    let told = "/old_string: this text is not in what the conversation has shown of \"a.toml\"; the nearest lines are:\n\
                host = \"localhost\"\n    port = 8080\nname = \"a\"";
    assert_eq!(said, told);
    assert!(runs(&mut turn, "edit", &edit("    port = 8081")).is_ok(), "the tool has the last word");
    // Without anything like it there are no lines.
    let said = runs(&mut after(&[read(FILE)]), "edit", &edit("xyz")).unwrap_err();
    assert!(said.ends_with("\"a.toml\"; read the file again"), "{said}");
}

#[test]
fn a_text_that_was_shown_in_whatever_form_is_there() {
    let numbered = |separator: &str| {
        let lines = FILE.lines().enumerate().map(|(at, line)| format!("{:>6}{separator}{line}", at + 1));
        lines.collect::<Vec<_>>().join("\n")
    };
    let old = "host = \"localhost\"\n    port = 8080\n";
    let shown = ["→", "\t", ": ", "|", " | "].map(numbered).into_iter().chain([
        FILE.to_owned(),
        FILE.replace('\n', "\r\n"),
        FILE.replace('\n', "  \n"),
        format!("{}\n\n<system-reminder>\nMind it.\n</system-reminder>", numbered("→")),
        json!({"content": FILE, "size": 70}).to_string(),
    ]);
    for text in shown {
        assert!(runs(&mut after(&[read(&text)]), "edit", &edit(old)).is_ok(), "{text}");
        assert!(runs(&mut after(&[read(&text)]), "edit", &edit(&old.replace('\n', "\r\n"))).is_ok(), "{text}");
        let said = runs(&mut after(&[read(&text)]), "edit", &edit("port = 8081")).expect_err(&text);
        assert!(said.contains("\n    port = 8080\n"), "{text}: {said}");
    }
}

#[test]
fn what_the_model_wrote_itself_is_shown_and_in_one_call_too() {
    let ran = [read(FILE), ("edit", edit("    port = 8080"), "ok")];
    assert!(runs(&mut after(&ran), "edit", &edit("port = 9090")).is_ok());
    assert!(runs(&mut after(&[read(FILE)]), "edit", &edit("port = 9090")).is_err());
    let written = ("write", json!({"path": "a.toml", "content": "b = 1"}), "ok");
    assert!(runs(&mut after(&[read(FILE), written]), "edit", &edit("b = 1")).is_ok());
    let edits = |pairs: Value| json!({"path": "a.toml", "edits": pairs});
    let pairs =
        json!([{"oldText": "port = 8080", "newText": "port = 1"}, {"oldText": "port = 1", "newText": "port = 2"}]);
    assert!(runs(&mut after(&[read(FILE)]), "edits", &edits(pairs)).is_ok());
    let pairs =
        json!([{"oldText": "port = 8080", "newText": "port = 1"}, {"oldText": "port = 2", "newText": "port = 3"}]);
    let said = runs(&mut after(&[read(FILE)]), "edits", &edits(pairs)).unwrap_err();
    assert!(said.starts_with("/edits/1/oldText: "), "{said}");
}

#[test]
fn where_the_file_was_not_shown_whole_the_call_passes() {
    let long = "x = 1\n".repeat(2_000);
    let cut = "[server]\n... 40 lines omitted ...\nname = \"a\"";
    for ran in [
        vec![],
        vec![read(cut)],
        vec![read(&long)],
        vec![read("Error: no such file")],
        vec![read("    12→host = \"localhost\"")],
        vec![("read", json!({"path": "a.toml", "offset": 3}), FILE)],
        vec![("read", json!({"path": "b.toml"}), FILE)],
        vec![("stat", json!({"path": "a.toml"}), "70 bytes, changed on Monday")],
        vec![("write", json!({"path": "a.toml", "content": "b = 1"}), "ok")],
    ] {
        assert!(runs(&mut after(&ran), "edit", &edit("port = 8081")).is_ok(), "{ran:?}");
    }
    let replace =
        |regex: bool| json!({"path": "a.toml", "search": "port = \\d+", "replace": "port = 1", "regex": regex});
    assert!(runs(&mut after(&[read(FILE)]), "replace", &replace(true)).is_ok());
    assert!(runs(&mut after(&[read(FILE)]), "replace", &replace(false)).unwrap_err().starts_with("/search: "));
    assert!(runs(&mut after(&[read(FILE)]), "edit", &edit("")).is_ok());
}

#[test]
fn a_file_of_the_person_is_shown() {
    let with = |name: &str| begun(User::new("Change the port.").with_file(name, FILE));
    assert!(runs(&mut with("a.toml"), "edit", &edit("port = 8080")).is_ok());
    assert!(runs(&mut with("a.toml"), "edit", &edit("port = 8081")).is_err());
    assert!(runs(&mut with("b.toml"), "edit", &edit("port = 8081")).is_ok());
}

#[test]
fn an_edit_passes_where_no_correction_is_left() {
    let mut turn = after(&[read(FILE)]);
    for _ in 0..MAX_CORRECTIONS {
        says(&mut turn, &call("rread", &json!({})));
        ends(&mut turn);
    }
    assert!(runs(&mut turn, "edit", &edit("port = 8081")).is_ok());
}
