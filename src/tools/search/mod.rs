//! Finds the tools of a catalog that a question most likely means, best first.
//!
//! The ranking is BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009) over the words of names,
//! descriptions and parameters. People seldom use the exact name of a tool: words are stemmed, words that are synonyms
//! in tools' names count for one another, and a value such as a path or an address counts as its kind. Texts without
//! spaces between words, such as Chinese, count by pairs of characters. Nothing is learned and no model is asked: the
//! same catalog and question give the same tools.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use super::Tool;

mod words;

use words::{ParsedQuestion, asked, changing, lines, terms};
#[cfg(feature = "agent")]
pub(crate) use words::{stem, terms as significant_words};

/// BM25's `k1`, the saturation of repeated words; `LENGTH` is its `b`, the penalty for long texts. Usual values.
const SATURATION: f32 = 1.2;
const LENGTH: f32 = 0.75;

/// Weight of a word in a tool's name; other constants weigh words in its other texts.
const IN_NAME: f32 = 2.0;
const IN_SERVER: f32 = 1.5;
const IN_DESCRIPTION: f32 = 1.0;
/// Weight of a word in a description after the first sentence.
const FURTHER_ON: f32 = 0.4;
const IN_PARAMETER: f32 = 0.7;

/// Weight of a synonym of a word in the question, and of a word for the kind of a value, such as a path.
const ALIKE: f32 = 0.7;

/// Factor for the score of a tool that changes something, if the question does not ask for that.
const CHANGES: f32 = 0.7;

/// Limit on the tools that are listed for one question.
pub(crate) const LIKELIEST: usize = 8;

/// Limit on the tools that a search by the model returns.
pub(crate) const FOUND: usize = 5;

/// Number of characters at either end of a message that are searched: the middle of a long one is usually pasted.
const ENDS: usize = 1_000;

/// An item of a conversation that indicates which tools are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Said<S> {
    /// A message of the user.
    Question(S),
    /// A tool was called.
    Called {
        /// Server of the called tool, if the call names one.
        server: Option<S>,
        /// Name of the called tool.
        tool: S,
    },
    /// A search by the model, through the built-in tool that finds tools.
    Searched(S),
}

#[cfg(feature = "agent")]
impl Said<String> {
    pub(crate) fn as_ref(&self) -> Said<&str> {
        match self {
            Said::Question(text) => Said::Question(text),
            Said::Searched(words) => Said::Searched(words),
            Said::Called { server, tool } => Said::Called { server: server.as_deref(), tool },
        }
    }
}

/// Search index over the offered tools of a catalog.
#[derive(Debug, Clone, Default)]
pub struct Search {
    words: BTreeMap<String, Postings>,
    /// Postings of groups of synonyms, by the index of the group's line in the table of synonyms.
    alike: HashMap<u32, Postings>,
    lines: HashMap<String, Vec<u32>>,
    /// The verb of each tool if the tool changes something, otherwise `None`.
    changing: Vec<Option<String>>,
}

/// The tools that contain a word, by index, with the word's weight in each.
#[derive(Debug, Clone, Default)]
struct Postings {
    rarity: f32,
    tools: Vec<(u32, f32)>,
}

impl Search {
    /// Creates an index over these tools.
    pub(super) fn over<'t>(tools: impl Iterator<Item = &'t Tool> + Clone) -> Self {
        let mut search = Search::default();
        for (word, line) in lines() {
            search.lines.entry(word).or_default().push(line);
        }
        let texts: Vec<HashMap<String, f32>> = tools.clone().map(weighted).collect();
        let lengths: Vec<f32> = texts.iter().map(|text| text.values().sum()).collect();
        let verb = |tool: &Tool| changing(&tool.name, tool.server.as_deref().unwrap_or_default());
        search.changing = tools.map(verb).collect();
        #[expect(clippy::cast_precision_loss, reason = "a mean of a few thousand")]
        // A catalog without tools, or with tools without words, must not divide by zero.
        let mean = (lengths.iter().sum::<f32>() / lengths.len().max(1) as f32).max(1.0);
        for (place, (text, length)) in (0_u32..).zip(texts.into_iter().zip(&lengths)) {
            let norm = SATURATION * (1.0 - LENGTH + LENGTH * length / mean);
            let counts = |count: f32| count * (SATURATION + 1.0) / (count + norm);
            let mut alike: HashMap<u32, f32> = HashMap::new();
            for (word, count) in text {
                for line in search.lines.get(&word).into_iter().flatten() {
                    *alike.entry(*line).or_default() += count;
                }
                search.words.entry(word).or_default().tools.push((place, counts(count)));
            }
            for (line, count) in alike {
                search.alike.entry(line).or_default().tools.push((place, counts(count)));
            }
        }
        let all = search.words.values_mut().chain(search.alike.values_mut());
        all.for_each(|postings| postings.weigh(lengths.len()));
        search
    }

    /// Returns the indices of the likeliest tools for a question, at most `most`, the best first; of equal ones the
    /// earlier. A tool without any word of the question is never returned.
    ///
    /// ```
    /// use toolgraft::tools::Search;
    /// use toolgraft::{Catalog, Tool};
    ///
    /// let tools = [
    ///     Tool::new("get_weather").with_description("Gets the weather of a city."),
    ///     Tool::new("send_email").with_description("Sends an email."),
    /// ];
    /// let search = Search::new(&Catalog::from_tools(tools));
    /// assert_eq!(search.find("Which emails can I send?", 8), [1]);
    /// ```
    pub fn find(&self, question: &str, most: usize) -> Vec<usize> {
        let said = asked(question);
        let mut scores = vec![0.0_f32; self.changing.len()];
        let (words, alike) = self.wanted(&said);
        let words_of = words.iter().filter_map(|(word, weight)| Some((self.words.get(*word)?, *weight)));
        let alike_of = alike.iter().filter_map(|(line, weight)| Some((self.alike.get(line)?, *weight)));
        for (postings, weight) in words_of.chain(alike_of) {
            postings.tools.iter().for_each(|(place, counts)| scores[*place as usize] += counts * weight);
        }
        let is_asked = |verb: &String| {
            let lines = self.lines.get(verb).map(Vec::as_slice).unwrap_or_default();
            words.contains_key(verb.as_str()) || lines.iter().any(|line| alike.contains_key(line))
        };
        for (score, verb) in scores.iter_mut().zip(&self.changing).filter(|_| said.is_question) {
            *score *= if verb.as_ref().is_none_or(is_asked) { 1.0 } else { CHANGES };
        }
        let mut found: Vec<usize> = (0..scores.len()).filter(|place| scores[*place] > 0.0).collect();
        let order = |a: &usize, b: &usize| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b));
        // Only the best are sorted: a catalog may have thousands of tools.
        if found.len() > most {
            found.select_nth_unstable_by(most, order);
            found.truncate(most);
        }
        found.sort_unstable_by(order);
        found
    }

    /// Returns the indices of the tools that a conversation suggests, in the order in which they came up; see
    /// [`Catalog::meant`](super::Catalog::meant). `place_of` returns a tool's index by server and name.
    pub(super) fn meant(
        &self,
        said: &[Said<&str>],
        place_of: impl Fn(Option<&str>, &str) -> Option<usize>,
    ) -> Vec<usize> {
        let mut places = Vec::new();
        for said in said {
            let found = match said {
                Said::Question(text) => self.find(&ends_of(text), LIKELIEST),
                Said::Called { server, tool } => place_of(*server, tool).into_iter().collect(),
                Said::Searched(words) => self.find(words, FOUND),
            };
            // The model was told all tools of its search, so each of them must be offered.
            let is_answer = matches!(said, Said::Searched(_));
            if is_answer || found.first().is_some_and(|best| !places.contains(best)) {
                places.extend(found.into_iter().filter(|place| !places.contains(place)).collect::<Vec<_>>());
            }
        }
        places
    }

    /// Returns the words to search for and the lines of their synonyms, each with its weight.
    fn wanted<'s>(&'s self, said: &'s ParsedQuestion) -> (HashMap<&'s str, f32>, HashMap<u32, f32>) {
        // "Magic UI" finds the indexed word `magicuidesign`.
        let begun = |joined: &'s String| {
            let (word, _) = self.words.range::<String, _>(joined..).next()?;
            word.starts_with(joined).then_some(word.as_str())
        };
        let known = said.joined.iter().filter_map(begun);
        let mut words: HashMap<&str, f32> =
            said.words.iter().map(String::as_str).chain(known).map(|word| (word, 1.0)).collect();
        for value in &said.values {
            // A word that the question has as well keeps its full weight.
            words.entry(value).or_insert(ALIKE);
        }
        let mut alike: HashMap<u32, f32> = HashMap::new();
        for (word, weight) in &mut words {
            let Some(lines) = self.lines.get(*word) else { continue };
            for line in lines {
                let known = alike.entry(*line).or_default();
                *known = known.max(ALIKE * *weight);
            }
            // The choice among synonyms says little, so a rare word weighs no more than its group.
            let least = lines.iter().filter_map(|line| self.alike.get(line)).map(|postings| postings.rarity);
            if let Some(own) = self.words.get(*word) {
                *weight = weight.min(least.fold(f32::INFINITY, f32::min) / own.rarity);
            }
        }
        (words, alike)
    }
}

impl Postings {
    /// Weighs a word more the fewer tools have it: the inverse document frequency of BM25.
    #[expect(clippy::cast_precision_loss, reason = "a count of tools")]
    fn weigh(&mut self, all: usize) {
        let holding = self.tools.len() as f32;
        self.rarity = (1.0 + (all as f32 - holding + 0.5) / (holding + 0.5)).ln();
        self.tools.iter_mut().for_each(|(_, counts)| *counts *= self.rarity);
    }
}

/// Returns the words of a tool with their weights.
fn weighted(tool: &Tool) -> HashMap<String, f32> {
    let mut found = HashMap::new();
    let mut add = |text: &str, weight: f32| {
        for word in terms(text) {
            *found.entry(word).or_insert(0.0) += weight;
        }
    };
    add(&tool.name, IN_NAME);
    tool.title.iter().for_each(|title| add(title, IN_NAME / 2.0));
    tool.server.iter().for_each(|server| add(server, IN_SERVER));
    if let Some(description) = &tool.description {
        let (first, further) = first_sentence(description.trim());
        add(first, IN_DESCRIPTION);
        add(further, FURTHER_ON);
    }
    for parameter in tool.parameters() {
        add(parameter.name, IN_PARAMETER);
        let description = parameter.schema.get("description").and_then(serde_json::Value::as_str);
        description.into_iter().for_each(|description| add(description, IN_PARAMETER / 2.0));
    }
    found
}

/// Returns a text without its middle if it has more than `2 * ENDS` characters.
fn ends_of(text: &str) -> Cow<'_, str> {
    let Some((end, _)) = text.char_indices().nth(2 * ENDS) else { return Cow::Borrowed(text) };
    let (head, _) = text.char_indices().nth(ENDS).unwrap_or((end, ' '));
    let (tail, _) = text.char_indices().rev().nth(ENDS).unwrap_or((head, ' '));
    Cow::Owned(format!("{} {}", &text[..head], &text[tail.max(head)..]))
}

/// Splits a description after its first sentence.
fn first_sentence(text: &str) -> (&str, &str) {
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        // A full stop ends a sentence only before white space; an ideographic one ends it anywhere, and so does an
        // empty line.
        let ends = matches!(before, '。' | '！' | '？')
            || (matches!(before, '.' | '!' | '?') && c.is_whitespace())
            || (before == '\n' && c == '\n');
        if ends {
            return text.split_at(at);
        }
        before = c;
    }
    (text, "")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Catalog;

    fn found(tools: &[Tool], question: &str) -> Vec<String> {
        let catalog = Catalog::from_tools(tools.to_vec());
        let names: Vec<&str> = catalog.offered().map(|tool| tool.name.as_str()).collect();
        Search::new(&catalog).find(question, 3).into_iter().map(|place| names[place].to_owned()).collect()
    }

    #[test]
    fn the_likeliest_tools_come_first_and_the_others_not_at_all() {
        let path = json!({"properties": {"path": {"type": "string", "description": "Path of the file"}}});
        let tools = [
            Tool::new("get_weather").with_description("Gets the current weather of a city."),
            Tool::new("read_file").with_description("Reads a file from disk.").with_schema(path.clone()),
            Tool::new("create_issue").with_description("Opens an issue in a repository.").with_server("github"),
            Tool::new("weather_alerts").with_description("Lists warnings of storms by region."),
            Tool::new("翻译").with_description("把文本翻译成另一种语言。"),
        ];
        for (question, names) in [
            ("What is the weather in Oslo?", &["get_weather", "weather_alerts"][..]),
            ("Are there storm warnings?", &["weather_alerts"]),
            ("open an issue on GitHub", &["create_issue", "read_file"]),
            ("Show me the path of my files", &["read_file", "create_issue"]),
            ("请翻译这个文本", &["翻译"]),
            ("Hello there!", &[]),
            ("", &[]),
        ] {
            assert_eq!(found(&tools, question), names, "{question}");
        }
    }

    #[test]
    fn a_rare_word_counts_more_than_a_common_one_and_a_limit_holds() {
        let many = (0..50).map(|n| Tool::new(format!("list_item_{n}")).with_description("Lists items of a board."));
        let mut tools: Vec<Tool> = many.collect();
        tools.push(Tool::new("archive_board").with_description("Archives a board."));
        assert_eq!(found(&tools, "list what is archived, archive the board")[0], "archive_board");
        assert_eq!(found(&tools, "list items"), ["list_item_0", "list_item_1", "list_item_2"]);
    }
}
