// bench_blobs DIR: writes what wire_bench works on, NAME.N.bin in the order of import, for the
// peers to take in the same bytes.
#include <cstdio>
#include <fstream>

#include "bench/workloads.h"

namespace {

using quire::Bytes;

void write(const std::string& folder, const std::string& name, const std::vector<Bytes>& blobs) {
    for (std::size_t i = 0; i < blobs.size(); ++i) {
        std::ofstream file(folder + "/" + name + "." + std::to_string(i) + ".bin",
                           std::ios::binary);
        file.write(reinterpret_cast<const char*>(blobs[i].data()),
                   static_cast<std::streamsize>(blobs[i].size()));
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: bench_blobs DIR\n", stderr);
        return 2;
    }
    namespace bench = quire::bench;
    const std::string folder = argv[1];
    const auto add = [&](const std::string& name, const std::optional<bench::Merging>& merging) {
        if (merging) write(folder, name, merging->blobs);
    };
    if (const auto history = bench::history_of("automerge-paper"))
        write(folder, "import_updates", {*history});
    for (const char* name : {"friendsforever", "clownschool", "A1-node_nodecc", "A2-git-makefile"})
        add(std::string("import_") + name, bench::concurrent(name));
    add("merge_two_branches", bench::two_branches(20'000));
    add("merge_two_halves", bench::two_halves("automerge-paper"));
    for (const std::size_t peers : {250, 500, 1000})
        add("peers_" + std::to_string(peers), bench::many_peers(peers));
    return 0;
}
