//! Estimates from a request how likely it needs a call, before the model has written anything.

use super::greeting::is_question;
use super::mentions::Mentions;

/// Margin for a question: a small model is less ready to call for one than for an instruction.
const QUESTION: f64 = 0.5;

/// Margin for a request that names an identifier, a path, an address or a time, which indicates a tool: of 200 tasks
/// and jobs, 60 of the 143 that need a call name such a thing and none of the 57 others, while the least likely of
/// these calls had the logarithm -6.0 (Qwen2.5-Coder of half a billion parameters, docs/appendix/measured.md).
const REFERENCE: f64 = 4.5;

/// Returns the amount by which this request lowers the threshold of a call, as a natural logarithm.
pub fn call_margin(request: &str) -> f64 {
    let question = if is_question(request) { QUESTION } else { 0.0 };
    let reference = if Mentions::of(request).have_reference() { REFERENCE } else { 0.0 };
    question + reference
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_names_what_only_a_tool_knows_is_a_call_sooner() {
        for (request, margin) in [
            ("Close the ticket.", 0.0),
            ("Who is on call?", QUESTION),
            ("Close T-198.", REFERENCE),
            ("Which priority does ticket T-204 have?", QUESTION + REFERENCE),
            ("2026-12-03 我有什么安排？", QUESTION + REFERENCE),
            ("12 加 30 等于多少？", QUESTION),
            ("What is 3.5 % of 1,200?", QUESTION),
        ] {
            assert_eq!(call_margin(request), margin, "{request}");
        }
    }
}
