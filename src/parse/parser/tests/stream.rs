//! Tests of what is emitted while a message streams, and what is held back.

use super::*;

#[test]
fn an_empty_chunk_says_nothing_wherever_it_comes() {
    let text = "<think>\nA long thought.\n</think>\n\nSome words.\n\
        <use_mcp_tool>\n<tool_name>get_weather</tool_name>\n<arguments>\n{\"city\": \"Oslo\", \"days\": 3}\n\
        </arguments>\n</use_mcp_tool>\nAnd more.\n<write_to_file><path>a</path><content>b\nc</content></write_to_file>";
    let mut parser = Parser::new(known());
    for c in text.chars() {
        for _ in 0..2 {
            parser.push("", &mut |event| panic!("{event:?} before {c:?}"));
            parser.push_reasoning("", &mut |event| panic!("{event:?} before {c:?}"));
        }
        parser.push(c.encode_utf8(&mut [0; 4]), &mut |event| {
            let Event::Text { text, .. } = event else { return };
            assert!(!text.is_empty());
        });
    }
}

#[test]
fn text_before_an_opener_counts_wherever_chunks_end() {
    for text in [
        // The mark right before the opener is the last character of a chunk of text.
        format!("Plain text, and then some more: \"{MCP}\" is how."),
        format!("Plain text, and then some more: “{MCP}” is how."),
        format!("Plain text, and then some more: 「{MCP}」 is how."),
        format!("天气很好。天气很好。天气很好。＂{MCP}"),
        "Plain text, then the tag `</think>` and \"<think>\" and 「</think>」 as words.".to_owned(),
    ] {
        let message = parsed(&text, Config::default());
        let quoted = kinds(&message).iter().all(|kind| *kind == RejectedKind::Quoted);
        assert_eq!((message.content.as_str(), message.calls().count(), quoted), (text.as_str(), 0, true));
    }
    let message = parsed(&format!("Plain text, \"quoted\" é {MCP} and 天{MCP}"), Config::default());
    assert_eq!((message.content.as_str(), message.calls().count()), ("Plain text, \"quoted\" é  and 天", 2));
}

#[test]
fn lines_are_looked_at_wherever_chunks_end() {
    let body = "{\"tool_name\": \"a\", \"parameters\": {}}";
    for line in ["TYPE: MCP", "  TYPE: MCP", "**type: mcp**"] {
        let message = parsed(&format!("Plain text first.\nMore of it,\n\n{line}\n{body}"), Config::default());
        assert_eq!(message.content.trim(), "Plain text first.\nMore of it,");
        assert_eq!(message.calls().count(), 1, "{line}");
    }
    let text = format!("Plain text first.\n  ```\n{MCP}\nhere\n  ```\nMore, then TYPE: MCP {body}\n  To end.");
    let message = parsed(&text, Config::default());
    assert_eq!((message.content.as_str(), kinds(&message)), (text.as_str(), vec![RejectedKind::Quoted]));
}

#[test]
fn what_text_says_of_a_message_is_kept_while_it_passes() {
    let config = Config { reasoning_calls: ReasoningCalls::LastResort, ..Config::default() };
    let promoted = |text: &str| {
        parsed(text, config.clone()).entries.iter().map(|e| e.provenance() == Provenance::Promoted).collect::<Vec<_>>()
    };
    let prose = "plain text, and more of it. ".repeat(4);
    assert_eq!(promoted(&format!("<think>{prose}{MCP}{prose}{MCP}{MCP}{prose}</think>")), [false, true, true]);
    assert_eq!(promoted(&format!("<think>{prose}{MCP}{prose}</think>\n{prose}")), [false]);
    assert_eq!(promoted(&format!("{prose}{MCP}{prose}</think>\n")), [true]);
    let message = parsed(&format!("<think>{prose}<think>{prose}</think>{prose}"), config.clone());
    assert_eq!((message.reasoning, message.content), (format!("{prose}<think>{prose}"), prose));
}

#[test]
fn plain_text_is_one_event_for_each_chunk() {
    let text = "Plain text, a < b, <b>bold</b> [1] and\n\n  - a list; To be sure\n".repeat(20);
    let mut parser = Parser::new(Config::default());
    parser.push("Text.", &mut |_| {});
    // A chunk that ends after `<`, or in a line's first spaces, is not emitted whole.
    let whole = |piece: &&str| !piece.ends_with(['<', '[']) && !piece.ends_with("\n ") && !piece.ends_with("\n  ");
    for piece in pieces(&text, 16) {
        let mut handed = Vec::new();
        parser.push(piece, &mut |event| handed.push(event.into_owned()));
        if whole(&piece) {
            assert_eq!(handed.len(), 1, "{piece:?}: {handed:?}");
        }
    }
}

#[test]
fn a_reset_and_a_change_of_channel_forget_the_text_before() {
    let mut parser = Parser::new(Config::default());
    let mut run = |pieces: &[(bool, &str)]| {
        let mut collector = Collector::new();
        parser.reset();
        for (reasoning, piece) in pieces {
            match reasoning {
                true => parser.push_reasoning(piece, &mut |e| collector.push(e)),
                false => parser.push(piece, &mut |e| collector.push(e)),
            }
        }
        parser.finish(&FinishReason::Stop, &mut |e| collector.push(e));
        collector.finish()
    };
    let plain = "Plain text \"";
    assert_eq!(run(&[(false, plain), (false, plain)]).content, plain.repeat(2));
    // The mark before, in another message or channel, quotes nothing.
    assert_eq!(run(&[(false, MCP)]).calls().count(), 1);
    let message = run(&[(true, plain), (true, plain), (false, MCP), (false, plain), (false, plain)]);
    assert_eq!((message.calls().count(), &message.content), (1, &plain.repeat(2)));
    assert_eq!(message.reasoning, plain.repeat(2));
    // Either channel begins at a line's start.
    let message = run(&[(true, plain), (true, plain), (false, "TYPE: ANSWER\n"), (false, plain), (true, plain)]);
    assert_eq!((message.content.as_str(), message.reasoning), (plain, plain.repeat(3)));
}

#[test]
fn arguments_are_handed_on_as_they_come() {
    let line = "a line of text without anything in it, é and 天";
    let inside = format!("{line}\\n\\\"{line}</arguments> {line} </b> {line}");
    let json = format!("{{\"k\": \"{inside}\", \"l\": [\"{line}\"]}}");
    let expected: Value = serde_json::from_str(&json).unwrap();
    let element = format!("<use_mcp_tool><tool_name>t</tool_name><arguments>{json}</arguments></use_mcp_tool>.");
    let late = format!("<use_mcp_tool><arguments>{json}</arguments><tool_name>t</tool_name></use_mcp_tool>.");
    let marked = format!("TYPE: MCP\n{{\"tool_name\": \"t\", \"parameters\": {json}, \"server_name\": \"{line}\"}}");
    for text in [element, late, marked] {
        let message = parsed(&text, Config::default());
        assert_eq!(calls(&message), [("t".into(), expected.clone())], "{text}");
        assert_eq!(message.entries[0].deltas, json, "{text}");
    }
    let tag = format!("<write_to_file><path>{line}</path><content>{line}\"\n{line}\r\n</content></write_to_file>");
    let message = parsed(&tag, known());
    assert_eq!(
        calls(&message),
        [("write_to_file".into(), json!({"path": line, "content": format!("{line}\"\n{line}\r\n")}))]
    );
    let limits = Limits { call_bytes: 150, ..Limits::default() };
    for text in [&tag, &format!("<use_mcp_tool><tool_name>t</tool_name><arguments>{json}</arguments></use_mcp_tool>")] {
        let message = parsed(text, Config { limits, ..known() });
        assert_eq!((kinds(&message), message.entries[0].raw.len()), (vec![RejectedKind::Limit], 150));
    }
}

#[test]
fn what_a_large_call_needed_is_given_back_after_it() {
    let text = "x".repeat(1 << 20);
    let call =
        format!("<use_mcp_tool><tool_name>t</tool_name><arguments>{{\"k\": \"{text}\"}}</arguments></use_mcp_tool>");
    let mut parser = Parser::new(Config::default());
    for piece in pieces(&call, 1000) {
        parser.push(piece, &mut |_| {});
    }
    assert!(parser.held.capacity() <= MOST_KEPT, "{} bytes are kept", parser.held.capacity());
    // A chunk that begins in a call is not copied as a whole.
    let (begin, rest) = call.split_at(40);
    parser.push(begin, &mut |_| {});
    parser.push(&format!("{rest}{}", "plain text ".repeat(1 << 20)), &mut |_| {});
    assert!(parser.held.capacity() <= MOST_KEPT, "{} bytes are kept", parser.held.capacity());
    parser.push(&call[..500_000], &mut |_| {});
    parser.reset();
    assert!(parser.held.capacity() <= MOST_KEPT, "{} bytes are kept", parser.held.capacity());
}
