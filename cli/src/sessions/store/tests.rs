//! The store, in folders of their own.

use std::fs;
use std::path::Path;

use super::*;
use toolgraft::conversation::{Assistant, HistoryCall, Part};
use toolgraft::{Call, Conversation, Dialect, Outcome};

fn store(folder: &Path) -> Store {
    Store { folder: folder.join("sessions") }
}

fn saved(text: &str) -> Saved {
    Saved::new("m", &Conversation::from_user(text))
}

fn titles(store: &Store, words: &[&str]) -> Vec<String> {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    store.list(&words).unwrap().into_iter().map(|one| one.title).collect()
}

#[test]
fn what_is_kept_is_found_by_the_beginning_of_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    assert!(store.find("").is_err());
    assert!(store.list(&[]).unwrap().is_empty() && !store.folder.exists(), "a look makes nothing");
    store.write("aa11", &saved("one")).unwrap();
    store.write("ab22", &saved("two")).unwrap();
    assert_eq!(store.find("ab").unwrap().kept.saved.title(), "two");
    assert!(store.find("a").is_err() && store.find("b").is_err());
    assert!(store.remove("ab22").unwrap() && !store.remove("ab22").unwrap());
    assert_eq!(store.find("").unwrap().kept.saved.title(), "one");
    assert_ne!(store.fresh_id(), store.fresh_id());
}

#[test]
fn what_a_chat_is_at_is_not_cleared() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    store.write("new", &saved("new")).unwrap();
    let open = store.hold("new").unwrap();
    assert_eq!(store.clear().unwrap(), (0, 1));
    drop(open);
    assert_eq!(store.clear().unwrap(), (1, 0));
}

#[test]
fn a_large_result_is_cut_in_the_store_and_its_size_is_listed() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let call = |id: &str| HistoryCall::new(id, Call::new(Dialect::UseMcpTool, "read", serde_json::json!({})), "");
    let mut conversation = Conversation::from_user("Read it");
    let mut message = Assistant::text("I read both.");
    message.parts.extend(["1", "2"].map(|id| Part::Call(call(id))));
    conversation.push_assistant(message).unwrap();
    for id in ["1", "2"] {
        conversation.answer(id, Outcome::result(format!("begin {} end", "x".repeat(5 << 20)))).unwrap();
    }
    store.write("aa", &Saved::new("m", &conversation)).unwrap();
    let kept = store.read("aa").unwrap();
    let bytes = store.list(&[]).unwrap()[0].bytes;
    assert!((512 << 10..1 << 20).contains(&bytes), "{bytes}");
    assert!(fs::metadata(store.file()).unwrap().len() < 2 << 20);
    let answered = kept.saved.conversation.answered();
    let text = &answered[1].outcome.text;
    assert!(text.starts_with("begin x") && text.ends_with("x end") && text.contains("bytes are missing here"));
}

#[test]
fn words_are_found_as_they_are_typed() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    for (id, text) in [
        ("01", "How is the weather in Oslo?"),
        ("02", "武汉明天会下雨吗？"),
        ("03", "say \"AND\" (NEAR* col:x) -y ^z, ok"),
        ("04", "Да, конечно"),
    ] {
        store.write(id, &saved(text)).unwrap();
    }
    for (words, found) in [
        (&["oslo", "WEATHER"][..], Some(0)),
        (&["slo?"], Some(0)),
        (&["oslo", "rome"], None),
        (&["weather in"], Some(0)),
        (&["IN", "os"], Some(0)),
        (&["武汉"], Some(1)),
        (&["会下雨"], Some(1)),
        (&["雨", "武汉明"], Some(1)),
        (&["雪"], None),
        (&["\"AND\""], Some(2)),
        (&["near*", "col:x)", "-y", "^z,"], Some(2)),
        (&["\""], Some(2)),
        (&["%"], None),
        (&["да"], Some(3)),
        (&["OR"], None),
        (&["'; DROP TABLE said; --"], None),
    ] {
        let all = ["How is", "武汉明", "say", "Да"];
        let expected: Vec<&str> = found.map(|n: usize| all[n]).into_iter().collect();
        let titles = titles(&store, words);
        assert!(titles.len() == expected.len(), "{words:?}: {titles:?}");
        assert!(titles.iter().zip(expected).all(|(title, begin)| title.starts_with(begin)), "{words:?}: {titles:?}");
    }
}

#[test]
fn what_is_forgotten_is_nowhere_in_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let secret = "the code is 77QX-41ZB, and nobody may know";
    for id in ["01", "02", "03"] {
        store.write(id, &saved(&format!("{id} {secret}"))).unwrap();
    }
    store.write("04", &saved("Something else")).unwrap();
    store.write("01", &saved("taken back")).unwrap();
    assert!(store.remove("02").unwrap() && store.remove("03").unwrap());
    assert_eq!(titles(&store, &[]), ["taken back", "Something else"]);
    assert_eq!(titles(&store, &["taken"]), ["taken back"]);
    is_nowhere(&store);

    // All at once, but for one that a chat is at.
    for id in ["02", "03", "05"] {
        store.write(id, &saved(&format!("{id} {secret}"))).unwrap();
    }
    let open = store.hold("04").unwrap();
    assert_eq!(store.clear().unwrap(), (4, 1));
    assert_eq!((titles(&store, &[]).len(), titles(&store, &["something"]).len()), (1, 1));
    assert!(titles(&store, &["nobody"]).is_empty() && titles(&store, &["taken"]).is_empty());
    is_nowhere(&store);
    drop(open);
    store.clear().unwrap();
    store.write("06", &saved("Something new")).unwrap();
    assert_eq!(titles(&store, &["something"]), ["Something new"]);
}

fn is_nowhere(store: &Store) {
    for file in fs::read_dir(&store.folder).unwrap() {
        let bytes = fs::read(file.unwrap().path()).unwrap();
        for part in ["77QX-41ZB", "77q", "nobody"] {
            assert!(!bytes.windows(part.len()).any(|window| window == part.as_bytes()), "{part}");
        }
    }
}

#[test]
fn of_two_that_write_at_once_both_have_written() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let store = store.clone();
            scope.spawn(move || {
                for n in 0..20 {
                    store.write(&format!("w{writer}-{n}"), &saved(&format!("question {n} of {writer}"))).unwrap();
                }
            });
        }
    });
    assert_eq!(titles(&store, &["question"]).len(), 80);
}

#[test]
fn a_file_that_is_no_database_or_a_newer_one_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    store.write("aa11", &saved("one")).unwrap();
    let newer = rusqlite::Connection::open(store.file()).unwrap();
    newer.execute_batch("PRAGMA user_version = 7").unwrap();
    drop(newer);
    let error = store.list(&[]).unwrap_err().to_string();
    assert!(error.contains("conversations.db: format 7") && error.contains("newer toolgraft"), "{error}");
    fs::write(store.file(), "no database, but a text that somebody has put here").unwrap();
    for error in [store.list(&[]).unwrap_err(), store.write("bb22", &saved("two")).unwrap_err()] {
        let error = error.to_string();
        assert!(error.contains("conversations.db: ") && error.contains("move the file away"), "{error}");
    }
    assert!(store.find("").is_err_and(|failure| failure.message().contains("move the file away")));
    assert_eq!(store.fresh_id().len(), 8);
}

#[cfg(unix)]
#[test]
fn only_its_owner_may_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    store.write("aa11", &saved("one")).unwrap();
    // An open connection has its files beside the database.
    let mut open = Database::open(&store.file()).unwrap();
    open.put("bb22", SystemTime::now(), &saved("two")).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let files: Vec<PathBuf> = fs::read_dir(&store.folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.iter().any(|file| file.to_string_lossy().ends_with("-wal")), "{files:?}");
    assert!(files.iter().all(|file| mode(file) == 0o600), "{files:?}");
    assert_eq!(mode(&store.folder), 0o700);
}
