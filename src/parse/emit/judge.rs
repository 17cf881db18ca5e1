//! The judge: whether a call may run, by the facts of where it is.
//!
//! Code that reads text sets facts ([`Placement`]) and concludes nothing. [`judge`] alone turns them into a
//! verdict, in the order of [`RULES`]; where a fact becomes known later, it is asked again.

use crate::dialect::Doubt;
use crate::event::{Call, Provenance, QuotedIn, Reason, Rejected, RejectedKind};
use crate::parse::emit::prose::Prose;
use crate::parse::emit::verdict::CallResult;
use crate::parse::marks::turn::TextTurn;

/// Facts about the position of a call, as far as they are known by now.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Placement {
    /// `true` if the call is in the reasoning, whose calls are drafts.
    pub(crate) in_reasoning: bool,
    /// The turn that the call is in.
    pub(crate) turn: TextTurn,
    /// The construct that quotes the call and makes it an example; `None` if it is not quoted.
    pub(crate) quoted_in: Option<QuotedIn>,
    /// `true` if the call follows an unreadable call whose end has not come yet.
    pub(crate) is_suspect: bool,
    /// `true` if the call is in a code fence.
    pub(crate) is_fenced: bool,
    /// `true` if the call is inside an XML element of an unknown name.
    pub(crate) in_element: bool,
    /// `true` if a value of the call was read from text without quotation marks.
    pub(crate) is_guessed: bool,
    /// `true` if only calls, white space and tokens precede the call on its line.
    pub(crate) begins_line: bool,
    /// `true` if neither a delimiter nor a word of its dialect nor a token announces the call.
    pub(crate) is_bare: bool,
    /// The doubt that the lines before and after the call cast on it.
    pub(crate) doubt: Doubt,
    /// The position of the prose before the call.
    pub(crate) prose: Prose,
    /// `true` if prose follows a call that nothing announces, or that the line before may only show.
    pub(crate) prose_follows: bool,
    /// `true` if a closer of an earlier call follows the call and has nothing to close.
    pub(crate) has_stray_closer: bool,
    /// `true` if the call was in the reasoning, or in what may be reasoning, and the message contains no other call.
    pub(crate) is_promoted: bool,
    /// `true` if the call is in the code fence that the message begins with, and the message contains no other call.
    pub(crate) is_first_fence: bool,
}

/// A rule of the judge: the verdict on a call whose placement meets a condition.
pub(crate) struct VerdictRule {
    /// The provenance of the call, or the reason why it must not run.
    pub(crate) verdict: Result<Provenance, RejectedKind>,
    holds: fn(&Placement) -> bool,
}

/// Rules that judge a call by its placement alone, in order of precedence: the first that holds decides. A fault of the
/// call itself ranks after the last rejection and before the first provenance. Without a rule a call is plain.
pub(crate) const RULES: [VerdictRule; 13] = [
    VerdictRule { verdict: Err(RejectedKind::InReasoning), holds: |at| at.in_reasoning },
    VerdictRule { verdict: Err(RejectedKind::Invented), holds: |at| at.turn.invents() },
    VerdictRule { verdict: Err(RejectedKind::Quoted), holds: |at| at.quoted_in.is_some() },
    VerdictRule { verdict: Err(RejectedKind::AfterDamage), holds: |at| at.is_suspect },
    VerdictRule { verdict: Ok(Provenance::FencedFirst), holds: |at| at.is_first_fence },
    VerdictRule { verdict: Ok(Provenance::Promoted), holds: |at| at.is_promoted },
    VerdictRule { verdict: Ok(Provenance::InElement), holds: |at| at.in_element },
    VerdictRule { verdict: Ok(Provenance::Mended), holds: |at| at.is_guessed },
    // A fence around calls takes them off the line; what is in it begins lines of its own.
    VerdictRule { verdict: Ok(Provenance::FencedAfterProse), holds: |at| at.is_fenced && at.prose != Prose::None },
    VerdictRule {
        verdict: Ok(Provenance::AfterProse),
        // In a fence it is `fenced_after_prose`, with prose on its own line `in_a_line`.
        holds: |at| at.is_bare && !at.is_fenced && at.prose == Prose::Above,
    },
    VerdictRule { verdict: Ok(Provenance::InALine), holds: |at| !at.is_fenced && !at.begins_line },
    VerdictRule {
        verdict: Ok(Provenance::BeforeProse),
        // Prose after a call with a marker is noted only where the line before leaves a doubt: it is `hedged`
        // then.
        holds: |at| at.prose_follows && (at.is_bare || at.doubt != Doubt::IfProseFollows),
    },
    VerdictRule { verdict: Ok(Provenance::Hedged), holds: |at| at.is_hedged() },
];

/// Judges a call by its placement and by its own fault, if it has one: returns its provenance, or the kind of its
/// rejection.
pub(crate) fn judge(at: &Placement, fault: Option<RejectedKind>) -> Result<Provenance, RejectedKind> {
    let rejection = RULES.iter().filter(|rule| (rule.holds)(at)).find_map(|rule| rule.verdict.err());
    // A closer says nothing of a call that could not be read anyway.
    let stray = at.has_stray_closer.then_some(RejectedKind::AfterDamage);
    rejection.or(fault).or(stray).map_or_else(|| Ok(at.provenance()), Err)
}

impl Placement {
    fn is_hedged(&self) -> bool {
        self.doubt == Doubt::Certain || self.doubt == Doubt::IfProseFollows && self.prose_follows
    }

    /// Returns the provenance of a call with this placement, even if a rule rejects it.
    pub(crate) fn provenance(&self) -> Provenance {
        let found = RULES.iter().filter(|rule| (rule.holds)(self)).find_map(|rule| rule.verdict.ok());
        found.unwrap_or_default()
    }

    /// Returns the verdict on a call with this placement, of which `read` is the result of reading it.
    pub(crate) fn verdict(&self, read: CallResult) -> CallResult {
        let fault = read.as_ref().err().map(|rejected| rejected.kind);
        // A draft that is promoted later was found so, too.
        let read = read.map(|call| Call { provenance: self.provenance(), ..call });
        match judge(self, fault) {
            Err(kind) if fault != Some(kind) => {
                let mut rejected = read.map_or_else(|rejected| rejected, |call| Rejected::of(call, kind, "", ""));
                rejected.set_reason(self.reason(kind));
                rejected.in_text = self.turn == TextTurn::Spoken;
                Err(rejected)
            }
            _ => read,
        }
    }

    /// Returns the reason, with its message, for rejecting a call with this placement as one of this kind.
    pub(super) fn reason(&self, kind: RejectedKind) -> Reason {
        let message = match (kind, self.quoted_in) {
            (RejectedKind::Quoted, Some(quoted_in)) => quoted_in.message(),
            (RejectedKind::Invented, _) => INVENTED,
            (RejectedKind::AfterDamage, _) if self.is_suspect => RejectedKind::AFTER_DAMAGE,
            (RejectedKind::AfterDamage, _) => RejectedKind::WITHDRAWN,
            _ => RejectedKind::in_reasoning_message(),
        };
        let quoted_in = self.quoted_in.filter(|_| kind == RejectedKind::Quoted);
        // That prose follows may become known after a call was withdrawn.
        let prose_follows = self.prose_follows && kind != RejectedKind::AfterDamage;
        let found = Placement { is_promoted: false, is_first_fence: false, prose_follows, ..*self };
        let provenance = found.provenance();
        Reason { kind, message: message.to_owned(), nearest: Vec::new(), quoted_in, provenance }
    }
}

/// The message of an `invented` rejection.
const INVENTED: &str = "the call comes after the end of your message, in a turn that is not yours; only calls of \
    your own message are run";

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = include_str!("../../../docs/parser.md");

    #[test]
    fn the_page_lists_the_verdicts_in_the_order_of_the_rules() {
        let (_, table) = PAGE.split_once("| provenance | the call |").unwrap();
        let (table, _) = table.split_once("\n\n").unwrap();
        let rows = table.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
        let provenances = RULES.iter().filter_map(|rule| rule.verdict.ok()).map(Provenance::as_str);
        // The last two are known to the turn alone.
        assert!(rows.eq(["plain"].into_iter().chain(provenances).chain(["echoed", "instead_of_read"])), "{table}");
        let (_, kinds) = PAGE.split_once("A rejected call has one kind, the first that applies: ").unwrap();
        let rejections = RULES.iter().filter_map(|rule| rule.verdict.err()).map(RejectedKind::as_str);
        assert!(rejections.eq(kinds.split('`').skip(1).step_by(2).take(4)), "{}", &kinds[..120]);
    }

    #[test]
    fn what_is_wrong_with_a_call_comes_between_where_it_may_not_be_and_how_it_was_found() {
        let at = Placement { begins_line: false, has_stray_closer: true, ..Placement::default() };
        let fault = Some(RejectedKind::Malformed);
        assert_eq!(judge(&at, fault), Err(RejectedKind::Malformed));
        assert_eq!(judge(&at, None), Err(RejectedKind::AfterDamage));
        assert_eq!(judge(&Placement { is_suspect: true, ..at }, fault), Err(RejectedKind::AfterDamage));
        assert_eq!(judge(&Placement { has_stray_closer: false, ..at }, None), Ok(Provenance::InALine));
    }
}
