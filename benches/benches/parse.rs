//! Every case at every size of chunk, and beside each the floor over the same chunks.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
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

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1));
    targets = parse
}
criterion_main!(benches);
