//! loro, on the files of bench_blobs.
use std::rc::Rc;

use loro::{
    ExpandType, ExportMode, Frontiers, LoroDoc, LoroValue, StyleConfig, StyleConfigMap, TreeParentId, VersionVector, ID,
};

use crate::files::{self, Patch};
use crate::{timed, Done, Once, Task};

fn text_of(doc: &LoroDoc) -> String {
    doc.get_text("text").to_string()
}

fn edit(doc: &LoroDoc, patch: &Patch) {
    let text = doc.get_text("text");
    if patch.erase > 0 {
        text.delete(patch.at, patch.erase).unwrap();
    }
    if !patch.insert.is_empty() {
        text.insert(patch.at, &patch.insert).unwrap();
    }
}

fn apply_all(patches: Vec<Patch>) -> Once {
    Box::new(move || {
        timed(|| {
            let doc = LoroDoc::new();
            patches.iter().for_each(|patch| edit(&doc, patch));
            doc.commit();
            text_of(&doc)
        })
    })
}

fn commit_and_send(patches: Vec<Patch>) -> Once {
    Box::new(move || {
        timed(|| {
            let doc = LoroDoc::new();
            let mut last = doc.oplog_vv();
            let mut sent = 0;
            for patch in &patches {
                edit(&doc, patch);
                doc.commit();
                sent += doc.export(ExportMode::updates(&last)).unwrap().len();
                last = doc.oplog_vv();
            }
            assert!(sent > patches.len());
            text_of(&doc)
        })
    })
}

/// Reads what a task ends in.
type Read = fn(&LoroDoc) -> String;

fn import_all(blobs: Vec<Vec<u8>>, read: Read) -> Once {
    Box::new(move || {
        timed(|| {
            let doc = LoroDoc::new();
            for blob in &blobs {
                doc.import(blob).unwrap();
            }
            read(&doc)
        })
    })
}

fn keys_of(doc: &LoroDoc) -> String {
    match doc.get_map("map").get_deep_value() {
        LoroValue::Map(map) => map.len().to_string(),
        _ => String::new(),
    }
}

fn list_of(doc: &LoroDoc) -> String {
    match doc.get_list("list").get_deep_value() {
        LoroValue::List(list) => {
            list.iter().map(|one| if let LoroValue::String(text) = one { text.to_string() } else { String::new() }).collect()
        }
        _ => String::new(),
    }
}

fn roots_of(doc: &LoroDoc) -> String {
    match doc.get_tree("tree").get_value_with_meta() {
        LoroValue::List(roots) => roots.len().to_string(),
        _ => String::new(),
    }
}

fn loaded(folder: &str, file: &str) -> Option<Rc<LoroDoc>> {
    let doc = LoroDoc::new();
    doc.set_peer_id(2).unwrap();
    for blob in files::blobs(folder, file)? {
        doc.import(&blob).unwrap();
    }
    Some(Rc::new(doc))
}

/// The same versions as in text_tasks.cc.
fn check_out(doc: Rc<LoroDoc>, back: bool) -> Once {
    let written = doc.oplog_vv().get(&1).copied().unwrap_or(0);
    let mut next = 0;
    Box::new(move || {
        let counter = written / 2 + next * 37 % 1000 - written / 100;
        next += 1;
        let there = timed(|| {
            doc.checkout(&Frontiers::from(ID::new(1, counter))).unwrap();
            text_of(&doc)
        });
        let latest = timed(|| {
            doc.checkout_to_latest();
            text_of(&doc)
        });
        if back { latest } else { there }
    })
}

fn opened(snapshot: &[u8]) -> LoroDoc {
    let doc = LoroDoc::new();
    doc.import(snapshot).unwrap();
    doc
}

fn save_opened(snapshot: &[u8]) -> Done {
    let doc = opened(snapshot);
    let mut saved = Vec::new();
    let done = timed(|| {
        saved = doc.export(ExportMode::Snapshot).unwrap();
        String::new()
    });
    Done { end: text_of(&opened(&saved)), ..done }
}

fn open_edit_send(snapshot: &[u8]) -> Done {
    timed(|| {
        let doc = opened(snapshot);
        let before = doc.oplog_vv();
        doc.get_text("text").insert(1000, "edit").unwrap();
        doc.commit();
        assert!(doc.export(ExportMode::updates(&before)).unwrap().len() > 20);
        String::new()
    })
}

fn export_json(doc: &LoroDoc) -> Done {
    let mut size = 0;
    let done = timed(|| {
        let json = doc.export_json_updates(&VersionVector::default(), &doc.oplog_vv()).unwrap();
        size = serde_json::to_string(&json).unwrap().len();
        String::new()
    });
    assert!(size > 1000);
    done
}

fn write_marks(folder: &str) -> Once {
    let marks: Vec<(usize, usize, String, i64)> = files::edits(folder, "marks")
        .iter()
        .map(|mark| {
            let place = |i: usize| mark[i].as_u64().unwrap() as usize;
            (place(0), place(1), mark[2].as_str().unwrap().to_string(), mark[3].as_i64().unwrap())
        })
        .collect();
    Box::new(move || {
        let doc = LoroDoc::new();
        let mut styles = StyleConfigMap::new();
        styles.insert("bold".into(), StyleConfig { expand: ExpandType::After });
        styles.insert("link".into(), StyleConfig { expand: ExpandType::None });
        doc.config_text_style(styles);
        let text = doc.get_text("text");
        text.insert(0, &"x".repeat(marks.len())).unwrap();
        doc.commit();
        timed(|| {
            for (begin, end, key, value) in &marks {
                text.mark(*begin..*end, key, *value).unwrap();
            }
            doc.commit();
            text.to_delta().len().to_string()
        })
    })
}

fn write_map() -> Once {
    let keys: Vec<String> = (0..200_000).map(|i| format!("key {i}")).collect();
    Box::new(move || {
        let doc = LoroDoc::new();
        let done = timed(|| {
            let map = doc.get_map("map");
            for (i, key) in keys.iter().enumerate() {
                map.insert(key, i as i64).unwrap();
            }
            doc.commit();
            String::new()
        });
        Done { end: keys_of(&doc), ..done }
    })
}

fn write_tree(folder: &str) -> Once {
    let steps: Vec<(bool, usize, i64)> = files::edits(folder, "tree_steps")
        .iter()
        .map(|step| (step[0].as_bool().unwrap(), step[1].as_u64().unwrap() as usize, step[2].as_i64().unwrap()))
        .collect();
    Box::new(move || {
        timed(|| {
            let doc = LoroDoc::new();
            let tree = doc.get_tree("tree");
            let mut ids = Vec::new();
            for &(creates, node, parent) in &steps {
                let above = if parent < 0 { TreeParentId::Root } else { TreeParentId::Node(ids[parent as usize]) };
                if creates {
                    ids.push(tree.create(above).unwrap());
                } else {
                    tree.mov(ids[node], above).unwrap();
                }
            }
            doc.commit();
            tree.roots().len().to_string()
        })
    })
}

fn ping_pong(rounds: usize) -> Once {
    Box::new(move || {
        let docs = [LoroDoc::new(), LoroDoc::new()];
        docs[0].set_peer_id(1).unwrap();
        docs[1].set_peer_id(2).unwrap();
        let mut ends = [docs[0].oplog_vv(), docs[1].oplog_vv()];
        timed(|| {
            for _ in 0..rounds {
                let sent: Vec<Vec<u8>> = (0..2)
                    .map(|k| {
                        let text = docs[k].get_text("text");
                        text.insert(if k == 0 { 0 } else { text.len_unicode() }, "x").unwrap();
                        docs[k].commit();
                        docs[k].export(ExportMode::updates(&ends[k])).unwrap()
                    })
                    .collect();
                for k in 0..2 {
                    docs[k].import(&sent[1 - k]).unwrap();
                    ends[k] = docs[k].oplog_vv();
                }
            }
            text_of(&docs[0])
        })
    })
}

/// The tasks by name; `folder` holds the files.
struct Tasks {
    folder: String,
    all: Vec<Task>,
}

impl Tasks {
    fn add(&mut self, name: &str, prepare: impl Fn(&str) -> Option<Once> + 'static) {
        let folder = self.folder.clone();
        self.all.push((name.to_string(), Box::new(move || prepare(&folder))));
    }
    fn import(&mut self, name: &str, file: &str, read: Read) {
        let file = file.to_string();
        self.add(name, move |folder| Some(import_all(files::blobs(folder, &file)?, read)));
    }
    /// A task on the only blob of a file.
    fn on_blob(&mut self, name: &str, file: &str, work: fn(&[u8]) -> Done) {
        let file = file.to_string();
        self.add(name, move |folder| {
            let blob = files::blobs(folder, &file)?.remove(0);
            Some(Box::new(move || work(&blob)))
        });
    }
    /// A task on the document that a file of updates makes.
    fn on_doc(&mut self, name: &str, file: &str, work: fn(Rc<LoroDoc>) -> Once) {
        let file = file.to_string();
        self.add(name, move |folder| Some(work(loaded(folder, &file)?)));
    }
}

fn add_texts(tasks: &mut Tasks) {
    for trace in [
        "automerge-paper", "seph-blog1", "rustcode", "sveltecomponent", "friendsforever_flat", "clownschool_flat",
        "json-crdt-patch", "json-crdt-blog-post",
    ] {
        tasks.add(&format!("replay_{trace}"), move |_| Some(apply_all(files::sequential(trace)?)));
    }
    tasks.add("commit_and_send", |_| Some(commit_and_send(files::sequential("automerge-paper")?)));
    tasks.add("random_edits", |folder| Some(apply_all(files::random_edits(folder))));
    tasks.import("import_updates", "paper", text_of);
    for trace in ["friendsforever", "clownschool", "A1-node_nodecc", "A2-git-makefile"] {
        tasks.import(&format!("import_{trace}"), trace, text_of);
    }
    for trace in ["friendsforever", "clownschool"] {
        tasks.import(&format!("live_{trace}"), &format!("{trace}_live"), text_of);
    }
    tasks.import("merge_two_branches", "two_branches", text_of);
    tasks.import("merge_two_halves", "two_halves", text_of);
    for peers in [250, 500, 1000] {
        tasks.import(&format!("spread_{peers}"), &format!("spread_{peers}"), text_of);
    }
    for ids in ["ascending", "descending", "random"] {
        for kind in ["one_place", "at_end"] {
            tasks.import(&format!("{kind}_{ids}_250"), &format!("{kind}_{ids}_250"), text_of);
        }
        tasks.import(&format!("list_{ids}_250"), &format!("list_{ids}_250"), list_of);
    }
    for rounds in [1000, 2000, 4000] {
        tasks.add(&format!("ping_pong_{rounds}"), move |_| Some(ping_pong(rounds)));
    }
    tasks.on_doc("checkout_middle", "paper", |doc| check_out(doc, false));
    tasks.on_doc("checkout_back", "paper", |doc| check_out(doc, true));
    tasks.on_doc("checkout_branches", "friendsforever", |doc| check_out(doc, false));
}

fn add_documents(tasks: &mut Tasks) {
    for writer in ["quire", "loro"] {
        for document in ["paper", "branches"] {
            let file = format!("{document}_snapshot.{writer}");
            tasks.on_blob(&format!("open_{document}_{writer}"), &file, |blob| timed(|| text_of(&opened(blob))));
            tasks.on_blob(&format!("save_{document}_{writer}"), &file, save_opened);
        }
        let file = format!("map_snapshot.{writer}");
        tasks.on_blob(&format!("open_map_{writer}"), &file, |blob| timed(|| keys_of(&opened(blob))));
    }
    tasks.on_blob("open_edit_send", "paper_snapshot.loro", open_edit_send);
    for (name, file) in [("fork_paper", "paper"), ("fork_branches", "two_branches")] {
        tasks.on_doc(name, file, |doc| Box::new(move || timed(|| text_of(&doc.fork()))));
    }
    tasks.on_doc("export_json", "paper", |doc| Box::new(move || export_json(&doc)));
    tasks.add("marks", |folder| Some(write_marks(folder)));
    tasks.add("write_map", |_| Some(write_map()));
    tasks.import("import_map", "map", keys_of);
    tasks.add("write_tree", |folder| Some(write_tree(folder)));
    tasks.import("import_tree", "tree", roots_of);
}

pub fn all(folder: &str) -> Vec<Task> {
    let mut tasks = Tasks { folder: folder.to_string(), all: Vec::new() };
    add_texts(&mut tasks);
    add_documents(&mut tasks);
    tasks.all
}
