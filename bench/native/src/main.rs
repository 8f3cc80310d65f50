//! The native engines at the tasks of bench/tasks.h: `native_peers DIR PEER NAME SECONDS`. DIR is what bench_blobs
//! wrote; loro takes in those very bytes, the others do the same work in their own formats. Prints what
//! engine_tasks prints; `native_peers DIR` lists the tasks of each peer.
mod automerge_tasks;
mod diamond_tasks;
mod files;
mod loro_tasks;

use std::time::Instant;

/// One run: the milliseconds that count, and what it ended in, such as a text.
pub struct Done {
    pub ms: f64,
    pub end: String,
}

/// Does a task once.
pub type Once = Box<dyn FnMut() -> Done>;
/// A task's name and how it is prepared; none where a file is absent.
pub type Task = (String, Box<dyn Fn() -> Option<Once>>);

/// Runs `work` and says how long it took.
pub fn timed(work: impl FnOnce() -> String) -> Done {
    let began = Instant::now();
    let end = work();
    Done { ms: began.elapsed().as_secs_f64() * 1e3, end }
}

fn hash_of(text: &str) -> u32 {
    text.bytes().fold(2166136261, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(16777619))
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The same as run() of engine_tasks.cc.
fn run(once: &mut Once, seconds: f64) -> String {
    const WARM_UP: usize = 5;
    const RUNS: usize = 25;
    let first = once();
    let mut warm = Vec::new();
    let mut spent = first.ms;
    while spent + first.ms <= seconds * 1e3 && warm.len() < WARM_UP + RUNS {
        warm.push(once().ms);
        spent += warm[warm.len() - 1];
    }
    let skipped = WARM_UP.min(warm.len() / 4);
    let rest = &mut warm[skipped..];
    let (runs, end) = (rest.len(), hash_of(&first.end));
    let middle = if rest.is_empty() { first.ms } else { median(rest) };
    format!("{{\"first\": {}, \"warm\": {middle}, \"runs\": {runs}, \"end\": {end}}}", first.ms)
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Some(folder) = words.first() else {
        eprintln!("usage: native_peers DIR [PEER NAME SECONDS]");
        std::process::exit(2);
    };
    let peers = [
        ("loro", loro_tasks::all(folder)),
        ("diamond-types", diamond_tasks::all()),
        ("automerge", automerge_tasks::all()),
    ];
    let [_, peer, name, seconds] = words.as_slice() else {
        let lists = peers.map(|(peer, tasks)| {
            let names: Vec<String> = tasks.iter().map(|(name, _)| format!("\"{name}\"")).collect();
            format!("\"{peer}\": [{}]", names.join(", "))
        });
        println!("{{{}}}", lists.join(", "));
        return;
    };
    let tasks = peers.into_iter().find(|(known, _)| known == peer).map(|(_, tasks)| tasks);
    let prepare = tasks.and_then(|tasks| tasks.into_iter().find(|(known, _)| known == name));
    match prepare.and_then(|(_, prepare)| prepare()) {
        Some(mut once) => println!("{}", run(&mut once, seconds.parse().unwrap_or(0.0))),
        None => println!("{{}}"),
    }
}
