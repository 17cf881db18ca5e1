//! The budget of the list of tools: selects the tools that are listed within it, and their styles.
//!
//! The same rule serves the prompt, which lists the tools as text, and a request that carries them ([`ListMeasure`]). As
//! long as all tools are listed, the order of the steps depends on the tools alone: the same tools and the same budget
//! give the same prompt, which an endpoint can cache.

use std::cmp::Reverse;
use std::fmt;

use super::error::PromptError;
use super::options::{Listing, Options};
use crate::tools::{FIND_TOOL, LIKELIEST, Tool};

/// Default budget in tokens of the list of tools, used if the length of the context is not known.
pub const TOOL_BUDGET: usize = 8_000;

/// Divisor of a known context length that gives the default budget of the list of tools: the instructions, the history
/// and the answer use the rest.
const LISTING_PART: usize = 4;

/// Returns the default budget of the list of tools in tokens, in the prompt or in the request: a quarter of the
/// context, or [`TOOL_BUDGET`] if its length is not known.
pub fn tool_budget(context: Option<usize>) -> usize {
    context.map_or(TOOL_BUDGET, |tokens| tokens / LISTING_PART)
}

/// Maximum context length in tokens at which only a few tools (at most eight) are listed.
const SHORT_CONTEXT: usize = 16_384;

impl Options {
    /// Sets the default budget of the list of tools for a context of so many tokens ([`tool_budget`]), unless a budget
    /// is set, and lists only a [few](Self::few_tools) tools in a short context.
    #[must_use]
    pub fn within(self, context: Option<usize>) -> Self {
        let budget = self.tool_budget.unwrap_or_else(|| tool_budget(context));
        let few_tools = self.few_tools || context.is_some_and(|tokens| tokens <= SHORT_CONTEXT);
        Options { few_tools, ..self.with_tool_budget(Some(budget)) }
    }
}

/// The styles in which the tools of a prompt are listed, and the size of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listed {
    /// Number of tools in each style, in the order of [`Listing::ALL`].
    counts: [usize; Listing::ALL.len()],
    /// Number of tools that are not listed; the model finds them with `find_tool`.
    pub unlisted: usize,
    /// Size of the list in tokens: servers with their instructions, tools and resources, and the sentence about
    /// unlisted tools.
    pub tokens: usize,
    /// Maximum size of the list in tokens; `None` if it is not limited.
    pub budget: Option<usize>,
}

impl Listed {
    pub(super) fn new(styles: &[Style], tokens: usize, budget: Option<usize>) -> Self {
        let count = |wanted: Style| styles.iter().filter(|style| **style == wanted).count();
        let counts = std::array::from_fn(|n| count(Some(Listing::ALL[n])));
        Listed { counts, unlisted: count(None), tokens, budget }
    }

    /// Returns the number of tools that are listed in this style.
    pub fn count(&self, style: Listing) -> usize {
        Listing::ALL.iter().position(|s| *s == style).map_or(0, |n| self.counts[n])
    }

    /// Returns `true` if the list exceeds its budget although it is as short as possible.
    pub fn is_over_budget(&self) -> bool {
        self.budget.is_some_and(|budget| self.tokens > budget)
    }
}

/// Formats the counts: `12 tools as signature, 3 as index`.
impl fmt::Display for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let styles = Listing::ALL.iter().filter(|style| self.count(**style) > 0);
        let mut parts: Vec<String> = styles.map(|style| format!("{} as {style}", self.count(*style))).collect();
        parts.extend((self.unlisted > 0).then(|| format!("{} by {FIND_TOOL}", self.unlisted)));
        f.write_str(if parts.is_empty() { "no tools" } else { "" })?;
        f.write_str(&parts.join(", "))
    }
}

/// The style in which a tool is listed; `None` if the tool is not listed.
pub(super) type Style = Option<Listing>;

/// Measures the size of a list of tools in tokens.
pub(super) trait ListMeasure {
    /// Returns the size in tokens of the list with its tools in these styles.
    fn listing(&self, styles: &[Style]) -> Result<usize, PromptError>;
    /// Returns the size in tokens of one tool in a style; `place` is the tool's index.
    fn tool(&self, place: usize, style: Listing) -> Result<usize, PromptError>;
}

/// The input of the rule that selects the tools of a list and their styles within a budget.
pub(super) struct ListingRule<'r> {
    /// The style of each tool if the whole list fits the budget ([`start`]).
    pub(super) start: Vec<Style>,
    /// For each tool, `true` if it keeps its style because the tool choice names it.
    pub(super) pinned: Vec<bool>,
    /// The shortest style that a listed tool may get.
    pub(super) shortest: Listing,
    /// The style of listed tools if other tools are not listed.
    pub(super) full: Listing,
    /// `true` if, with more than [`LIKELIEST`] tools, only those that the conversation suggests are listed, if it
    /// suggests any.
    pub(super) few: bool,
    /// Function that returns the indices of the tools that the conversation suggests; `None` if the model cannot find a
    /// tool that is not listed.
    pub(super) meant: Option<&'r dyn Fn() -> Vec<usize>>,
}

/// Returns the style of each tool without a budget. A deferred tool is listed only if it is pinned, or if the
/// conversation suggests it, or if the model cannot find unlisted tools.
pub(super) fn start(
    tools: &[&Tool],
    pinned: &[bool],
    style: impl Fn(bool) -> Listing,
    meant: Option<&dyn Fn() -> Vec<usize>>,
) -> Vec<Style> {
    let meant = meant.filter(|_| tools.iter().any(|tool| tool.deferred)).map(|meant| meant());
    let is_left = |place: usize| meant.as_ref().is_some_and(|meant| !pinned[place] && !meant.contains(&place));
    let style = |(place, tool): (usize, &&Tool)| (!tool.deferred || !is_left(place)).then(|| style(pinned[place]));
    tools.iter().enumerate().map(style).collect()
}

/// Returns the style of each tool within the budget, and the size of that list in tokens. All tools are listed, in the
/// longest styles that fit ([`fit`]). If more than [`LIKELIEST`] tools do not fit even in the shortest style, or if
/// only a few are to be listed, only those that the conversation suggests are listed ([`choose`]).
pub(super) fn styles(
    measure: &impl ListMeasure,
    rule: ListingRule<'_>,
    budget: usize,
) -> Result<(Vec<Style>, usize), PromptError> {
    let ListingRule { start, pinned, shortest, full, few, meant } = rule;
    if let Some(meant) = meant.filter(|_| start.len() > LIKELIEST) {
        // A tool that starts shorter than the shortest style stays so.
        let least: Vec<Style> = start.iter().map(|start| start.map(|start| shortest.max(start))).collect();
        let fits = measure.listing(&least)? <= budget;
        // The search is only made where its result is needed.
        let meant = if few || !fits { meant() } else { Vec::new() };
        if !(fits && meant.is_empty()) {
            // Tools that are found or called later need space.
            let budgets = [if few { budget / 2 } else { budget }, budget];
            return choose(measure, (full, &meant), &pinned, budgets);
        }
    }
    fit(measure, start, &pinned, shortest, budget)
}

/// Returns the styles with which the list fits the budget, and its size in tokens; if none fit, the shortest styles.
/// `start` has the styles without a budget; pinned tools keep theirs, and no style gets shorter than `shortest`.
///
/// Styles are shortened level by level: only when all tools are signatures does the first become brief. Within a level,
/// the tool that saves most is shortened first; of equal ones the later. So each tool keeps as much as possible, and
/// few lose anything.
fn fit(
    measure: &impl ListMeasure,
    start: Vec<Style>,
    pinned: &[bool],
    shortest: Listing,
    budget: usize,
) -> Result<(Vec<Style>, usize), PromptError> {
    let mut styles = start.clone();
    let whole = measure.listing(&styles)?;
    if whole <= budget {
        return Ok((styles, whole));
    }
    // The estimate subtracts what each step saves, so that the whole list is not measured at every step.
    let mut estimate = whole;
    let mut last = None;
    for step in steps(measure, &start, pinned, shortest)? {
        styles[step.place] = Some(step.style);
        estimate = estimate.saturating_sub(step.saves);
        last = None;
        if estimate <= budget {
            let whole = measure.listing(&styles)?;
            if whole <= budget {
                return Ok((styles, whole));
            }
            last = Some(whole);
        }
    }
    let whole = last.map_or_else(|| measure.listing(&styles), Ok)?;
    Ok((styles, whole))
}

/// Returns styles that list as many of the `meant` tools as fit the budget, in their order, and the size of the list in
/// tokens. A tool's style does not depend on the tools after it, so a prompt only grows during a conversation. The
/// first [`LIKELIEST`] tools have a budget of their own, of which each may take at most about twice an equal share of
/// what is left; a later tool may take half of what is left. So a large tool does not displace others: of eight tools
/// of a coding agent, one that starts other agents would leave no room for the one that reads files. Pinned tools are
/// always listed.
fn choose(
    measure: &impl ListMeasure,
    (full, meant): (Listing, &[usize]),
    pinned: &[bool],
    [likeliest, all]: [usize; 2],
) -> Result<(Vec<Style>, usize), PromptError> {
    let mut styles: Vec<Style> = pinned.iter().map(|pinned| pinned.then_some(full)).collect();
    let mut tokens = measure.listing(&styles)?;
    for (at, place) in meant.iter().copied().enumerate().filter(|(_, place)| !pinned[*place]) {
        let (budget, shares) = if at < LIKELIEST { (likeliest, LIKELIEST - at + 1) } else { (all, 4) };
        let most = tokens + 2 * budget.saturating_sub(tokens) / shares;
        // A tool that does not fit in full may fit in brief.
        for style in [full, Listing::Brief] {
            styles[place] = Some(style);
            let whole = measure.listing(&styles)?;
            if whole <= most {
                tokens = whole;
                break;
            }
            styles[place] = None;
        }
    }
    Ok((styles, tokens))
}

/// A step of shortening the list: one tool gets a shorter style.
struct Shortening {
    place: usize,
    style: Listing,
    saves: usize,
}

fn steps(
    measure: &impl ListMeasure,
    start: &[Style],
    pinned: &[bool],
    shortest: Listing,
) -> Result<Vec<Shortening>, PromptError> {
    let mut sizes = Vec::with_capacity(start.len());
    for (place, style) in start.iter().enumerate() {
        let style = style.filter(|_| !pinned[place]);
        sizes.push(style.map_or(Ok(0), |style| measure.tool(place, style))?);
    }
    let mut all = Vec::new();
    for style in Listing::ALL.iter().filter(|style| **style <= shortest) {
        let mut level = Vec::new();
        for (place, _) in
            start.iter().enumerate().filter(|(place, from)| !pinned[*place] && from.is_some_and(|from| from < *style))
        {
            let size = measure.tool(place, *style)?;
            // A tool without parameters may be as short in the signature style as in the brief style.
            if size < sizes[place] {
                level.push(Shortening { place, style: *style, saves: sizes[place] - size });
            }
        }
        level.sort_by_key(|step| (Reverse(step.saves), Reverse(step.place)));
        for step in &level {
            sizes[step.place] -= step.saves;
        }
        all.append(&mut level);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes of each tool in each style, and the size of the rest of the list.
    struct Sizes(Vec<[usize; 4]>, usize);

    impl Sizes {
        fn of(&self, place: usize, style: Listing) -> usize {
            self.0[place][Listing::ALL.iter().position(|s| *s == style).unwrap()]
        }
    }

    impl ListMeasure for Sizes {
        fn listing(&self, styles: &[Style]) -> Result<usize, PromptError> {
            let listed = styles.iter().enumerate().filter_map(|(place, style)| Some((place, (*style)?)));
            Ok(self.1 + listed.map(|(place, style)| self.of(place, style)).sum::<usize>())
        }

        fn tool(&self, place: usize, style: Listing) -> Result<usize, PromptError> {
            Ok(self.of(place, style))
        }
    }

    fn fitted(sizes: &Sizes, start: Listing, pinned: &[bool], budget: usize) -> (String, usize) {
        let (styles, tokens) = fit(sizes, vec![Some(start); sizes.0.len()], pinned, Listing::Index, budget).unwrap();
        (styles.iter().map(|style| &style.unwrap().as_str()[..2]).collect::<Vec<_>>().join(" "), tokens)
    }

    #[test]
    fn the_tool_that_saves_most_goes_first_and_styles_go_one_after_another() {
        let sizes = Sizes(vec![[100, 50, 40, 10], [300, 60, 20, 10], [100, 50, 40, 10]], 5);
        let free = [false; 3];
        for (budget, styles, tokens) in [
            (505, "sc sc sc", 505),
            (504, "sc si sc", 265),
            (264, "sc si si", 215),
            (214, "si si si", 165),
            (164, "si br si", 125),
            (124, "si br br", 115),
            (114, "br br br", 105),
            (104, "br br in", 75),
            (74, "in br in", 45),
            (44, "in in in", 35),
            (34, "in in in", 35),
            (0, "in in in", 35),
        ] {
            assert_eq!(fitted(&sizes, Listing::Schema, &free, budget), (styles.to_owned(), tokens), "{budget}");
        }
    }

    #[test]
    fn the_budget_is_a_quarter_of_the_context_unless_one_is_set() {
        assert_eq!([Some(8_192), Some(0), None].map(tool_budget), [2_048, 0, TOOL_BUDGET]);
        let set = Options::default().with_tool_budget(Some(300)).within(Some(8_192));
        assert_eq!((set.tool_budget, Options::default().within(Some(8_192)).tool_budget), (Some(300), Some(2_048)));
    }

    #[test]
    fn a_style_that_saves_nothing_is_passed_over() {
        let sizes = Sizes(vec![[30, 20, 20, 25], [30, 20, 20, 10]], 0);
        assert_eq!(fitted(&sizes, Listing::Schema, &[false; 2], 0), ("si in".to_owned(), 30));
    }

    #[test]
    fn a_pinned_tool_stays_as_it_is() {
        let sizes = Sizes(vec![[90, 50, 40, 10], [90, 50, 40, 10]], 0);
        assert_eq!(fitted(&sizes, Listing::Signature, &[true, false], 0), ("si in".to_owned(), 60));
    }

    #[test]
    fn what_is_meant_is_listed_as_far_as_it_fits_and_stays_as_it_is() {
        let sizes = Sizes(vec![[0, 40, 20, 5], [0, 300, 80, 5], [0, 30, 30, 5], [0, 50, 20, 5]], 20);
        let chosen = |meant: &[usize], pinned: [bool; 4]| {
            let (styles, tokens) = choose(&sizes, (Listing::Signature, meant), &pinned, [420; 2]).unwrap();
            let names: Vec<&str> = styles.iter().map(|style| style.map_or("-", |s| &s.as_str()[..2])).collect();
            (names.join(" "), tokens)
        };
        let free = [false; 4];
        assert_eq!(chosen(&[], free), ("- - - -".to_owned(), 20));
        assert_eq!(chosen(&[0], free), ("si - - -".to_owned(), 60));
        assert_eq!(chosen(&[0, 1], free), ("si br - -".to_owned(), 140));
        assert_eq!(chosen(&[0, 1, 2, 3], free), ("si br si si".to_owned(), 220), "the large one leaves room");
        assert_eq!(chosen(&[3, 1, 0], free), ("si br - si".to_owned(), 190));
        assert_eq!(chosen(&[0], [false, true, false, false]), ("br si - -".to_owned(), 340));
    }

    #[test]
    fn counts_are_said_by_style() {
        use Listing::{Brief, Index, Signature};
        let styles = [Signature, Brief, Index, Index].map(Some);
        let listed = Listed::new(&styles, 90, Some(80));
        assert_eq!(listed.to_string(), "1 as signature, 1 as brief, 2 as index");
        assert_eq!(Listed::new(&[Some(Brief), None, None], 9, None).to_string(), "1 as brief, 2 by find_tool");
        assert_eq!((listed.count(Index), listed.count(Listing::Schema)), (2, 0));
        assert!(listed.is_over_budget() && !Listed::new(&[], 90, None).is_over_budget());
        assert_eq!(Listed::new(&[], 0, None).to_string(), "no tools");
    }
}
