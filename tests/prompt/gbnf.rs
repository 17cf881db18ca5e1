//! A small interpreter of GBNF: checks texts against a grammar, and generates texts.
//!
//! It follows llama.cpp's `grammars/README.md`, as far as our grammars need it: literals, classes,
//! groups, alternatives, `*`, `?`, `+` and `{m,n}`.

use std::collections::{BTreeSet, HashMap, HashSet};

/// A part of a rule.
#[derive(Debug, Clone)]
enum Part {
    Char(char),
    /// Ranges; `true` if the class is negated.
    Class(Vec<(char, char)>, bool),
    Rule(usize),
    Sequence(Vec<Part>),
    OneOf(Vec<Part>),
    Repeat(Box<Part>, usize, Option<usize>),
}

/// A grammar.
pub(crate) struct Grammar {
    rules: Vec<Part>,
    root: usize,
}

impl Grammar {
    /// Parses a grammar. Panics if it is invalid, or if a rule is missing.
    pub(crate) fn read(text: &str) -> Self {
        let lines: Vec<(&str, &str)> = text.lines().map(|line| line.split_once(" ::= ").unwrap()).collect();
        let names: HashMap<&str, usize> = lines.iter().enumerate().map(|(n, (name, _))| (*name, n)).collect();
        assert_eq!(names.len(), lines.len(), "a rule is there twice");
        let rules = lines.iter().map(|(_, rule)| {
            let mut reader = Reader { rest: rule, names: &names };
            let part = reader.one_of();
            assert_eq!(reader.rest, "", "{rule}");
            part
        });
        Grammar { rules: rules.collect(), root: names["root"] }
    }

    /// Returns `true` if it allows the whole text.
    pub(crate) fn allows(&self, text: &str) -> bool {
        let text: Vec<char> = text.chars().collect();
        let mut matcher = Matcher { grammar: self, text: &text, known: HashMap::new() };
        matcher.rule(self.root, 0).contains(&text.len())
    }

    /// Generates a text; `choose` returns a number below its argument. From a certain depth on, the
    /// shortest alternatives are taken.
    pub(crate) fn text(&self, choose: &mut impl FnMut(usize) -> usize) -> String {
        let mut text = String::new();
        self.write(&self.rules[self.root], choose, 40, &mut text);
        text
    }

    fn write(&self, part: &Part, choose: &mut impl FnMut(usize) -> usize, depth: usize, text: &mut String) {
        match part {
            Part::Char(c) => text.push(*c),
            Part::Class(ranges, negative) => {
                let all = [
                    'a', 'Z', '0', ' ', 'é', '灯', '<', '/', '}', ']', '"', '\\', ',', '1', 'f', '\'', '`', '=',
                    '\u{7f}',
                ];
                let is_in = |c: char| ranges.iter().any(|(from, to)| (*from..=*to).contains(&c)) != *negative;
                let fits: Vec<char> = all.into_iter().filter(|c| is_in(*c)).collect();
                // None of our characters fits only if the class has its own first character.
                let c = if fits.is_empty() { ranges[choose(ranges.len())].0 } else { fits[choose(fits.len())] };
                text.push(c);
            }
            Part::Rule(rule) => self.write(&self.rules[*rule], choose, depth.saturating_sub(1), text),
            Part::Sequence(parts) => parts.iter().for_each(|part| self.write(part, choose, depth, text)),
            Part::OneOf(parts) => {
                let one = if depth == 0 { self.shortest(parts) } else { &parts[choose(parts.len())] };
                self.write(one, choose, depth, text);
            }
            Part::Repeat(part, least, most) => {
                let more = if depth == 0 { 0 } else { choose(3).min(most.unwrap_or(usize::MAX) - least) };
                for _ in 0..least + more {
                    self.write(part, choose, depth, text);
                }
            }
        }
    }

    /// Returns the alternative that leads to the fewest rules.
    fn shortest<'p>(&self, parts: &'p [Part]) -> &'p Part {
        let weight = |part: &Part| self.weight(part, 6);
        parts.iter().min_by_key(|part| weight(part)).unwrap()
    }

    fn weight(&self, part: &Part, depth: usize) -> usize {
        match part {
            Part::Char(_) | Part::Class(..) => 1,
            Part::Rule(_) if depth == 0 => 1_000,
            Part::Rule(rule) => 1 + self.weight(&self.rules[*rule], depth - 1),
            Part::Sequence(parts) => parts.iter().map(|part| self.weight(part, depth)).sum(),
            Part::OneOf(parts) => parts.iter().map(|part| self.weight(part, depth)).min().unwrap_or(0),
            Part::Repeat(part, least, _) => least * self.weight(part, depth),
        }
    }
}

struct Reader<'g> {
    rest: &'g str,
    names: &'g HashMap<&'g str, usize>,
}

impl Reader<'_> {
    fn one_of(&mut self) -> Part {
        let mut all = vec![self.sequence()];
        while self.eat("|") {
            all.push(self.sequence());
        }
        if all.len() == 1 { all.remove(0) } else { Part::OneOf(all) }
    }

    fn sequence(&mut self) -> Part {
        let mut parts = Vec::new();
        loop {
            self.rest = self.rest.trim_start_matches(' ');
            let Some(c) = self.rest.chars().next().filter(|c| !matches!(c, '|' | ')')) else { break };
            let part = match c {
                '"' => self.literal(),
                '[' => self.class(),
                '(' => {
                    self.rest = &self.rest[1..];
                    let inner = self.one_of();
                    assert!(self.eat(")"), "{}", self.rest);
                    inner
                }
                _ => {
                    let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(self.rest.len());
                    let (name, rest) = self.rest.split_at(end);
                    self.rest = rest;
                    Part::Rule(*self.names.get(name).unwrap_or_else(|| panic!("no rule {name:?}")))
                }
            };
            parts.push(self.repeated(part));
        }
        if parts.len() == 1 { parts.remove(0) } else { Part::Sequence(parts) }
    }

    fn repeated(&mut self, part: Part) -> Part {
        let (least, most) = match self.rest.chars().next() {
            Some('*') => (0, None),
            Some('?') => (0, Some(1)),
            Some('+') => (1, None),
            Some('{') => {
                let (counts, rest) = self.rest[1..].split_once('}').unwrap();
                let (least, most) = counts.split_once(',').unwrap();
                self.rest = rest;
                let most = (!most.is_empty()).then(|| most.parse().unwrap());
                return Part::Repeat(Box::new(part), least.parse().unwrap(), most);
            }
            _ => return part,
        };
        self.rest = &self.rest[1..];
        Part::Repeat(Box::new(part), least, most)
    }

    fn literal(&mut self) -> Part {
        self.rest = &self.rest[1..];
        let mut parts = Vec::new();
        while !self.rest.starts_with('"') {
            parts.push(Part::Char(self.char()));
        }
        self.rest = &self.rest[1..];
        Part::Sequence(parts)
    }

    fn class(&mut self) -> Part {
        self.rest = &self.rest[1..];
        let negative = self.rest.starts_with('^');
        if negative {
            self.rest = &self.rest[1..];
        }
        let mut ranges = Vec::new();
        while !self.rest.starts_with(']') {
            let from = self.char();
            let is_range = self.rest.starts_with('-') && !self.rest[1..].starts_with(']');
            let to = if is_range {
                self.rest = &self.rest[1..];
                self.char()
            } else {
                from
            };
            ranges.push((from, to));
        }
        self.rest = &self.rest[1..];
        Part::Class(ranges, negative)
    }

    /// Reads a character, and decodes an escape.
    fn char(&mut self) -> char {
        let mut chars = self.rest.chars();
        let c = chars.next().unwrap();
        let (c, length) = match c {
            '\\' => match chars.next().unwrap() {
                'n' => ('\n', 2),
                'r' => ('\r', 2),
                't' => ('\t', 2),
                'x' => (char::from(u8::from_str_radix(&self.rest[2..4], 16).unwrap()), 4),
                c @ ('\\' | '"' | '[' | ']' | '-' | '^') => (c, 2),
                c => panic!("\\{c}"),
            },
            c => (c, c.len_utf8()),
        };
        self.rest = &self.rest[length..];
        c
    }

    fn eat(&mut self, text: &str) -> bool {
        self.rest = self.rest.trim_start_matches(' ');
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }
}

/// Finds the possible ends of rules that begin at an offset.
struct Matcher<'g> {
    grammar: &'g Grammar,
    text: &'g [char],
    known: HashMap<(usize, usize), BTreeSet<usize>>,
}

impl Matcher<'_> {
    fn rule(&mut self, rule: usize, at: usize) -> BTreeSet<usize> {
        if let Some(ends) = self.known.get(&(rule, at)) {
            return ends.clone();
        }
        // Left recursion would not end: the rule matches nothing more.
        self.known.insert((rule, at), BTreeSet::new());
        let grammar = self.grammar;
        let ends = self.part(&grammar.rules[rule], at);
        self.known.insert((rule, at), ends.clone());
        ends
    }

    fn part(&mut self, part: &Part, at: usize) -> BTreeSet<usize> {
        match part {
            Part::Char(c) => self.one(at, |found| found == *c),
            Part::Class(ranges, negative) => {
                self.one(at, |found| ranges.iter().any(|(from, to)| (*from..=*to).contains(&found)) != *negative)
            }
            Part::Rule(rule) => self.rule(*rule, at),
            Part::OneOf(parts) => parts.iter().flat_map(|part| self.part(part, at)).collect(),
            Part::Sequence(parts) => parts
                .iter()
                .fold(BTreeSet::from([at]), |from, part| from.into_iter().flat_map(|at| self.part(part, at)).collect()),
            Part::Repeat(part, least, most) => {
                let (mut ends, mut seen) = (BTreeSet::new(), HashSet::new());
                let mut from = BTreeSet::from([at]);
                for count in 0.. {
                    if count >= *least {
                        ends.extend(from.iter().copied());
                    }
                    let further = from.into_iter().filter(|at| count < *least || seen.insert(*at));
                    from = further.collect::<Vec<_>>().into_iter().flat_map(|at| self.part(part, at)).collect();
                    if from.is_empty() || most.is_some_and(|most| count >= most) {
                        break;
                    }
                }
                ends
            }
        }
    }

    fn one(&self, at: usize, fits: impl Fn(char) -> bool) -> BTreeSet<usize> {
        self.text.get(at).filter(|c| fits(**c)).map(|_| at + 1).into_iter().collect()
    }
}

#[test]
fn the_matcher_knows_what_a_grammar_says() {
    let grammar = Grammar::read("root ::= \"a\" (b | [^x-z\\]]{2,3}) \"\\n\"?\nb ::= \"b\" b | \"c\"");
    for (text, allowed) in [
        ("abbc", true),
        ("ac\n", true),
        ("aqq", true),
        ("aqqq\n", true),
        ("aq", false),
        ("axq", false),
        ("abb\nb", false),
    ] {
        assert_eq!(grammar.allows(text), allowed, "{text:?}");
    }
}
