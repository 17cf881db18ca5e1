//! Every case at every size of chunk, and beside each the floor over the same chunks; and a search
//! for the tools that a question means.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use serde_json::Value;
use toolgraft::tools::Search;
use toolgraft::{Catalog, Tool};
use toolgraft_benches::case::{CASES, CHUNKS, chunk_name};
use toolgraft_benches::pass::{cut, floor};

fn parse(criterion: &mut Criterion) {
    for case in CASES {
        let text = case.text();
        let parser = case.parser();
        let mut group = criterion.benchmark_group(case.name);
        group.throughput(Throughput::Bytes(text.len() as u64));
        for bytes in CHUNKS {
            let chunks = cut(&text, *bytes);
            group.bench_function(format!("floor/{}", chunk_name(*bytes)), |b| b.iter(|| floor(black_box(&chunks))));
            group.bench_function(format!("parse/{}", chunk_name(*bytes)), |b| {
                b.iter_batched_ref(
                    || parser.fork(),
                    |parser| (case.pass)(parser, black_box(&chunks)),
                    BatchSize::SmallInput,
                );
            });
        }
        group.finish();
    }
}

/// Questions over the tools of real servers, one after another.
fn search(criterion: &mut Criterion) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/catalog/");
    let lines = |file: &str| -> Vec<Value> {
        let text = std::fs::read_to_string(format!("{folder}{file}")).expect("the fixture is there");
        text.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let tool = |record: Value| {
        let tool = Tool::new(text(&record["name"])).with_server(text(&record["server"]));
        tool.with_description(text(&record["description"])).with_schema(record["inputSchema"].clone())
    };
    let catalog = Catalog::from_tools(["mcpm.jsonl", "livemcpbench.jsonl"].into_iter().flat_map(lines).map(tool));
    let questions: Vec<String> = lines("questions.jsonl").iter().map(|asked| text(&asked["question"])).collect();
    let search = Search::new(&catalog);
    let mut next = questions.iter().cycle();
    criterion.bench_function("search/2774", |b| {
        b.iter_batched(
            || next.next(),
            |asked| asked.map(|asked| search.find(black_box(asked), 8)),
            BatchSize::SmallInput,
        );
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1));
    targets = parse, search
}
criterion_main!(benches);
