//! Records for `toolgraft extract`, as many as the first argument says, on
//! standard output. Every other one brings a list of ten tools.

use std::io::{self, BufWriter, Write};

use serde_json::json;
use toolgraft_benches::corpus;

fn main() -> io::Result<()> {
    let count = std::env::args().nth(1).and_then(|n| n.parse().ok()).expect("expected a number of records");
    let tools: Vec<_> = corpus::catalog(10).tools().cloned().collect();
    let mut output = BufWriter::new(io::stdout().lock());
    for n in 0..count {
        let text = corpus::message(n);
        let record = match n % 2 {
            0 => json!({"id": n, "text": text}),
            _ => json!({"id": n, "text": text, "tools": tools}),
        };
        serde_json::to_writer(&mut output, &record)?;
        output.write_all(b"\n")?;
    }
    output.flush()
}
