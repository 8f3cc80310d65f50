//! Automerge: the trace written, and its own bytes read.
use automerge::transaction::Transactable;
use automerge::{AutoCommit, ObjType, ReadDoc, ROOT};

use crate::files::{self, Patch};
use crate::{timed, Once, Task};

fn replay(patches: &[Patch]) -> AutoCommit {
    let mut doc = AutoCommit::new();
    let text = doc.put_object(ROOT, "text", ObjType::Text).unwrap();
    for patch in patches {
        doc.splice_text(&text, patch.at, patch.erase as isize, &patch.insert).unwrap();
    }
    doc.commit();
    doc
}

fn text_of(doc: &AutoCommit) -> String {
    let (_, text) = doc.get(ROOT, "text").unwrap().unwrap();
    doc.text(&text).unwrap()
}

pub fn all() -> Vec<Task> {
    let mut tasks: Vec<Task> = Vec::new();
    tasks.push(("replay_automerge-paper".into(), Box::new(|| {
        let patches = files::sequential("automerge-paper")?;
        Some(Box::new(move || timed(|| text_of(&replay(&patches)))) as Once)
    })));
    tasks.push(("import_updates".into(), Box::new(|| {
        let bytes = replay(&files::sequential("automerge-paper")?).save();
        Some(Box::new(move || timed(|| text_of(&AutoCommit::load(&bytes).unwrap()))) as Once)
    })));
    tasks
}
