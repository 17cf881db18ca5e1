//! Finds the calls in a model's text while it streams. Needs no feature.
//!
//! ```sh
//! cargo run --example parser_only --no-default-features < answer.txt
//! ```
//!
//! The text is read from standard input, seven characters at a time, as a stream may split it. Text
//! for the user goes to standard output, everything else to standard error, and a summary at the
//! end.

use std::io::{Read, Write, stderr, stdin, stdout};
use std::sync::Arc;

use toolgraft::event::Collector;
use toolgraft::message::FinishReason;
use toolgraft::parse::Config;
use toolgraft::{Catalog, Event, Parser, Tool};

fn main() -> std::io::Result<()> {
    // With known names, `tool_tag` calls are recognised, and unknown tools are reported with
    // similar names.
    let catalog = Catalog::from_tools([Tool::new("get_weather"), Tool::new("get_time")]);
    let mut parser = Parser::new(Config::default().with_catalog(Arc::new(catalog)));
    let mut message = Collector::new();

    let mut bytes = Vec::new();
    stdin().read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let mut see = |event: Event<'_>| {
        match &event {
            Event::Text { text, .. } => write!(stdout(), "{text}"),
            Event::Reasoning { text, .. } => write!(stderr(), "{text}"),
            Event::CallStart { tool, .. } => writeln!(stderr(), "\n[a call of {tool} begins]"),
            _ => Ok(()),
        }
        .expect("standard output and standard error are there");
        message.push(event);
    };
    for piece in text.chars().collect::<Vec<_>>().chunks(7) {
        parser.push(&piece.iter().collect::<String>(), &mut see);
    }
    parser.finish(&FinishReason::Stop, &mut see);

    let mut out = stdout();
    writeln!(out, "\n--")?;
    for entry in message.finish().entries {
        match entry.result {
            Ok(call) => writeln!(out, "call: {} {}", call.tool, call.arguments)?,
            Err(rejected) => writeln!(out, "not a call ({}): {}", rejected.kind, rejected.message)?,
        }
    }
    Ok(())
}
