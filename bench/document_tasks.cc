// Tasks on whole documents and on other containers than a text: snapshots, forks, JSON, marks, maps and trees.
#include <memory>

#include "base/check.h"
#include "base/concat.h"
#include "bench/tasks.h"
#include "bench/workloads.h"
#include "codec/document_snapshot.h"
#include "codec/json_updates.h"
#include "codec/open_snapshot.h"
#include "codec/updates.h"
#include "crdt/doc/doc.h"
#include "crdt/doc/history.h"
#include "crdt/doc/map.h"
#include "crdt/doc/text.h"
#include "crdt/doc/tree.h"

namespace quire::bench {

namespace {

using namespace crdt;

Doc opened(const Bytes& snapshot) {
    Doc doc(2);
    CHECK(codec::open_snapshot(doc, snapshot).value());
    return doc;
}

// The document that a file of updates makes; null if the file is absent.
std::shared_ptr<Doc> loaded(const std::string& file) {
    const auto blobs = read_blobs(file);
    if (!blobs) return nullptr;
    auto doc = std::make_shared<Doc>(2);
    for (const Bytes& blob : *blobs) CHECK(doc->import(codec::decode_updates(blob).value()));
    return doc;
}

// A task on the only blob of a file.
Once on_blob(const std::string& file, std::function<Done(const Bytes&)> work) {
    const auto blobs = read_blobs(file);
    if (!blobs) return {};
    return [blob = blobs->at(0), work = std::move(work)] { return work(blob); };
}

Done open_and_read(const Bytes& snapshot) {
    Done done;
    done.ms = timed([&] {
        Doc doc = opened(snapshot);
        done.end = text_of(doc);
    });
    return done;
}

// The opening does not count.
Done save_opened(const Bytes& snapshot) {
    const Doc doc = opened(snapshot);
    Bytes saved;
    const double took = timed([&] { saved = codec::encode_snapshot(doc).value(); });
    Doc again = opened(saved);
    return {took, text_of(again)};
}

Done open_edit_send(const Bytes& snapshot) {
    Done done;
    Bytes sent;
    done.ms = timed([&] {
        Doc doc = opened(snapshot);
        const VersionVector before = doc.version();
        CHECK(doc.text(doc.open(text_id())).insert({1000}, "edit"));
        doc.commit();
        sent = codec::encode_updates(doc.changes_since(before));
    });
    CHECK(sent.size() > 20);
    return done;
}

Once fork_and_read(const std::string& file) {
    const auto doc = loaded(file);
    if (doc == nullptr) return {};
    return [doc] {
        Done done;
        done.ms = timed([&] {
            Doc copy = doc->fork(3);
            done.end = text_of(copy);
        });
        return done;
    };
}

// All of the history as one text of JSON.
Once export_json(const std::string& file) {
    const auto doc = loaded(file);
    if (doc == nullptr) return {};
    return [doc] {
        std::string text;
        const double took = timed([&] {
            text = codec::write_json_updates(doc->changes_since({}).changes(), {}).value();
        });
        CHECK(text.size() > 1000);
        return Done{took, ""};
    };
}

// Marks of a text of as many letters, in one commit, and the text with its styles.
Once write_marks() {
    return [marks = random_marks(10'000)] {
        Doc doc(1);
        const Handle text = doc.open(text_id());
        CHECK(doc.text(text).insert({0}, std::string(marks.size(), 'x')));
        doc.commit();
        std::size_t stretches = 0;
        const double took = timed([&] {
            for (const Mark& mark : marks)
                CHECK(doc.text(text).mark({mark.begin}, {mark.end}, mark.key, mark.value));
            doc.commit();
            stretches = doc.text(text).delta().size();
        });
        return Done{took, cat(stretches)};
    };
}

Done count_keys(Doc& doc) {
    return {0, cat(doc.value(doc.open(map_id())).as_map().size())};
}

Once write_map() {
    std::vector<std::string> keys;
    for (std::size_t i = 0; i < 200'000; ++i) keys.push_back(map_key(i));
    return [keys = std::move(keys)] {
        Doc doc(1);
        const double took = timed([&] {
            const Handle map = doc.open(map_id());
            std::int64_t number = 0;
            for (const std::string& key : keys) CHECK(doc.map(map).set(key, number++));
            doc.commit();
        });
        return Done{took, count_keys(doc).end};
    };
}

Done import_map(const Bytes& updates) {
    Done done;
    done.ms = timed([&] {
        Doc doc(2);
        CHECK(doc.import(codec::decode_updates(updates).value()));
        done.end = count_keys(doc).end;
    });
    return done;
}

Done open_map(const Bytes& snapshot) {
    Done done;
    done.ms = timed([&] {
        Doc doc = opened(snapshot);
        done.end = count_keys(doc).end;
    });
    return done;
}

Once write_tree() {
    return [steps = tree_steps(10'000)] {
        Doc doc(1);
        Done done;
        done.ms = timed([&] {
            const Handle tree = doc.open(tree_id());
            std::vector<OpId> ids;
            for (const TreeStep& step : steps) {
                const auto parent =
                    step.parent == TreeStep::kRoot ? std::nullopt : std::optional(ids[step.parent]);
                if (step.creates) {
                    ids.push_back(doc.tree(tree).create(parent).value());
                } else {
                    CHECK(doc.tree(tree).move(ids[step.node], parent));
                }
            }
            doc.commit();
            done.end = cat(doc.tree(tree).child_count());
        });
        return done;
    };
}

Done import_tree(const Bytes& updates) {
    Done done;
    done.ms = timed([&] {
        Doc doc(2);
        CHECK(doc.import(codec::decode_updates(updates).value()));
        done.end = cat(doc.value(doc.open(tree_id())).as_list().size());
    });
    return done;
}

}  // namespace

void add_document_tasks(std::vector<Task>& tasks) {
    const auto add = [&](std::string name, std::function<Once()> prepare) {
        tasks.push_back({std::move(name), std::move(prepare)});
    };
    const auto on = [&](std::string name, std::string file, Done (*work)(const Bytes&)) {
        add(std::move(name), [file = std::move(file), work] { return on_blob(file, work); });
    };
    for (const char* writer : {"quire", "loro"}) {
        on(cat("open_paper_", writer), cat("paper_snapshot.", writer), open_and_read);
        on(cat("open_branches_", writer), cat("branches_snapshot.", writer), open_and_read);
        on(cat("save_paper_", writer), cat("paper_snapshot.", writer), save_opened);
        on(cat("save_branches_", writer), cat("branches_snapshot.", writer), save_opened);
        on(cat("open_map_", writer), cat("map_snapshot.", writer), open_map);
    }
    on("open_edit_send", "paper_snapshot.loro", open_edit_send);
    add("fork_paper", [] { return fork_and_read("paper"); });
    add("fork_branches", [] { return fork_and_read("two_branches"); });
    add("export_json", [] { return export_json("paper"); });
    add("marks", write_marks);
    add("write_map", write_map);
    on("import_map", "map", import_map);
    add("write_tree", write_tree);
    on("import_tree", "tree", import_tree);
}

}  // namespace quire::bench
