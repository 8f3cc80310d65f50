// A fuzz target without a fuzzer: runs it on every file below the folders that are named, and on
// every file with its tail cut off at each of some places.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
    constexpr std::size_t kCuts = 64;
    int files = 0;
    for (int i = 1; i < argc; ++i) {
        for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i])) {
            if (!entry.is_regular_file()) continue;
            std::ifstream file(entry.path(), std::ios::binary);
            const std::vector<char> read{std::istreambuf_iterator<char>(file), {}};
            // A copy of exactly the size, so that a sanitizer sees the first byte beyond it.
            for (std::size_t cut = 0; cut <= kCuts; ++cut) {
                const std::size_t size = read.size() * (kCuts - cut) / kCuts;
                const std::vector<std::uint8_t> input(
                    read.begin(), read.begin() + static_cast<std::ptrdiff_t>(size));
                LLVMFuzzerTestOneInput(input.data(), input.size());
            }
            ++files;
        }
    }
    std::printf("%d files replayed\n", files);
    return files == 0 ? 1 : 0;
}
