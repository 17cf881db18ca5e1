//! The parser's documented limits, each tested at the limit and beyond it.

use toolgraft::event::RejectedKind;
use toolgraft::parse::{Config, Limits, MAX_CALL_BYTES, MAX_CALLS, MAX_DEPTH, OPENINGS_PER_CALL};
use toolgraft::{Catalog, Tool};
use toolgraft_testkit::laws::{self, Input};

use crate::fixtures::FIXTURES;

const HEAD: &str = "<use_mcp_tool><server_name>s</server_name><tool_name>f</tool_name><arguments>";
const TAIL: &str = "</arguments></use_mcp_tool>";

#[test]
fn a_call_of_8_mib_is_a_call_and_one_byte_more_is_past_the_limit() {
    assert_eq!(MAX_CALL_BYTES, 8 * 1024 * 1024);
    let room = MAX_CALL_BYTES - HEAD.len() - TAIL.len() - "{\"a\":\"\"}".len();
    let call = |size: usize| format!("{HEAD}{{\"a\":\"{}\"}}{TAIL} after", "x".repeat(size));

    let at = laws::read(&call(room), &Config::default());
    assert_eq!(at.calls().count(), 1);
    assert_eq!(at.content, " after");

    let past = laws::read(&call(room + 1), &Config::default());
    let rejected: Vec<_> = past.rejected().collect();
    assert_eq!(rejected.iter().map(|r| r.kind).collect::<Vec<_>>(), [RejectedKind::Limit]);
    assert_eq!(rejected[0].raw.len(), MAX_CALL_BYTES);
    assert_eq!((past.calls().count(), past.content.as_str()), (0, " after"));
}

#[test]
fn json_of_depth_120_is_read_and_one_level_more_is_past_the_limit() {
    assert_eq!(MAX_DEPTH, 120);
    // The argument object is the first level.
    let call = |depth: usize| format!("{HEAD}{{\"a\":{}{}}}{TAIL} after", "[".repeat(depth - 1), "]".repeat(depth - 1));

    let at = laws::read(&call(MAX_DEPTH), &Config::default());
    assert_eq!((at.calls().count(), at.rejected().count()), (1, 0));

    let past = laws::read(&call(MAX_DEPTH + 1), &Config::default());
    assert_eq!(past.rejected().map(|r| r.kind).collect::<Vec<_>>(), [RejectedKind::Limit]);
    assert_eq!(past.content, " after");
}

#[test]
fn a_message_holds_64_calls_and_one_more_is_past_the_limit() {
    assert_eq!(MAX_CALLS, 64);
    let text = format!("{HEAD}{{}}{TAIL}\n").repeat(MAX_CALLS + 1);
    let found = laws::read(&text, &Config::default());
    assert_eq!(found.calls().count(), MAX_CALLS);
    assert_eq!(found.rejected().map(|r| r.kind).collect::<Vec<_>>(), [RejectedKind::Limit]);
    assert_eq!(found.content, "\n".repeat(MAX_CALLS + 1));
}

/// A call beyond the limit is not kept, but text after its end is emitted.
#[test]
fn what_stands_after_a_call_past_the_limit_is_told() {
    let limits = Limits::default().with_call_bytes(40);
    let mut broken = Vec::new();
    for fixture in FIXTURES.iter().filter(|fixture| fixture.input.text.len() < 400) {
        let text = &fixture.input.text;
        // Its closing delimiters are left out one after the other, followed by other text.
        for (at, sign) in text.rmatch_indices(['<', '[', '}', ']', ')']).take(2) {
            let (end, tail) = match sign {
                "<" => (at, "\n<b"),
                "[" => (at, "\n["),
                _ => (at + 1, "\n["),
            };
            let text = format!("{}{tail}", &text[..end]);
            let config = fixture.input.config.clone().with_limits(limits);
            let cut = Input { text, config, ..fixture.input.clone() };
            broken.extend(laws::check(&cut, &[]).err().map(|broken| format!("{}: {broken}", fixture.name)));
        }
    }
    assert!(broken.is_empty(), "{}:\n{}", broken.len(), broken.join("\n"));
}

/// The first call beyond the limit that would have run is rejected, and none after it is parsed.
/// Text that was held back with it is syntax, and the rest is text.
#[test]
fn after_the_call_past_the_limit_no_call_is_read() {
    let call = format!("{HEAD}{{}}{TAIL}\n");
    let many = 1000;
    let rest = |call: &str| call.repeat(many - MAX_CALLS - 1);
    let between = "\n".repeat(MAX_CALLS + 1);
    let marked = "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>";
    let catalog = std::sync::Arc::new(Catalog::from_tools([Tool::new("f").with_server("s")]));
    for (text, content) in [
        (call.repeat(many), between + &rest(&call)),
        (marked.repeat(many), rest(marked)),
        ("f(a=1)\n".repeat(many), "\n".repeat(many)),
        (format!("[{}]", "f(a=1), ".repeat(many)), String::new()),
        (format!("[{}f(a=1)]", "f(a=1), ".repeat(many - 1)), String::new()),
        (r#"{"name": "f", "arguments": {}}"#.repeat(many), String::new()),
    ] {
        let found = laws::read(&text, &Config::default().with_catalog(Some(catalog.clone())));
        let kinds: Vec<_> = found.rejected().map(|rejected| rejected.kind).collect();
        assert_eq!((found.calls().count(), &kinds[..]), (MAX_CALLS, &[RejectedKind::Limit][..]), "{text:.60}");
        assert_eq!(found.content, content, "{text:.60}");
    }
    // Drafts and examples are reported as such, up to the limit on beginnings of calls.
    for (text, kind) in [
        (format!("<think>{}</think>", call.repeat(many)), RejectedKind::InReasoning),
        (format!("```\n{call}```\ntext\n").repeat(many), RejectedKind::Quoted),
        (format!("```\n{}```\ntext\n", call.repeat(many)), RejectedKind::Quoted),
    ] {
        let found = laws::read(&format!("{text}{call}{call}"), &Config::default().with_catalog(Some(catalog.clone())));
        let kinds: Vec<_> = found.rejected().map(|rejected| rejected.kind).collect();
        assert_eq!((found.calls().count(), kinds.len()), (0, many + 1), "{text:.60}");
        assert!(kinds[..many].iter().all(|found| *found == kind), "{text:.60}");
        assert_eq!(kinds[many], RejectedKind::Limit, "{text:.60}");
    }
}

/// Every beginning of a call counts, whatever becomes of it. After the last one there is no call in
/// any dialect, however often something began before.
#[test]
fn after_the_last_opening_no_call_is_looked_for() {
    let limits = Limits::default().with_calls(2);
    let last = limits.calls * OPENINGS_PER_CALL;
    let catalog = std::sync::Arc::new(Catalog::from_tools([Tool::new("f").with_server("s")]));
    let found = |text: &str| laws::read(text, &Config::default().with_catalog(catalog.clone()).with_limits(limits));
    let calls = [
        format!("{HEAD}{{}}{TAIL}"),
        "<f></f>".to_owned(),
        "[f(a=1)]".to_owned(),
        "\nf(a=1)\n".to_owned(),
        "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>".to_owned(),
        "<tool_call><function=f></function></tool_call>".to_owned(),
        "\nTYPE: MCP\n{\"tool_name\": \"f\", \"parameters\": {}}".to_owned(),
        "\nAction: f\nAction Input: {}\n".to_owned(),
        "\n```\nf(a=1)\n```".to_owned(),
        "\n```[f(a=1)]```".to_owned(),
    ];
    for before in ["[f(x)] or ", "f(x) and so\n", "[f(a=1)](x) "] {
        for call in &calls {
            let read = found(&format!("{}{call}", before.repeat(last - 1)));
            let rejected = read.rejected().count();
            assert_eq!(read.calls().count() + rejected, 1, "the last opening is looked at: {before:?} {call:?}");
            let text = format!("{}{call}", before.repeat(last));
            let read = found(&text);
            assert_eq!((read.content.as_str(), read.entries.len()), (text.as_str(), 0), "{before:?} {call:?}");
        }
    }
    // Further members of a series do not make it several calls, nor does a list.
    for text in ["f(a=1)\n".repeat(last + 1), format!("[{}f(a=1)]", "f(a=1), ".repeat(last))] {
        let read = found(&text);
        let kinds: Vec<_> = read.rejected().map(|rejected| rejected.kind).collect();
        assert_eq!((read.calls().count(), &kinds[..]), (0, &[RejectedKind::Malformed][..]), "{text:.60}");
        assert!(read.content.starts_with("f(a=1)"), "{:?}", read.content);
    }
}

/// The end of the reasoning and text around calls are also found after the last beginning.
#[test]
fn after_the_last_opening_the_reasoning_still_ends() {
    let limits = Limits::default().with_calls(1);
    let catalog = Catalog::from_tools([Tool::new("f").with_server("s")]);
    let text = format!("{HEAD}{{}}{TAIL}{}</think>Done.<|im_end|>", "[f(".repeat(OPENINGS_PER_CALL));
    let read = laws::read(&text, &Config::default().with_catalog(Some(catalog.into())).with_limits(limits));
    assert_eq!((read.content.as_str(), read.calls().count()), ("Done.", 0));
    assert_eq!(read.rejected().map(|rejected| rejected.kind).collect::<Vec<_>>(), [RejectedKind::InReasoning]);
}
