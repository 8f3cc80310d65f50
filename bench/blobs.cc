// bench_blobs DIR: writes what engine_tasks and the peers work on. NAME.blobs holds blobs in the order of import, each
// after its length (32 bits, least byte first); NAME.json holds edits.
#include <cstdio>
#include <fstream>

#include "base/check.h"
#include "base/concat.h"
#include "bench/workloads.h"
#include "codec/document_snapshot.h"
#include "codec/updates.h"
#include "crdt/doc/doc.h"
#include "json/json.h"

namespace {

using namespace quire;  // NOLINT: a benchmark reads better without the project's name.

std::string folder;

void write(const std::string& name, const std::vector<Bytes>& blobs) {
    std::ofstream file(cat(folder, "/", name, ".blobs"), std::ios::binary);
    for (const Bytes& blob : blobs) {
        const auto size = static_cast<std::uint32_t>(blob.size());
        for (const int shift : {0, 8, 16, 24}) file.put(static_cast<char>(size >> shift));
        file.write(reinterpret_cast<const char*>(blob.data()),
                   static_cast<std::streamsize>(blob.size()));
    }
}

void write(const std::string& name, const std::optional<std::vector<Bytes>>& blobs) {
    if (blobs) write(name, *blobs);
}

void write_edits(const std::string& name, List edits) {
    std::ofstream(cat(folder, "/", name, ".json")) << json::write(Value(std::move(edits)));
}

// The document of these updates as a snapshot of ours.
void write_snapshot(const std::string& name, const std::vector<Bytes>& updates) {
    crdt::Doc doc(1'000'000);
    for (const Bytes& blob : updates) CHECK(doc.import(codec::decode_updates(blob).value()));
    write(name, std::vector<Bytes>{codec::encode_snapshot(doc).value()});
}

void write_traces() {
    if (const auto history = bench::history_of("automerge-paper")) {
        write("paper", std::vector<Bytes>{*history});
        write_snapshot("paper_snapshot.quire", {*history});
    }
    for (const char* name :
         {"friendsforever", "clownschool", "A1-node_nodecc", "A2-git-makefile"}) {
        write(name, bench::concurrent(name, false));
    }
    for (const char* name : {"friendsforever", "clownschool"})
        write(cat(name, "_live"), bench::concurrent(name, true));
    write("two_halves", bench::two_halves("automerge-paper"));
}

void write_branches() {
    const std::vector<Bytes> branches = bench::two_branches(20'000);
    write("two_branches", branches);
    write_snapshot("branches_snapshot.quire", branches);
    const std::vector<Bytes> map{bench::large_map(200'000)};
    write("map", map);
    write_snapshot("map_snapshot.quire", map);
    write("tree", std::vector<Bytes>{bench::large_tree(10'000)});
}

void write_crowds() {
    using Crowd = bench::Crowd;
    for (const std::size_t peers : {250, 500, 1000})
        write(cat("spread_", peers), bench::crowd({.peers = peers}));
    const auto add = [](const std::string& kind, Crowd crowd) {
        for (const std::size_t peers : {250, 2000, 4000, 8000}) {
            crowd.peers = peers;
            write(cat(kind, "_", peers), bench::crowd(crowd));
        }
    };
    using enum Crowd::Ids;
    using enum Crowd::Place;
    for (const auto& [word, ids] :
         {std::pair{"ascending", ascending}, {"descending", descending}, {"random", random}}) {
        add(cat("one_place_", word), {.place = one_place, .ids = ids});
        add(cat("at_end_", word), {.place = end, .ids = ids});
        add(cat("list_", word), {.place = one_place, .ids = ids, .in_list = true});
    }
}

void write_edits() {
    List edits;
    for (const traces::Patch& patch : bench::random_edits(20'000)) {
        edits.push_back(List{static_cast<std::int64_t>(patch.at),
                             static_cast<std::int64_t>(patch.erase), patch.insert});
    }
    write_edits("random_edits", std::move(edits));
    List marks;
    for (const bench::Mark& mark : bench::random_marks(10'000)) {
        marks.push_back(List{static_cast<std::int64_t>(mark.begin),
                             static_cast<std::int64_t>(mark.end), mark.key, mark.value});
    }
    write_edits("marks", std::move(marks));
    List steps;
    for (const bench::TreeStep& step : bench::tree_steps(10'000)) {
        const bool at_top = step.parent == bench::TreeStep::kRoot;
        steps.push_back(List{step.creates, static_cast<std::int64_t>(step.node),
                             at_top ? -1 : static_cast<std::int64_t>(step.parent)});
    }
    write_edits("tree_steps", std::move(steps));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: bench_blobs DIR\n", stderr);
        return 2;
    }
    folder = argv[1];
    write_traces();
    write_branches();
    write_crowds();
    write_edits();
    return 0;
}
