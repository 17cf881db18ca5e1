//! Writes a structure as rules of GBNF, the grammar language of llama.cpp (`grammars/README.md` there).
//!
//! Each value has one canonical form: members in the schema's order, a space after each colon and comma (models are
//! used to it: one token has both), and the escapes that `serde_json` writes. With fewer forms of a value a model is
//! less likely to lose its thread, and this crate writes its own calls in the same form ([`write_call`]).
//!
//! [`write_call`]: crate::dialect::write_call

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use super::structure::{REGIONS, Structure, StructureMember, Structures};
use crate::json::spaced;

/// Grammar rules for basic values, each with the names of the rules that it needs. Integers have at most 18 digits, so
/// that every one is exact; an object with arbitrary members may have a name twice.
const BASIC: [(&str, &str, &[&str]); 8] = [
    ("any", r#"object | array | text | number | "true" | "false" | "null""#, &["object", "array", "text", "number"]),
    ("object", r#""{" (member (", " member)*)? "}""#, &["member"]),
    ("member", r#"text ": " any"#, &["text", "any"]),
    ("array", r#""[" (any (", " any)*)? "]""#, &["any"]),
    ("text", r#""\"" char* "\"""#, &["char"]),
    ("char", r#"[^"\\\x00-\x1F] | "\\" (["\\bfnrt] | "u00" [01] [0-9a-f])"#, &[]),
    ("integer", r#""-"? ("0" | [1-9] [0-9]{0,17})"#, &[]),
    ("number", r#"integer ("." [0-9]{1,21})? ([eE] [-+]? [0-9]{1,3})?"#, &["integer"]),
];

/// Builder of a GBNF grammar.
#[derive(Default)]
pub(super) struct Grammar {
    /// The rules by index; rule N is named `rN`.
    rules: Vec<String>,
    basic: BTreeMap<&'static str, &'static str>,
}

impl Grammar {
    /// Returns the text of the grammar, whose root rule is `root`.
    pub(super) fn finish(self, root: &str) -> String {
        let mut text = format!("root ::= {root}\n");
        for (index, rule) in self.rules.iter().enumerate() {
            let _ = writeln!(text, "{} ::= {rule}", name(index));
        }
        for (name, rule) in &self.basic {
            let _ = writeln!(text, "{name} ::= {rule}");
        }
        text
    }

    /// Adds a rule and returns its name.
    pub(super) fn add(&mut self, rule: String) -> String {
        self.rules.push(rule);
        name(self.rules.len() - 1)
    }

    /// Reserves the indices of `rules` grammar rules that refer to each other, and are set later.
    fn reserve(&mut self, rules: usize) -> std::ops::Range<usize> {
        let first = self.rules.len();
        self.rules.resize(first + rules, String::new());
        first..first + rules
    }

    fn basic(&mut self, name: &'static str) -> String {
        if let Some((name, rule, needs)) = BASIC.into_iter().find(|(own, ..)| *own == name)
            // A rule that is there already has its own rules, too, so that the recursion ends.
            && self.basic.insert(name, rule).is_none()
        {
            needs.iter().for_each(|need| drop(self.basic(need)));
        }
        name.to_owned()
    }

    /// Adds the rules for a structure, and returns the expression that matches its values.
    pub(super) fn value(&mut self, all: &Structures) -> String {
        let places = self.reserve(all.named.len());
        let names: Vec<String> = places.clone().map(name).collect();
        for (part, place) in all.named.iter().zip(places) {
            self.rules[place] = self.element(part, &names);
        }
        self.element(&all.root, &names)
    }

    fn element(&mut self, structure: &Structure, names: &[String]) -> String {
        match structure {
            Structure::Any => self.basic("any"),
            Structure::Null => literal("null"),
            Structure::Boolean => "(\"true\" | \"false\")".to_owned(),
            Structure::Integer => self.basic("integer"),
            Structure::Number => self.basic("number"),
            Structure::Text { min: 0, max: None } => self.basic("text"),
            Structure::Zone => {
                let regions: Vec<String> = REGIONS.iter().map(|region| literal(region)).collect();
                self.add(format!(r#""\"" (({}) [A-Za-z_/+-]{{1,40}} | "UTC") "\"""#, regions.join(" | ")))
            }
            Structure::Text { min, max } => {
                let max = max.map(|max| max.to_string()).unwrap_or_default();
                format!("\"\\\"\" {}{{{min},{max}}} \"\\\"\"", self.basic("char"))
            }
            Structure::Literals(values) => {
                let all: Vec<String> = values.iter().map(|value| literal(&spaced(value))).collect();
                self.add(all.join(" | "))
            }
            Structure::OneOf(all) => {
                let all: Vec<String> = all.iter().map(|one| self.element(one, names)).collect();
                self.add(all.join(" | "))
            }
            Structure::Named(index) => names.get(*index).cloned().unwrap_or_else(|| self.basic("any")),
            Structure::Object { members, rest } => match (members.as_slice(), rest.as_deref()) {
                // One shared rule for every free object keeps the grammar small.
                ([], Some(Structure::Any)) => self.basic("object"),
                (members, rest) => self.object(members, rest, names),
            },
            Structure::Array { first, rest, min, max } => match (first.as_slice(), rest.as_deref(), min, max) {
                ([], Some(Structure::Any), 0, None) => self.basic("array"),
                (first, rest, min, max) => self.array(first, rest, (*min, *max), names),
            },
        }
    }

    fn object(&mut self, members: &[StructureMember], rest: Option<&Structure>, names: &[String]) -> String {
        let written: Vec<String> = members
            .iter()
            .map(|member| {
                let key = literal(&format!("{}: ", Value::from(member.name.as_str())));
                format!("{key} {}", self.element(&member.value, names))
            })
            .collect();
        let further = rest.map(|rest| {
            let (text, value) = (self.basic("text"), self.element(rest, names));
            self.add(format!("{text} \": \" {value}"))
        });
        let more = further.as_ref().map_or(String::new(), |more| format!(" (\", \" {more})*"));
        let inside = match members.iter().position(|member| member.required) {
            Some(first) => {
                let mut inside = String::new();
                for (at, (member, written)) in members.iter().zip(&written).enumerate() {
                    let _ = match (at.cmp(&first), member.required) {
                        // Before the first required member each optional one brings its comma; after it the
                        // comma comes first.
                        (std::cmp::Ordering::Less, _) => write!(inside, " ({written} \", \")?"),
                        (std::cmp::Ordering::Equal, _) => write!(inside, " {written}"),
                        (_, true) => write!(inside, " \", \" {written}"),
                        (_, false) => write!(inside, " (\", \" {written})?"),
                    };
                }
                inside + &more
            }
            None => self.optional(&written, further.as_deref(), &more),
        };
        self.add(format!("\"{{\"{inside} \"}}\""))
    }

    /// Returns the expression for members that are all optional, any of which may be the first one.
    fn optional(&mut self, written: &[String], further: Option<&str>, more: &str) -> String {
        let mut firsts: Vec<String> = further.map(|further| format!("{further}{more}")).into_iter().collect();
        let mut tail = more.to_owned();
        for written in written.iter().rev() {
            firsts.push(format!("{written}{tail}"));
            let rule = self.add(format!("(\", \" {written})?{tail}"));
            tail = format!(" {rule}");
        }
        match firsts.is_empty() {
            true => String::new(),
            false => format!(" ({})?", firsts.into_iter().rev().collect::<Vec<_>>().join(" | ")),
        }
    }

    fn array(
        &mut self,
        first: &[Structure],
        rest: Option<&Structure>,
        (min, max): (usize, Option<usize>),
        names: &[String],
    ) -> String {
        let max = max.unwrap_or(usize::MAX);
        let items: Vec<String> = first.iter().take(max).map(|item| self.element(item, names)).collect();
        // The limit may leave no space for further items.
        let rest = rest.filter(|_| max > items.len()).map(|rest| self.element(rest, names));
        // Built from the end, since each rule contains the items that may follow.
        let mut inside = String::new();
        if let Some(rest) = rest {
            let (least, most) = (min.saturating_sub(items.len()), (max != usize::MAX).then(|| max - items.len()));
            inside = if items.is_empty() {
                // The first item has no comma before it.
                let again = times(least.saturating_sub(1), most.map(|most| most - 1));
                let all = format!("{rest} (\", \" {rest}){again}");
                if least == 0 { format!("({all})?") } else { all }
            } else {
                format!("(\", \" {rest}){}", times(least, most))
            };
        }
        for (at, item) in items.iter().enumerate().rev() {
            let comma = if at == 0 { "" } else { "\", \" " };
            inside = format!("{comma}{item} {inside}");
            // Items up to the minimum must be there.
            if at >= min {
                inside = format!("({inside})?");
            }
        }
        self.add(format!("\"[\" {inside} \"]\""))
    }
}

fn times(least: usize, most: Option<usize>) -> String {
    match (least, most) {
        (0, None) => "*".to_owned(),
        (least, None) => format!("{{{least},}}"),
        (least, Some(most)) => format!("{{{least},{most}}}"),
    }
}

/// Returns a text as a quoted literal of a grammar.
pub(super) fn literal(text: &str) -> String {
    let mut literal = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => literal.push_str("\\\""),
            '\\' => literal.push_str("\\\\"),
            '\n' => literal.push_str("\\n"),
            '\r' => literal.push_str("\\r"),
            '\t' => literal.push_str("\\t"),
            c if c.is_ascii_control() => {
                let _ = write!(literal, "\\x{:02X}", u32::from(c));
            }
            c => literal.push(c),
        }
    }
    literal.push('"');
    literal
}

/// Returns a rule for any text up to and including `end`, whose first character must occur in it only once.
pub(super) fn up_to(grammar: &mut Grammar, end: &str) -> String {
    let all: Vec<char> = end.chars().collect();
    let places = grammar.reserve(all.len());
    let states: Vec<String> = places.clone().map(name).collect();
    let first = all.first().copied().unwrap_or_default();
    for ((at, c), place) in all.iter().enumerate().zip(places) {
        let next = states.get(at + 1).map_or(String::new(), |next| format!(" {next}"));
        let (own, begun) = (literal(&c.to_string()), literal(&first.to_string()));
        grammar.rules[place] = match (at, states.get(1)) {
            (1.., Some(second)) => {
                format!("{own}{next} | {begun} {second} | [^{}{}] {}", class(*c), class(first), states[0])
            }
            _ => format!("[^{}]* {own}{next}", class(first)),
        };
    }
    states.into_iter().next().unwrap_or_else(|| literal(""))
}

/// Returns the name of the rule with this index.
fn name(rule: usize) -> String {
    format!("r{rule}")
}

/// Escapes a character for a character class of a grammar.
fn class(c: char) -> String {
    match c {
        '\\' | ']' | '^' | '-' => format!("\\{c}"),
        c => c.to_string(),
    }
}
