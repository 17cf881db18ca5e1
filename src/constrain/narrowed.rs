//! Narrows the calls that may be made: to tools that only read, or to known values.

use serde_json::{Map, Value};

use super::structure::{Structure, StructureMember, Structures};
use crate::tools::{Catalog, Tool, lists, looks_up, may_change};

/// A restriction of the tools that may be called, or of the arguments of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Narrowed {
    /// Only this tool may be called, with one of these values for each listed member of its arguments.
    Values {
        /// Server of the tool, if it has one.
        server: Option<String>,
        /// Name of the tool.
        tool: String,
        /// The restricted members of the arguments, with their allowed values.
        members: Vec<(String, Vec<Value>)>,
        /// The other members of the arguments, as the model wrote them.
        others: Map<String, Value>,
    },
    /// Only tools that do not declare that they change something may be called.
    Reads,
    /// Only tools that look something up and can be called without an unknown identifier may be called. Their optional
    /// members, which would narrow the result, are omitted: their values would be guesses.
    Lookups {
        /// Servers and names of tools that must not be called.
        but: Vec<(Option<String>, String)>,
        /// Further required members whose values are unknown, so that tools that need them must not be called.
        unknown: Vec<String>,
        /// Identifiers that results contained and no call has used: if there are any, only tools that require one of
        /// them.
        ids: Vec<String>,
        /// Identifiers that earlier calls have used.
        had: Vec<String>,
        /// Required parameters of each call that failed: a tool that requires the same ones would fail, too.
        required: Vec<Vec<String>>,
    },
    /// All tools may be called except these, and except lookups with the same required parameters as these.
    Others {
        /// Servers and names of tools that must not be called.
        but: Vec<(Option<String>, String)>,
        /// Required parameters of each excluded tool.
        required: Vec<Vec<String>>,
    },
}

impl Narrowed {
    /// Returns `true` if calls of the tool are allowed.
    pub(crate) fn admits(&self, tool: &Tool) -> bool {
        self.arguments(tool).is_some()
    }

    /// Returns the only call that is allowed, with its arguments; `None` if the model has something to decide.
    pub(crate) fn only_call<'c>(&self, catalog: &'c Catalog) -> Option<(&'c Tool, Map<String, Value>)> {
        let mut tools = catalog.offered().filter(|tool| self.admits(tool));
        let tool = tools.next().filter(|_| tools.next().is_none())?;
        let Structure::Object { members, .. } = self.arguments(tool)?.root else { return None };
        let others = if let Narrowed::Values { others, .. } = self { Some(others) } else { None };
        let value = |StructureMember { name, required, value }: StructureMember| {
            let other = others.and_then(|others| others.get(&name).cloned());
            // A value of `members` is given if there is only one; the others are as the model wrote them.
            let only = match value {
                Structure::Literals(mut only) if required && only.len() == 1 => only.pop(),
                _ => other,
            };
            // An optional member may be left out of a call with given values.
            (only.is_some() || required || others.is_none()).then(|| Some((name, only?)))
        };
        Some((tool, members.into_iter().filter_map(value).collect::<Option<_>>()?))
    }

    /// Returns the narrowed structure of a tool's arguments; `None` if the tool must not be called.
    pub(super) fn arguments(&self, tool: &Tool) -> Option<Structures> {
        let mut arguments = Structures::of_arguments(tool.input_schema.as_ref());
        let is_one = |server: &Option<String>, name: &String| tool.server == *server && tool.name == *name;
        match self {
            Narrowed::Reads => (!may_change(tool)).then_some(arguments),
            Narrowed::Lookups { but, unknown, ids, had, required: alike } => {
                let is_one_of = |ids: &[String], member: &String| ids.iter().any(|id| is_same_member(id, member));
                let is_found = |member: &String| is_one_of(ids, member);
                let is_known = |member: &String| is_found(member) || is_one_of(had, member);
                let is_unknown = |member: &String| is_id(member) && !is_known(member) || unknown.contains(member);
                let required = required(tool);
                let leads = ids.is_empty() || required.iter().any(is_found);
                // It must use a found identifier if there is one, need no unknown one, and not be like a call that failed.
                let fails = !leads || required.iter().any(is_unknown) || is_alike(&required, alike);
                let is_left_out = || but.iter().any(|(server, name)| is_one(server, name));
                // Optional members are guesses, unless they are all that a tool has: a search needs one of them, a
                // plain list does not.
                if let Structure::Object { members, .. } = &mut arguments.root
                    && (!required.is_empty() || lists(tool))
                {
                    members.retain(|member| member.required);
                }
                (looks_up(tool) && !fails && !is_left_out()).then_some(arguments)
            }
            Narrowed::Others { but, required: alike } => {
                let is_left_out = but.iter().any(|(server, name)| is_one(server, name));
                // A lookup with the same parameters would look for the same thing; a change with them may be
                // the other step.
                let repeats = looks_up(tool) && is_alike(&required(tool), alike);
                (!is_left_out && !repeats).then_some(arguments)
            }
            Narrowed::Values { server, tool: name, members: values, .. } => {
                let Structure::Object { members, .. } = &mut arguments.root else { return None };
                for (name, values) in values {
                    let member = members.iter_mut().find(|own| own.name == *name)?;
                    member.value = member.value.narrowed(values);
                    member.required = true;
                }
                is_one(server, name).then_some(arguments)
            }
        }
    }
}

impl Structure {
    /// Returns the structure restricted to these values; for an array, its items are restricted.
    fn narrowed(&self, values: &[Value]) -> Structure {
        let values = Structure::Literals(values.to_vec());
        match self {
            Structure::Array { min, max, .. } => {
                Structure::Array { first: Vec::new(), rest: Some(Box::new(values)), min: *min, max: *max }
            }
            _ => values,
        }
    }
}

/// Returns `true` if the list `required` equals one of `others`, ignoring a final `s` of each name; `false` if it is
/// empty.
pub(crate) fn is_alike(required: &[String], others: &[Vec<String>]) -> bool {
    let is_same = |(one, other): (&String, &String)| one.trim_end_matches('s') == other.trim_end_matches('s');
    let is_equal = |other: &Vec<String>| other.len() == required.len() && required.iter().zip(other).all(is_same);
    // Tools that require nothing are not alike for that.
    !required.is_empty() && others.iter().any(is_equal)
}

/// Returns the names of the parameters that a tool requires.
pub(crate) fn required(tool: &Tool) -> Vec<String> {
    tool.parameters().filter(|parameter| parameter.required).map(|parameter| parameter.name.to_owned()).collect()
}

/// Last words of the names of members that contain identifiers.
const ID_WORDS: &[&str] = &["id", "key", "no", "nr", "number", "ref", "reference", "uid", "uuid", "guid"];

/// Words before one of [`ID_WORDS`] that make it something else: a position in a text, a secret, a column.
const PLACES: &[&str] = &["api", "column", "line", "page", "part", "port", "private", "public", "row", "sort"];

/// Returns `true` if the name of a member shows that it contains an identifier.
pub(crate) fn is_id(member: &str) -> bool {
    kind_of_id(member).is_some()
}

/// Returns `true` if two members have the same name, or contain identifiers of the same kind: `order_no` and `orderId`,
/// `account_id` and `from_account_id`.
pub(crate) fn is_same_member(one: &str, other: &str) -> bool {
    let same_kind = || {
        // A bare `id` has no kind, so it equals only itself.
        let kinds = kind_of_id(one).zip(kind_of_id(other)).filter(|(a, b)| !a.is_empty() && !b.is_empty());
        kinds.is_some_and(|(a, b)| a.ends_with(&*b) || b.ends_with(&*a))
    };
    one.eq_ignore_ascii_case(other) || same_kind()
}

/// Returns `true` if a word means that an identifier follows, as `key` in "location key L-1".
pub(crate) fn is_id_word(word: &str) -> bool {
    ID_WORDS.iter().any(|own| word.eq_ignore_ascii_case(own))
}

/// Returns `true` if `name` is the name that an object gives its own identifier, which the parameter `member` expects:
/// `id`, or `number` for `issue_number`.
pub(crate) fn is_bare_name(name: &str, member: &str) -> bool {
    let is_word = || is_id_word(name) && member.to_ascii_lowercase().ends_with(&name.to_ascii_lowercase());
    name.eq_ignore_ascii_case("id") || is_word()
}

/// Returns the kind of object that a member's identifier denotes, in lower case (`order` for `orderId`); empty for a
/// bare `id`, and `None` for a member that contains no identifier.
pub(crate) fn kind_of_id(member: &str) -> Option<String> {
    let is_last = |word: &&&str| {
        let at = member.len().checked_sub(word.len()).filter(|at| member.is_char_boundary(*at));
        at.is_some_and(|at| member[at..].eq_ignore_ascii_case(word) && begins_word(member, at))
    };
    let word = ID_WORDS.iter().find(is_last)?;
    let kind = member[..member.len() - word.len()].trim_end_matches(['_', '-', ' ']).to_lowercase();
    // `id` alone is an identifier; `key` or `number` alone may be anything.
    let is_bare = kind.is_empty() && !matches!(*word, "id" | "uid" | "uuid" | "guid");
    let is_place = kind.rsplit(['_', '-']).next().is_some_and(|word| PLACES.contains(&word));
    (!is_bare && !is_place).then_some(kind)
}

/// Returns the kind of object whose name a member contains, in lower case: `pod` for `pod_name`; `None` for other
/// members.
pub(crate) fn kind_of_name(member: &str) -> Option<String> {
    let at = member.len().checked_sub("name".len()).filter(|at| member.is_char_boundary(*at))?;
    let (kind, word) = member.split_at(at);
    let kind = kind.trim_end_matches(['_', '-', ' ']).to_lowercase();
    (word.eq_ignore_ascii_case("name") && begins_word(member, at) && !kind.is_empty()).then_some(kind)
}

/// Returns the name of a member that contains identifiers of a kind: `order_id`, or `id` for the empty kind.
pub(crate) fn id_of(kind: &str) -> String {
    if kind.is_empty() { "id".into() } else { format!("{kind}_id") }
}

/// Returns `true` if a word of a name begins at byte `at`: `Id` in `orderId`, but not in `paid`.
fn begins_word(name: &str, at: usize) -> bool {
    let (before, word) = name.split_at(at);
    let follows_other = before.ends_with(|c: char| !c.is_alphanumeric());
    // `id`, `order_id` and `orderId` have the word; `paid` only has its letters.
    before.is_empty() || follows_other || before.ends_with(char::is_lowercase) && word.starts_with(char::is_uppercase)
}
