use super::*;

fn entry(value: Value) -> Entry {
    let Value::Object(entry) = value else { panic!("{value}") };
    entry
}

fn changed(text: &str, change: impl FnOnce(&ConfigFile)) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mcp.json");
    std::fs::write(&path, text).unwrap();
    let file = ConfigFile::open(path.clone()).unwrap();
    change(&file);
    file.write().unwrap();
    std::fs::read_to_string(&path).unwrap()
}

const COMMENTED: &str = "\
// mine
{
    \"mcpServers\": {
        // the clock
        \"time\": { \"command\": \"uvx\", \"args\": [\"mcp-server-time\"] }, // by uvx
        /* files */ \"files\": { \"command\": \"npx\" },
    },
    \"other\": 1.50
}
";

#[test]
fn comments_and_all_that_is_not_changed_stay() {
    let text = changed(COMMENTED, |file| file.set("web", &entry(json!({ "url": "https://h/mcp" }))));
    for line in COMMENTED.lines() {
        assert!(text.contains(line), "{line} is not in {text}");
    }
    let added = "        \"web\": {\n            \"url\": \"https://h/mcp\",\n        },\n    },\n    \"other\": 1.50";
    assert!(text.contains(added), "{text}");
}

#[test]
fn an_entry_is_replaced_in_its_place_and_taken_out() {
    let text = changed(COMMENTED, |file| file.set("time", &entry(json!({ "command": "x" }))));
    assert!(text.find("\"time\"").unwrap() < text.find("\"files\"").unwrap() && !text.contains("uvx\""), "{text}");
    assert!(text.contains("// by uvx") && text.contains("// the clock"), "{text}");
    let text = changed(COMMENTED, |file| assert!(file.remove("files") && !file.remove("gone")));
    assert!(!text.contains("npx") && text.contains("// by uvx") && text.contains("\"other\": 1.50"), "{text}");
}

#[test]
fn a_file_without_servers_gets_them() {
    for text in ["", "{}", "{ \"servers\": {} }", "// none yet\n{ \"mcpServers\": {} }\n"] {
        let text = changed(text, |file| file.set("a", &entry(json!({ "command": "x", "args": ["-y"] }))));
        let key = if text.contains("servers\": {\n") { "servers" } else { "mcpServers" };
        assert_eq!(value(&text, "").unwrap()[key]["a"]["args"], json!(["-y"]), "{text}");
    }
}

#[test]
fn what_is_wrong_in_a_file_is_said_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mcp.json");
    for (text, words) in
        [("{\n  \"mcpServers\": {\n", "mcp.json:"), ("[]", "the whole file"), ("{\"servers\": 3}", "\"servers\"")]
    {
        std::fs::write(&path, text).unwrap();
        let Err(Failure::Usage(message)) = ConfigFile::open(path.clone()) else { panic!("{text}") };
        assert!(message.contains(words), "{message}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn an_entry_is_checked_with_the_variables_that_it_needs() {
    let (problem, unset) =
        checked("a", &entry(json!({ "url": "https://h/${TG_NO_A:-x}", "headers": { "K": "Bearer ${TG_NO_B}" } })));
    assert_eq!((problem, unset), (None, vec!["TG_NO_B".to_owned()]));
    assert!(checked("a", &entry(json!({ "url": "ftp://h" }))).0.unwrap().contains("scheme"));
}
