//! diamond-types: a text and nothing else. Its own bytes hold the same histories.
use diamond_types::list::encoding::EncodeOptions;
use diamond_types::list::{ListCRDT, OpLog};

use crate::files::{self, Patch, Transaction};
use crate::{timed, Once, Task};

fn replay(patches: &[Patch]) -> ListCRDT {
    let mut doc = ListCRDT::new();
    let agent = doc.get_or_create_agent_id("a");
    for patch in patches {
        if patch.erase > 0 {
            doc.delete_without_content(agent, patch.at..patch.at + patch.erase);
        }
        if !patch.insert.is_empty() {
            doc.insert(agent, patch.at, &patch.insert);
        }
    }
    doc
}

fn bytes_of(log: &OpLog) -> Vec<u8> {
    log.encode(EncodeOptions {
        user_data: None,
        store_start_branch_content: true,
        store_inserted_content: true,
        store_deleted_content: false,
        compress_content: true,
        verbose: false,
    })
}

fn history_of(transactions: &[Transaction]) -> OpLog {
    let mut log = OpLog::new();
    // The version after each transaction.
    let mut versions: Vec<Vec<usize>> = Vec::new();
    for one in transactions {
        let agent = log.get_or_create_agent_id(&format!("agent {}", one.agent));
        let mut version: Vec<usize> = Vec::new();
        for &parent in &one.parents {
            version = log.version_union(&version, &versions[parent]).to_vec();
        }
        for patch in &one.patches {
            if patch.erase > 0 {
                version = vec![log.add_delete_at(agent, &version, patch.at..patch.at + patch.erase)];
            }
            if !patch.insert.is_empty() {
                version = vec![log.add_insert_at(agent, &version, patch.at, &patch.insert)];
            }
        }
        versions.push(version);
    }
    log
}

fn load(bytes: Vec<u8>) -> Once {
    Box::new(move || timed(|| ListCRDT::load_from(&bytes).unwrap().branch.content().to_string()))
}

pub fn all() -> Vec<Task> {
    let mut tasks: Vec<Task> = Vec::new();
    tasks.push(("replay_automerge-paper".into(), Box::new(|| {
        let patches = files::sequential("automerge-paper")?;
        Some(Box::new(move || timed(|| replay(&patches).branch.content().to_string())) as Once)
    })));
    tasks.push(("import_updates".into(), Box::new(|| {
        let patches = files::sequential("automerge-paper")?;
        Some(load(bytes_of(&replay(&patches).oplog)))
    })));
    for name in ["friendsforever", "clownschool", "A1-node_nodecc", "A2-git-makefile"] {
        tasks.push((format!("import_{name}"), Box::new(move || {
            Some(load(bytes_of(&history_of(&files::concurrent(name)?))))
        })));
    }
    tasks
}
