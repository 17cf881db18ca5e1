//! Splits a text into comparable words: folded, stemmed, and with the kind of each value that is not a word.
//! `/tmp/plan.docx` indicates a file, and a Word document.

use crate::tools::words::is_of;

/// Words on one line are synonyms in tools' names and people's questions: the verbs of records and files, terms of
/// software, and everyday things.
const ALIKE: &str = include_str!("alike.txt");

/// Words for the kind of a file, by the ending of its name.
const ENDINGS: &[(&[&str], &str)] = &[
    (&["doc", "docx"], "word document"),
    (&["xls", "xlsx"], "excel spreadsheet"),
    (&["ppt", "pptx"], "powerpoint presentation"),
    (&["pdf"], "pdf document"),
    (&["png", "jpg", "jpeg", "gif", "webp"], "image"),
    (&["svg"], "svg image"),
    (&["mp3", "wav", "ogg", "flac"], "audio"),
    (&["mp4", "mov", "mkv", "avi"], "video"),
    (&["zip", "tar", "gz"], "archive"),
    (&["md"], "markdown"),
    (&["json", "jsonl"], "json"),
    (&["csv"], "csv"),
    (&["xml"], "xml"),
    (&["html"], "html"),
    (&["sql"], "sql"),
    (&["xmind"], "xmind"),
    (&["txt", "log", "py", "rs", "js", "ts", "go", "java", "c", "h", "cpp", "sh", "yaml", "yml", "toml", "ini"], ""),
];

/// Fewest letters of two joined words that are searched for as one.
const LEAST_JOINED: usize = 6;

/// Returns the stemmed words of [`ALIKE`] with the indices of their lines.
pub(super) fn lines() -> impl Iterator<Item = (String, u32)> {
    (0_u32..).zip(ALIKE.lines()).flat_map(|(line, words)| words.split(' ').map(move |word| (stem(word), line)))
}

/// Returns the verb of a tool that changes something, from its name without the words of its server's.
pub(super) fn changing(name: &str, server: &str) -> Option<String> {
    let of_server = split(server).0;
    // In `github_create_issue` the first word is the server's.
    let verb = split(name).0.into_iter().find(|word| !of_server.contains(word))?;
    is_of("acts", &verb).then(|| stem(&verb))
}

/// The parsed content of a question.
pub(super) struct ParsedQuestion {
    pub(super) words: Vec<String>,
    /// Pairs of adjacent words as one word: "Hacker News" is written `hackernews`.
    pub(super) joined: Vec<String>,
    /// Words for the kinds of the question's values (addresses, files, keys), and its words in quotation marks or
    /// between slashes.
    pub(super) values: Vec<String>,
    /// `true` if the question asks for information, not for an action.
    pub(super) is_question: bool,
}

/// Parses a user's question into its words and the words for the kinds of its values.
pub(super) fn asked(question: &str) -> ParsedQuestion {
    let (mut rest, mut values) = (String::new(), Vec::new());
    for (n, part) in question.split(['"', '“', '”']).enumerate() {
        // Every second part is in quotation marks: a value, and not a word of the question.
        if n % 2 == 1 {
            values.extend(terms(part));
            continue;
        }
        for token in part.split_whitespace() {
            let bare = token.trim_matches(|c: char| !(c.is_alphanumeric() || matches!(c, '/' | '~')));
            match kind(bare) {
                Some(kind) => values.extend(terms(&kind)),
                // `owner/repo` and `and/or` are no known kind of value.
                None if bare.trim_matches('/').contains('/') => values.extend(terms(bare)),
                None => rest = rest + token + " ",
            }
            if is_key(bare) {
                values.extend(terms("issue ticket"));
            }
        }
    }
    let (words, pairs) = split(&rest);
    let both = |pair: &[String]| Some(pair.concat()).filter(|both| both.is_ascii() && both.len() >= LEAST_JOINED);
    let joined = words.windows(2).filter_map(both).map(|both| stem(&both)).collect();
    let is_question = words.first().is_some_and(|word| is_of("question", word));
    ParsedQuestion { words: folded(words, pairs), joined, values, is_question }
}

/// Returns the significant words of a text: each part of `snake_case` and `camelCase`, of the latter the whole, too; in
/// scripts without spaces each pair of characters.
pub(crate) fn terms(text: &str) -> Vec<String> {
    let (words, pairs) = split(text);
    folded(words, pairs)
}

fn folded(words: Vec<String>, pairs: Vec<String>) -> Vec<String> {
    let says_something = |word: &String| !is_of("stop", word);
    words.into_iter().filter(says_something).map(|word| stem(&word)).chain(pairs).collect()
}

/// Returns words for the kind of a token such as a URL, an email address or a path; `None` for any other token.
fn kind(token: &str) -> Option<String> {
    let ending = |text: &str| {
        let (stem, end) = text.rsplit_once('.')?;
        let end = end.to_ascii_lowercase();
        let known = ENDINGS.iter().find(|(ends, _)| ends.contains(&end.as_str()));
        known.filter(|_| !stem.is_empty()).map(|(_, says)| *says)
    };
    if let Some(address) = token.strip_prefix("https://").or_else(|| token.strip_prefix("http://")) {
        let says = address.split_once('/').and_then(|(_, path)| ending(path)).unwrap_or_default();
        return Some(format!("url web page {says}"));
    }
    // `@user` is no address.
    if token.split_once('@').is_some_and(|(name, host)| !name.is_empty() && host.contains('.')) {
        return Some("email".to_owned());
    }
    let is_path = token.starts_with(['/', '~']) && token.len() > 1;
    match ending(token) {
        Some(says) if is_path => Some(format!("path file {says}")),
        Some(says) => Some(format!("file {says}")),
        None if is_path => Some("path directory".to_owned()),
        None => {
            let hex = token.strip_prefix("0x").filter(|hex| hex.len() >= 4);
            hex.filter(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit())).map(|_| "address".to_owned())
        }
    }
}

/// Returns `true` if a token is the key of an issue: `PROJ-12`.
fn is_key(token: &str) -> bool {
    token.split_once('-').is_some_and(|(project, number)| {
        // A single letter before the number is no project: `B-52`.
        project.len() >= 2
            && project.bytes().all(|b| b.is_ascii_uppercase())
            && !number.is_empty()
            && number.bytes().all(|b| b.is_ascii_digit())
    })
}

/// Returns the words of a text in lower case, and the pairs of characters of scripts without spaces.
fn split(text: &str) -> (Vec<String>, Vec<String>) {
    let (mut words, mut pairs) = (Vec::new(), Vec::new());
    let (mut word, mut whole, mut parts) = (String::new(), String::new(), 0);
    let mut before = ' ';
    for c in text.chars().chain([' ']) {
        let is_letter = c.is_alphanumeric() && !is_unspaced(c);
        // A word ends at a separator and within `camelCase`.
        if !word.is_empty() && (!is_letter || (before.is_lowercase() && c.is_uppercase())) {
            words.push(std::mem::take(&mut word).to_lowercase());
            parts += 1;
        }
        if is_letter {
            word.push(c);
            whole.push(c);
        } else {
            if parts > 1 {
                words.push(whole.to_lowercase());
            }
            (parts, whole) = (0, String::new());
        }
        if is_unspaced(c) && is_unspaced(before) {
            pairs.push(format!("{before}{c}"));
        }
        before = c;
    }
    (words, pairs)
}

/// Returns `true` if a character belongs to a script without spaces between words.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Endings of English words, with the fewest letters that must precede each.
const ENDS: &[(&str, usize)] =
    &[("ation", 4), ("ing", 3), ("ed", 3), ("ion", 4), ("er", 4), ("or", 4), ("ment", 4), ("al", 4)];

/// Returns an English word without its ending, so that `changes`, `changed` and `changing` are equal. The rules are
/// coarse, as a question seldom contains two words with the same stem.
pub(crate) fn stem(word: &str) -> String {
    // Shorter words have no ending, and the endings are English.
    if word.len() < 4 || !word.bytes().all(|b| b.is_ascii_lowercase()) {
        return word.to_owned();
    }
    let mut stem = match word {
        // `ties` is `tie`, `queries` is `query`; `class` and `status` are no plurals, `boxes` is `box`.
        _ if word.len() > 4 && word.ends_with("ies") => format!("{}y", &word[..word.len() - 3]),
        _ if word.ends_with("ss") || word.ends_with("us") || word.ends_with("is") => word.to_owned(),
        _ if ["ches", "shes", "xes", "sses", "zes"].iter().any(|end| word.ends_with(end)) => {
            word[..word.len() - 2].to_owned()
        }
        _ => word.strip_suffix('s').unwrap_or(word).to_owned(),
    };
    let end = ENDS.iter().find(|(end, least)| stem.len() >= end.len() + least && stem.ends_with(end));
    let has_vowel = |text: &str| text.contains(['a', 'e', 'i', 'o', 'u', 'y']);
    if let Some((end, _)) = end.filter(|(end, _)| has_vowel(&stem[..stem.len() - end.len()])) {
        stem.truncate(stem.len() - end.len());
        let bytes = stem.as_bytes();
        // "running" becomes "run", but "calling" and "passing" keep their double letter.
        if let [.., one, other] = bytes
            && one == other
            && bytes.len() > 3
            && !b"lsz".contains(one)
        {
            stem.pop();
        }
    }
    if stem.len() > 3 && stem.ends_with('e') {
        stem.pop();
    }
    // `query` and `queries` have one stem: `queri`.
    if stem.len() > 3 && stem.ends_with('y') {
        stem.pop();
        stem.push('i');
    }
    stem
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_folded_and_those_that_say_nothing_left_out() {
        for (text, words) in [
            ("Which of the cities?", &["citi"][..]),
            ("getWeatherForecast", &["weath", "forecast", "getweatherforecast"]),
            ("list_open-issues.v2", &["list", "open", "issu", "v2"]),
            ("Searches boxes, statuses, buses", &["search", "box", "status", "bus"]),
            ("changes changed changing", &["chang", "chang", "chang"]),
            ("running, calling", &["run", "call"]),
            ("查询天气 now", &["查询", "询天", "天气"]),
            ("Größe ändern", &["größe", "ändern"]),
            ("", &[]),
        ] {
            assert_eq!(terms(text), words, "{text}");
        }
    }

    #[test]
    fn a_value_counts_as_what_it_is() {
        for (question, words, values) in [
            ("Open /tmp/a/plan.docx", &["open"][..], &["path", "fil", "word", "docu"][..]),
            ("list ~/code", &["list"], &["path", "directori"]),
            ("fetch https://example.com/a.json, quickly", &["fetch", "quickli"], &["url", "web", "pag", "json"]),
            ("https://example.com", &[], &["url", "web", "pag"]),
            ("mail jo@example.com", &["mail"], &["email"]),
            ("who owns 0xA0b86991?", &["own"], &["address"]),
            ("close PROJ-12", &["clos", "proj", "12"], &["issu", "ticket"]),
            ("e.g. this", &["e", "g"], &[]),
            ("add \"Buy milk\" today", &["add", "todai"], &["buy", "milk"]),
        ] {
            let said = asked(question);
            assert_eq!(
                (said.words.as_slice(), said.values.as_slice()),
                (&words.map_owned()[..], &values.map_owned()[..]),
                "{question}"
            );
        }
        assert_eq!(asked("Hacker News").joined, ["hackernew"]);
    }

    trait MapOwned {
        fn map_owned(&self) -> Vec<String>;
    }

    impl MapOwned for [&str] {
        fn map_owned(&self) -> Vec<String> {
            self.iter().map(|word| (*word).to_owned()).collect()
        }
    }
}
