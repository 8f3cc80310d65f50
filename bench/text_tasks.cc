// Tasks on a text: writing a trace, taking in histories, swapping edits and looking at earlier versions.
#include <memory>
#include <span>

#include "base/check.h"
#include "base/concat.h"
#include "bench/tasks.h"
#include "bench/workloads.h"
#include "codec/updates.h"
#include "crdt/doc/doc.h"
#include "crdt/doc/history.h"
#include "crdt/doc/list.h"
#include "crdt/doc/text.h"

namespace quire::bench {

namespace {

using namespace crdt;

constexpr const char* kPaper = "automerge-paper";

void take_in(Doc& doc, const Bytes& blob) {
    ChangeBatch changes;
    CHECK(codec::read_updates(blob, changes));
    CHECK(doc.import(std::move(changes)));
}

void edit(Doc& doc, Handle text, const traces::Patch& patch) {
    if (patch.erase > 0) CHECK(doc.text(text).erase({patch.at}, {patch.erase}));
    if (!patch.insert.empty()) CHECK(doc.text(text).insert({patch.at}, patch.insert));
}

Done apply_all(const std::vector<traces::Patch>& patches) {
    Doc doc(1);
    Done done;
    done.ms = timed([&] {
        const Handle text = doc.open(text_id());
        for (const traces::Patch& patch : patches) edit(doc, text, patch);
        doc.commit();
        done.end = text_of(doc);
    });
    return done;
}

Once apply_trace(const std::string& name) {
    const traces::Sequential* trace = sequential(name);
    if (trace == nullptr) return {};
    return [trace] { return apply_all(trace->patches); };
}

// A commit for each edit of the trace, and the bytes that a peer is sent for it.
Once commit_and_send() {
    const traces::Sequential* trace = sequential(kPaper);
    if (trace == nullptr) return {};
    return [trace] {
        Doc doc(1);
        Done done;
        done.ms = timed([&] {
            const Handle text = doc.open(text_id());
            std::size_t sent = 0;
            ChangeBatch changes;
            codec::UpdatesWriter writer;
            for (const traces::Patch& patch : trace->patches) {
                edit(doc, text, patch);
                const IdSpan span = doc.commit().span;
                changes.clear();
                doc.changes_in(std::span(&span, 1), changes);
                sent += writer.write(changes).size();
            }
            CHECK(sent > trace->end.size());
            done.end = text_of(doc);
        });
        return done;
    };
}

// Takes in the blobs of a file one after another and reads the text.
Once import_all(const std::string& file) {
    auto blobs = read_blobs(file);
    if (!blobs) return {};
    return [blobs = std::move(*blobs)] {
        Doc doc(1'000'000);
        Done done;
        done.ms = timed([&] {
            for (const Bytes& blob : blobs) take_in(doc, blob);
            done.end = text_of(doc);
        });
        return done;
    };
}

Once import_list(const std::string& file) {
    auto blobs = read_blobs(file);
    if (!blobs) return {};
    return [blobs = std::move(*blobs)] {
        Doc doc(1'000'000);
        Value read;
        Done done;
        done.ms = timed([&] {
            for (const Bytes& blob : blobs) take_in(doc, blob);
            read = doc.value(doc.open(list_id()));
        });
        for (const Value& element : read.as_list()) done.end += element.as_string();
        return done;
    };
}

// Two peers each write, swap bytes, and again.
Once ping_pong(std::size_t rounds) {
    return [rounds] {
        Doc a(1);
        Doc b(2);
        const auto write = [](Doc& doc, std::size_t at) {
            CHECK(doc.text(doc.open(text_id())).insert({at}, "x"));
            const IdSpan span = doc.commit().span;
            return codec::encode_updates(doc.changes_in(std::span(&span, 1)));
        };
        Done done;
        done.ms = timed([&] {
            for (std::size_t i = 0; i < rounds; ++i) {
                const Bytes from_a = write(a, 0);
                const Bytes from_b = write(b, b.text(b.open(text_id())).rope().code_points().n);
                take_in(a, from_b);
                take_in(b, from_a);
            }
            done.end = text_of(a);
        });
        CHECK(done.end == text_of(b));
        return done;
    };
}

// A document, and the number of its next version.
struct Traveller {
    Doc doc{2};
    std::size_t next = 0;
};

std::shared_ptr<Traveller> traveller(const std::string& file) {
    const auto blobs = read_blobs(file);
    if (!blobs) return nullptr;
    auto travels = std::make_shared<Traveller>();
    for (const Bytes& blob : *blobs) take_in(travels->doc, blob);
    return travels;
}

// A version somewhere around the middle of what peer 1 wrote; another one at each call.
Frontiers next_version(Traveller& travels) {
    const Counter written = travels.doc.history().version().end_of(1);
    const auto step = static_cast<Counter>(travels.next++ * 37 % 1000);
    return {{1, written / 2 + step - written / 100}};
}

// There, reading the text; or from there back to the latest, reading it again.
Once check_out(const std::string& file, bool back) {
    const auto travels = traveller(file);
    if (travels == nullptr) return {};
    return [travels, back] {
        Doc& doc = travels->doc;
        const Frontiers version = next_version(*travels);
        Done there;
        there.ms = timed([&] {
            CHECK(doc.checkout(version));
            there.end = text_of(doc);
        });
        Done latest;
        latest.ms = timed([&] {
            doc.checkout_to_latest();
            latest.end = text_of(doc);
        });
        return back ? latest : there;
    };
}

}  // namespace

void add_text_tasks(std::vector<Task>& tasks) {
    const auto add = [&](std::string name, std::function<Once()> prepare) {
        tasks.push_back({std::move(name), std::move(prepare)});
    };
    for (const char* name : traces::kSequential)
        add(cat("replay_", name), [name] { return apply_trace(name); });
    add("commit_and_send", commit_and_send);
    add("random_edits",
        [] { return Once([edits = random_edits(20'000)] { return apply_all(edits); }); });
    const auto imports = [&](const std::string& name, const std::string& file) {
        add(name, [file] { return import_all(file); });
    };
    imports("import_updates", "paper");
    for (const char* name :
         {"friendsforever", "clownschool", "A1-node_nodecc", "A2-git-makefile"}) {
        imports(cat("import_", name), name);
    }
    for (const char* name : {"friendsforever", "clownschool"})
        imports(cat("live_", name), cat(name, "_live"));
    imports("merge_two_branches", "two_branches");
    imports("merge_two_halves", "two_halves");
    for (const std::size_t peers : {250, 500, 1000})
        imports(cat("spread_", peers), cat("spread_", peers));
    for (const std::size_t peers : {250, 2000, 4000, 8000}) {
        for (const char* ids : {"_ascending_", "_descending_", "_random_"}) {
            imports(cat("one_place", ids, peers), cat("one_place", ids, peers));
            imports(cat("at_end", ids, peers), cat("at_end", ids, peers));
            add(cat("list", ids, peers),
                [file = cat("list", ids, peers)] { return import_list(file); });
        }
    }
    for (const std::size_t rounds : {1000, 2000, 4000})
        add(cat("ping_pong_", rounds), [rounds] { return ping_pong(rounds); });
    add("checkout_middle", [] { return check_out("paper", false); });
    add("checkout_back", [] { return check_out("paper", true); });
    add("checkout_branches", [] { return check_out("friendsforever", false); });
}

}  // namespace quire::bench
