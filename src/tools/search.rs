//! Tools by a question: those of a catalog that are likeliest meant, best first.
//!
//! BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009) over the words of
//! names, descriptions and parameters. Words are folded to lower case and to the singular; texts
//! without spaces between words, such as Chinese, count by pairs of characters. Nothing is learned
//! and nothing asked for: the same catalog and question give the same tools.

use std::collections::HashMap;

use super::{Catalog, Tool};

/// How soon a word that stands there again adds nothing, and how much a long text counts less;
/// the usual values.
const SATURATION: f32 = 1.2;
const LENGTH: f32 = 0.75;

/// How often a word counts by where it stands.
const IN_NAME: f32 = 3.0;
const IN_DESCRIPTION: f32 = 1.0;
const IN_PARAMETER: f32 = 0.7;

/// Words that say nothing of what is wanted.
const STOP: &[&str] = &[
    "a", "about", "all", "an", "and", "any", "are", "as", "at", "be", "by", "can", "could", "do", "doe", "for", "from",
    "give", "how", "i", "if", "in", "into", "is", "it", "me", "my", "of", "on", "or", "our", "please", "so", "some",
    "that", "the", "then", "there", "these", "this", "to", "tool", "use", "used", "want", "was", "we", "what", "when",
    "where", "which", "who", "will", "with", "would", "you", "your",
];

/// An index over the tools of a catalog that are offered.
#[derive(Debug, Clone, Default)]
pub struct Search {
    /// Of each word the tools in which it stands, by their place, and what it counts there.
    words: HashMap<String, Vec<(u32, f32)>>,
    tools: usize,
}

impl Search {
    /// An index over the tools that the catalog's servers offer.
    pub fn new(catalog: &Catalog) -> Self {
        let texts: Vec<HashMap<String, f32>> = catalog.offered().map(weighted).collect();
        let lengths: Vec<f32> = texts.iter().map(|text| text.values().sum()).collect();
        #[expect(clippy::cast_precision_loss, reason = "a mean of a few thousand")]
        let mean = (lengths.iter().sum::<f32>() / lengths.len().max(1) as f32).max(1.0);
        let mut words: HashMap<String, Vec<(u32, f32)>> = HashMap::new();
        for (place, (text, length)) in (0_u32..).zip(texts.into_iter().zip(&lengths)) {
            let norm = SATURATION * (1.0 - LENGTH + LENGTH * length / mean);
            for (word, count) in text {
                words.entry(word).or_default().push((place, count * (SATURATION + 1.0) / (count + norm)));
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "a count of tools")]
        let rarity =
            |holding: usize| (1.0 + (lengths.len() as f32 - holding as f32 + 0.5) / (holding as f32 + 0.5)).ln();
        for postings in words.values_mut() {
            let rarity = rarity(postings.len());
            postings.iter_mut().for_each(|(_, counts)| *counts *= rarity);
        }
        Search { words, tools: lengths.len() }
    }

    /// The places of the likeliest tools among [those that are offered](Catalog::offered), at most
    /// so many, the best first; of equal ones the earlier. None of them has no word of the question.
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
        let mut asked = terms(question);
        asked.sort_unstable();
        asked.dedup();
        let mut scores = vec![0.0_f32; self.tools];
        for (place, counts) in asked.iter().filter_map(|word| self.words.get(word)).flatten() {
            scores[*place as usize] += counts;
        }
        let mut found: Vec<usize> = (0..self.tools).filter(|place| scores[*place] > 0.0).collect();
        found.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
        found.truncate(most);
        found
    }
}

/// The words of a tool, and what each counts.
fn weighted(tool: &Tool) -> HashMap<String, f32> {
    let mut found = HashMap::new();
    let mut add = |text: &str, weight: f32| {
        for word in terms(text) {
            *found.entry(word).or_insert(0.0) += weight;
        }
    };
    add(&tool.name, IN_NAME);
    tool.title.iter().for_each(|title| add(title, IN_NAME / 2.0));
    tool.server.iter().for_each(|server| add(server, IN_DESCRIPTION));
    tool.description.iter().for_each(|description| add(description, IN_DESCRIPTION));
    for parameter in tool.parameters() {
        add(parameter.name, IN_PARAMETER);
        let description = parameter.schema.get("description").and_then(serde_json::Value::as_str);
        description.into_iter().for_each(|description| add(description, IN_PARAMETER / 2.0));
    }
    found
}

/// The words of a text that say something: of `snake_case` and `camelCase` each part, of other
/// scripts each pair of characters.
fn terms(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut word = String::new();
    let mut end = |word: &mut String| {
        let folded = singular(&std::mem::take(word).to_lowercase());
        if !folded.is_empty() && !STOP.contains(&folded.as_str()) {
            found.push(folded);
        }
    };
    let mut before = ' ';
    let mut pairs = Vec::new();
    for c in text.chars() {
        let is_new_part = before.is_lowercase() && c.is_uppercase();
        if !c.is_alphanumeric() || is_new_part || is_unspaced(c) {
            end(&mut word);
        }
        if is_unspaced(c) {
            pairs.extend(is_unspaced(before).then(|| format!("{before}{c}")));
        } else if c.is_alphanumeric() {
            word.push(c);
        }
        before = c;
    }
    end(&mut word);
    found.extend(pairs);
    found
}

/// Whether a character is of a script that puts no spaces between words.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// An English word without the end of its plural or its third person.
fn singular(word: &str) -> String {
    let stem = match word {
        _ if word.len() < 4 || !word.is_ascii() => word,
        _ if word.ends_with("ss") || word.ends_with("us") || word.ends_with("is") => word,
        _ if word.ends_with("ies") => return format!("{}y", &word[..word.len() - 3]),
        _ if ["ches", "shes", "xes", "sses", "zes"].iter().any(|end| word.ends_with(end)) => &word[..word.len() - 2],
        _ => word.strip_suffix('s').unwrap_or(word),
    };
    stem.to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(tools: &[Tool], question: &str) -> Vec<String> {
        let catalog = Catalog::from_tools(tools.to_vec());
        let names: Vec<&str> = catalog.offered().map(|tool| tool.name.as_str()).collect();
        Search::new(&catalog).find(question, 3).into_iter().map(|place| names[place].to_owned()).collect()
    }

    #[test]
    fn words_are_folded_and_those_that_say_nothing_left_out() {
        for (text, words) in [
            ("Which of the cities?", &["city"][..]),
            ("getWeatherForecast", &["get", "weather", "forecast"]),
            ("list_open-issues.v2", &["list", "open", "issue", "v2"]),
            ("Searches boxes, statuses, buses", &["search", "box", "statuse", "buse"]),
            ("查询天气 now", &["now", "查询", "询天", "天气"]),
            ("Größe ändern", &["größe", "ändern"]),
            ("", &[]),
        ] {
            assert_eq!(terms(text), words, "{text}");
        }
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
            ("open an issue on GitHub", &["create_issue"]),
            ("Show me the path of my files", &["read_file"]),
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
