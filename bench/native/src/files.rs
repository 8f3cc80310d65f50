//! What the tasks work on: the files of bench_blobs, and the traces.
use std::fs;
use std::io::Read;
use std::path::PathBuf;

use serde_json::Value;

/// The blobs of a file, in the order of import.
pub fn blobs(folder: &str, name: &str) -> Option<Vec<Vec<u8>>> {
    let all = fs::read(format!("{folder}/{name}.blobs")).ok()?;
    let mut blobs = Vec::new();
    let mut at = 0;
    while at + 4 <= all.len() {
        let size = u32::from_le_bytes([all[at], all[at + 1], all[at + 2], all[at + 3]]) as usize;
        blobs.push(all[at + 4..at + 4 + size].to_vec());
        at += 4 + size;
    }
    Some(blobs)
}

pub struct Patch {
    pub at: usize,
    pub erase: usize,
    pub insert: String,
}

fn patch(json: &Value) -> Patch {
    let number = |i: usize| json[i].as_u64().unwrap() as usize;
    Patch { at: number(0), erase: number(1), insert: json[2].as_str().unwrap().to_string() }
}

/// The edits of a file that bench_blobs wrote, as JSON.
pub fn edits(folder: &str, name: &str) -> Vec<Value> {
    let text = fs::read_to_string(format!("{folder}/{name}.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

pub fn random_edits(folder: &str) -> Vec<Patch> {
    edits(folder, "random_edits").iter().map(patch).collect()
}

fn trace(path: &str) -> Option<Value> {
    let folder = std::env::var("QUIRE_TRACES").unwrap_or_else(|_| "../shared/data/traces".to_string());
    let packed = fs::read(PathBuf::from(folder).join(format!("{path}.json.gz"))).ok()?;
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed.as_slice()).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

/// All patches of a sequential trace.
pub fn sequential(name: &str) -> Option<Vec<Patch>> {
    let trace = trace(&format!("sequential/{name}"))?;
    let transactions = trace["txns"].as_array()?;
    Some(transactions.iter().flat_map(|one| one["patches"].as_array().unwrap()).map(patch).collect())
}

pub struct Transaction {
    pub parents: Vec<usize>,
    pub agent: usize,
    pub patches: Vec<Patch>,
}

/// The transactions of a concurrent trace.
pub fn concurrent(name: &str) -> Option<Vec<Transaction>> {
    let trace = trace(&format!("concurrent/{name}"))?;
    let transactions = trace["txns"].as_array()?.iter().map(|one| Transaction {
        parents: one["parents"].as_array().unwrap().iter().map(|at| at.as_u64().unwrap() as usize).collect(),
        agent: one["agent"].as_u64().unwrap() as usize,
        patches: one["patches"].as_array().unwrap().iter().map(patch).collect(),
    });
    Some(transactions.collect())
}
