// snapshot_echo none|lz4 FROM TO: every snapshot in the folder FROM, decoded in full and written
// anew to the folder TO under the same name. For tests that ask Loro what it thinks of our
// snapshots.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "codec/snapshot_rewrite_for_test.h"

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fputs("snapshot_echo none|lz4 FROM TO\n", stderr);
        return 2;
    }
    const auto compression = std::string_view(argv[1]) == "none" ? quire::codec::Compression::none
                                                                 : quire::codec::Compression::lz4;
    int failed = 0;
    for (const auto& entry : std::filesystem::directory_iterator(argv[2])) {
        std::ifstream in(entry.path(), std::ios::binary);
        const quire::Bytes blob{std::istreambuf_iterator<char>(in), {}};
        const auto written = quire::codec::rewritten(blob, compression);
        if (!written) {
            std::fprintf(stderr, "%s: %s\n", entry.path().filename().c_str(),
                         written.error().message().c_str());
            ++failed;
            continue;
        }
        std::ofstream out(std::filesystem::path(argv[3]) / entry.path().filename(),
                          std::ios::binary);
        out.write(reinterpret_cast<const char*>(written->data()),
                  static_cast<std::streamsize>(written->size()));
    }
    return failed == 0 ? 0 : 1;
}
