//! What the command must not lose: a conversation that two chats are at, one that cannot be read,
//! one that is old, and what a chat had when it was stopped.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::chat_screen::Window;
use crate::endpoint::{Endpoint, Reply};
use crate::process::{Place, Run};

const FOLDER: &str = ".local/state/toolgraft/sessions";

const SIZE: (u16, u16) = (100, 30);

fn chat(place: &Place, endpoint: &Endpoint, args: &[&str]) -> Run {
    let url = endpoint.url();
    let named = ["chat", "--base-url", &url, "--model", "small-model"];
    place.run_with(&[named.as_slice(), args].concat(), |command| command.env_remove("OPENAI_API_KEY").write_stdin(""))
}

/// The files of the conversations that are kept, the latest first.
fn kept(place: &Place) -> Vec<PathBuf> {
    let entries = fs::read_dir(place.path(FOLDER)).into_iter().flatten().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|e| e == "json")).collect();
    files.sort_by_key(|path| std::cmp::Reverse(path.metadata().unwrap().modified().unwrap()));
    files
}

fn text(file: &PathBuf) -> String {
    fs::read_to_string(file).unwrap()
}

fn age(file: &PathBuf, days: u64) {
    let time = SystemTime::now() - Duration::from_secs(days * 86_400);
    File::options().write(true).open(file).unwrap().set_modified(time).unwrap();
}

#[test]
fn a_second_chat_at_a_conversation_is_told_and_gets_a_copy() {
    let place = Place::new();
    let endpoint = Endpoint::start(["One.", "Two.", "Three.", "Four."].map(Reply::text));
    chat(&place, &endpoint, &["First question"]).ok();
    let [first] = kept(&place).try_into().unwrap();
    let id = first.file_stem().unwrap().to_str().unwrap().to_owned();

    // The one at a terminal goes on with it, the one on a pipe comes later.
    let url = endpoint.url();
    let args = ["chat", "--base-url", &url, "--model", "small-model", "--continue"];
    let window = Window::of(place, SIZE, Endpoint::start([]), &args);
    window.comes_to_a_prompt();
    let run = chat(&window.place, &endpoint, &["--continue", "Of the second"]).ok();
    assert!(run.err.contains(&format!("conversation {id} is open in another chat (process ")), "{run:?}");
    assert!(run.err.contains("goes on with a copy of it, "), "{run:?}");
    window.types("Of the first\r");
    window.sees("Three.");
    window.comes_to_a_prompt();

    let files = kept(&window.place);
    assert_eq!(files.len(), 2, "{files:?}");
    let (own, copy): (Vec<_>, Vec<_>) = files.into_iter().partition(|file| *file == first);
    let (own, copy) = (text(&own[0]), text(&copy[0]));
    assert!(own.contains("First question") && own.contains("Of the first") && !own.contains("Of the second"), "{own}");
    assert!(copy.contains("First question") && copy.contains("Of the second") && !copy.contains("Of the first"));

    // It is not taken away below a chat.
    let run = window.place.run(&["sessions", "remove", &id]);
    run.refuses(1, &format!("the conversation {id} is open in another chat (process "));
    let run = window.place.run(&["sessions", "clear"]).ok();
    assert!(run.out.contains("1 conversation forgotten") && run.err.contains("1 conversation left"), "{run:?}");

    // After the first one has left nobody is at it.
    window.types("\u{4}");
    window.sees("goes on with it");
    window.waits("its end", |_| !window.place.path(&format!("{FOLDER}/{id}.lock")).exists());
    let run = chat(&window.place, &endpoint, &["--continue", "Later"]).ok();
    assert!(!run.err.contains("another chat"), "{run:?}");
    assert_eq!(kept(&window.place), [window.place.path(&format!("{FOLDER}/{id}.json"))]);
}

#[test]
fn a_chat_at_a_terminal_is_told_of_another_one_too() {
    let place = Place::new();
    let endpoint = Endpoint::start(["One.", "Two."].map(Reply::text));
    chat(&place, &endpoint, &["First question"]).ok();
    let url = endpoint.url();
    let args = ["chat", "--base-url", &url, "--model", "small-model", "--continue"];
    // Another folder with the same conversations.
    let other = Place::new();
    symlink(place.path(".local"), other.path(".local")).unwrap();
    let first = Window::of(place, SIZE, Endpoint::start([]), &args);
    first.comes_to_a_prompt();
    let second = Window::of(other, SIZE, Endpoint::start([]), &args);
    second.comes_to_a_prompt();
    let in_one_line = |window: &Window| window.shows().replace('\n', " ");
    let shown = in_one_line(&second);
    assert!(shown.contains("is open in another chat (process "), "{shown}");
    assert!(!in_one_line(&first).contains("another chat"), "{}", first.shows());
}

#[test]
fn a_lock_that_a_killed_chat_left_behind_holds_nobody_up() {
    let place = Place::new();
    let endpoint = Endpoint::start(["One.", "Two."].map(Reply::text));
    chat(&place, &endpoint, &["First question"]).ok();
    let [file] = kept(&place).try_into().unwrap();
    fs::write(file.with_extension("lock"), "1").unwrap();
    let run = chat(&place, &endpoint, &["--continue", "And then?"]).ok();
    assert!(!run.err.contains("another chat"), "{run:?}");
    assert_eq!(kept(&place), [file]);
}

#[test]
fn a_second_chat_that_saves_to_the_same_file_gets_another_one() {
    let place = Place::new();
    let first = Endpoint::start(["One.", "Two."].map(Reply::text));
    let window = Window::open_in(place, SIZE, first, &serde_json::json!({}), &["--save", "talk.json"]);
    window.comes_to_a_prompt();
    window.types("Of the first\r");
    window.sees("One.");
    let second = Endpoint::start(["Two.", "Three."].map(Reply::text));
    for (file, question) in [("talk-2.json", "Of the second"), ("talk-3.json", "Of the third")] {
        let run = chat(&window.place, &second, &["--save", "talk.json", "--resume", "talk.json", question]).ok();
        assert!(run.err.contains("another chat (process "), "{run:?}");
        assert!(run.err.contains(&format!("writes talk.json: this one is saved in {file}")), "{run:?}");
        let saved = fs::read_to_string(window.place.path(file)).unwrap();
        assert!(saved.contains("Of the first") && saved.contains(question), "{saved}");
    }
    let saved = fs::read_to_string(window.place.path("talk.json")).unwrap();
    assert!(saved.contains("Of the first") && !saved.contains("Of the second"), "{saved}");
}

#[test]
fn a_damaged_conversation_is_named_with_what_is_taken_instead() {
    let place = Place::new();
    let endpoint = Endpoint::start(["One.", "Two.", "Three."].map(Reply::text));
    chat(&place, &endpoint, &["First question"]).ok();
    let [first] = kept(&place).try_into().unwrap();
    age(&first, 1);
    chat(&place, &endpoint, &["Second question"]).ok();
    let latest = kept(&place).swap_remove(0);
    let whole = text(&latest);
    fs::write(&latest, &whole[..whole.len() / 2]).unwrap();
    let (id, before) = (latest.file_stem().unwrap().to_str().unwrap(), first.file_stem().unwrap().to_str().unwrap());

    let run = chat(&place, &endpoint, &["--continue", "And then?"]).ok();
    assert!(run.err.contains(&format!("warning: the conversation {id} cannot be read: ")), "{run:?}");
    assert!(run.err.contains(&format!("{id}.json")) && run.err.contains(&format!("going on with {before}")), "{run:?}");
    assert!(text(&first).contains("And then?"));
    assert_eq!(text(&latest), whole[..whole.len() / 2], "it stays as it is");

    let run = place.run(&["sessions", "list"]).ok();
    assert!(run.err.contains(&format!("the conversation {id} cannot be read")), "{run:?}");
    let named = chat(&place, &endpoint, &[&format!("--continue={id}"), "Hi"]);
    named.refuses(2, &format!("toolgraft sessions remove {id}"));
    chat(&place, &endpoint, &["--resume", latest.to_str().unwrap(), "Hi"]).refuses(2, "not a saved conversation");
    fs::write(&first, "").unwrap();
    let run = chat(&place, &endpoint, &["--continue", "Hi"]);
    run.refuses(2, "there is no other conversation to go on with");
    place.run(&["sessions", "remove", id]).quiet();
    assert!(!latest.exists());
}

#[test]
fn what_is_old_is_deleted_with_a_line_or_not_at_all() {
    let place = Place::new();
    let endpoint = Endpoint::start(["One.", "Two.", "Three.", "Four."].map(Reply::text));
    chat(&place, &endpoint, &["First question"]).ok();
    let [first] = kept(&place).try_into().unwrap();
    age(&first, 31);
    let run = chat(&place, &endpoint, &["--quiet", "Second question"]).ok();
    assert!(!run.err.contains("deleted") && first.exists(), "{run:?}");
    let run = chat(&place, &endpoint, &["Third question"]).ok();
    assert!(run.err.contains("1 conversation without a word for 30 days deleted"), "{run:?}");
    assert!(run.err.contains("session_days") && !first.exists(), "{run:?}");
    let run = chat(&place, &endpoint, &["Fourth question"]).ok();
    assert!(!run.err.contains("deleted"), "{run:?}");
    let sessions: Value = place.run(&["sessions", "list", "--json"]).quiet().json();
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 3);
}
