use super::*;
use crate::message::FinishReason;
use crate::parse::{Config, Parser};

const CALL: &str = "<use_mcp_tool><server_name>w</server_name><tool_name>f</tool_name><arguments>{\"city\": \"Linz\"}</arguments></use_mcp_tool>";

/// A chunk of a message: of the reasoning field, or of the text.
#[derive(Debug, Clone, Copy)]
enum Chunk {
    Field(&'static str),
    Text(&'static str),
}
use Chunk::{Field, Text};

/// Returns the number of calls settled so far after each chunk, and after the end.
fn settled(mode: ReasoningMode, reasons: Option<bool>, pieces: &[Chunk]) -> Vec<usize> {
    let mut parser = Parser::new(Config { reasoning: mode, ..Config::default() });
    let mut message = Collector::reading(mode, reasons);
    let (mut count, mut counts) = (0, Vec::new());
    let mut drain = |message: &mut Collector| {
        count += std::iter::from_fn(|| message.next_settled().map(|entry| entry.index)).count();
        counts.push(count);
    };
    for piece in pieces {
        match piece {
            Field(text) => parser.push_reasoning(text, &mut |event| message.push(event)),
            Text(text) => parser.push(text, &mut |event| message.push(event)),
        }
        drain(&mut message);
    }
    parser.finish(&FinishReason::Stop, &mut |event| message.push(event));
    message.end();
    drain(&mut message);
    counts
}

#[test]
fn a_call_is_settled_as_soon_as_no_tag_can_make_reasoning_of_it() {
    use ReasoningMode::{Auto, Off, Open};
    // A line break after a call says that it is in no quotation.
    for (mode, reasons, pieces, expected) in [
        // Before any tag only the end settles it, whatever text follows.
        (Auto, None, &[Text(CALL), Text("\nand more\n")][..], &[0, 0, 1][..]),
        (Auto, Some(true), &[Text(CALL), Text("\n"), Text(CALL)], &[0, 0, 0, 2]),
        // After a closed block, and after a reasoning field, at once.
        (Auto, None, &[Text("<think>hm</think>"), Text(CALL), Text("\n")], &[0, 1, 1, 1]),
        (Auto, None, &[Field("hm"), Text(CALL), Text("\n")], &[0, 1, 1, 1]),
        (Open, None, &[Text("hm</think>"), Text(CALL), Text("\n")], &[0, 1, 1, 1]),
        (Open, None, &[Field("hm"), Text(CALL), Text("\n")], &[0, 1, 1, 1]),
        // A tag that opens a block later says it of what came before, too.
        (Auto, None, &[Text(CALL), Text("\n<think>hm"), Text("</think>")], &[0, 1, 1, 1]),
        // Where there is no reasoning, at once.
        (Off, None, &[Text(CALL), Text("\n</think>")], &[1, 1, 1]),
        (Auto, Some(false), &[Text(CALL), Text("\n</think>more")], &[1, 1, 1]),
        // An orphan closer makes a draft of it; after that one the answer begins.
        (Auto, None, &[Text(CALL), Text("\n</think>"), Text(CALL), Text("\n")], &[0, 0, 1, 1, 1]),
        // A further closer changes nothing.
        (Auto, None, &[Text("<think>hm</think>"), Text(CALL), Text("\n</think>so")], &[0, 1, 1, 1]),
        (Auto, None, &[Text("hm</think>"), Text(CALL), Text("\n</think>so")], &[0, 1, 1, 1]),
        // An answer that was told as reasoning is known at the end.
        (Open, None, &[Text(CALL), Text("\nand more")], &[0, 0, 1]),
    ] {
        assert_eq!(settled(mode, reasons, pieces), expected, "{mode:?} {reasons:?} {pieces:?}");
    }
}

#[test]
fn what_an_orphan_closer_says_of_the_calls_before_it_is_carried_out_before_they_are_settled() {
    let mut parser = Parser::new(Config::default());
    let mut message = Collector::reading(ReasoningMode::Auto, None);
    for c in format!("{CALL}\n</think>Hello").chars() {
        parser.push(c.encode_utf8(&mut [0; 4]), &mut |event| {
            message.push(event);
            assert_eq!(message.next_settled(), None);
        });
    }
    let assembled = message.finish();
    assert_eq!((assembled.content.as_str(), assembled.calls().count()), ("Hello", 0));
}

#[test]
fn a_model_that_does_not_reason_makes_no_reasoning_of_its_answer() {
    let mut parser = Parser::new(Config::default());
    let mut message = Collector::reading(ReasoningMode::Auto, Some(false));
    parser.push(&format!("So {CALL}\n</think>there"), &mut |event| message.push(event));
    parser.finish(&FinishReason::Stop, &mut |event| message.push(event));
    let assembled = message.finish();
    assert_eq!((assembled.content.as_str(), assembled.reasoning.as_str()), ("So \nthere", ""));
    assert_eq!(assembled.calls().count(), 1);
}

#[test]
fn pieces_stand_where_they_belong_with_their_bytes() {
    let text = format!("a{CALL}</think>b{CALL}c");
    let mut parser = Parser::new(Config::default());
    let mut message = Collector::new();
    parser.push(&text, &mut |event| message.push(event));
    parser.finish(&FinishReason::Stop, &mut |event| message.push(event));
    let (pieces, entries) = message.into_pieces();
    let close = MarkerKind::ThinkClose;
    let n = CALL.len() as u64;
    let text = |region, text: &str, span| Piece::Text { region, text: text.into(), span };
    assert_eq!(
        pieces,
        [
            text(Region::Reasoning, "a", 0..1),
            Piece::Call { index: 0, region: Region::Reasoning, span: 1..n + 1 },
            Piece::Marker { kind: close, text: "</think>".into(), span: n + 1..n + 9 },
            text(Region::Content, "b", n + 9..n + 10),
            Piece::Call { index: 1, region: Region::Content, span: n + 10..2 * n + 10 },
            text(Region::Content, "c", 2 * n + 10..2 * n + 11),
        ]
    );
    assert!(entries[0].result.is_err() && entries[1].result.is_ok());
}

#[test]
fn a_draft_says_no_more_than_that_it_is_one() {
    let catalog = crate::tools::Catalog::from_tools([crate::tools::Tool::new("get_weather")]);
    let config = || Config { catalog: Some(catalog.clone().into()), ..Config::default() };
    let unknown = CALL.replace(">f<", ">get_wether<");
    for text in
        [format!("{unknown}\n</think>Well."), format!("`{CALL}` </think>Well."), format!("<think>{unknown}</think>")]
    {
        let message = crate::parse::parse(&text, config());
        let draft = message.rejected().next().expect("a draft");
        assert_eq!((draft.kind, draft.quoted_in, draft.nearest.len()), (RejectedKind::InReasoning, None, 0), "{text}");
    }
}
