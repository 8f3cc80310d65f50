// Other programs swap a directory and a file for links to the outside, as fast as they can, while
// files are read, saved, made and deleted through their names. Whatever happens, nothing outside is
// read or touched, and no draft is left behind. QUIRE_LONG makes a million rounds of it.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/test_directory.h"
#include "fs/disk_files.h"
#include "fs/draft_names.h"
#include "fs/reason_for_test.h"

namespace quire::fs {
namespace {

constexpr std::string_view kSecret = "secret";

// In memory, where there is such a place: a sync of a real disk takes longer than a thousand swaps.
std::string fast_parent() {
    struct stat status = {};
    return ::stat("/dev/shm", &status) == 0 ? "/dev/shm" : TestDirectory::usual_parent();
}

std::size_t entries_below(const std::string& path) {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::recursive_directory_iterator(path), {}));
}

// Exchanges two names in a directory until it goes.
class Swapper {
public:
    Swapper(int directory, std::string a, std::string b)
        : thread_([this, directory, a = std::move(a), b = std::move(b)] {
              while (!stop_) {
                  if (rename_exchange(directory, a, b) == 0) ++swaps_;
              }
          }) {}
    Swapper(const Swapper&) = delete;
    Swapper& operator=(const Swapper&) = delete;
    ~Swapper() {
        stop_ = true;
        thread_.join();
    }
    std::uint64_t swaps() const { return swaps_; }

private:
    std::atomic<bool> stop_ = false;
    std::atomic<std::uint64_t> swaps_ = 0;
    std::thread thread_;
};

TEST(SwapRace, NoCallLeavesTheDirectoryWhateverIsSwappedForLinks) {
    const TestDirectory directory(fast_parent()), outside(fast_parent());
    outside.put("f", kSecret);
    directory.put("d/f", "public 0");
    directory.link("link", outside.path());
    directory.link("d/flink", outside / "f");
    const auto files = std::move(DiskFiles::open(directory.path(), {1, {}}).value());
    const Fd root(::open(directory.path().c_str(), O_RDONLY | O_DIRECTORY));
    const Fd inner(::open((directory / "d").c_str(), O_RDONLY | O_DIRECTORY));
    SeededRng rng(4);
    std::uint64_t reached = 0;
    std::uint64_t refused = 0;
    std::uint64_t saved = 0;
    std::uint64_t swaps = 0;
    {
        const Swapper directories(root.get(), "d", "link");
        const Swapper inner_files(inner.get(), "f", "flink");
        const std::uint64_t rounds = std::getenv("QUIRE_LONG") == nullptr ? 20'000 : 1'000'000;
        // On a busy machine they may hardly meet in so many rounds.
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
        const auto have_met = [&] {
            return directories.swaps() > 1000 && inner_files.swaps() > 1000 && reached > 0 &&
                   refused > 0 && saved > 0;
        };
        const auto count = [&](const auto& result) {
            result ? ++reached : ++refused;
            return result.has_value();
        };
        for (std::uint64_t i = 0;
             i < rounds || (!have_met() && std::chrono::steady_clock::now() < deadline); ++i) {
            const std::uint64_t kind = rng.next() % 8;
            if (kind < 3) {
                const auto place = files->resolve("d/f");
                const auto read = files->read(place ? place->path : "d/f", kLimit);
                if (!count(read)) continue;
                ASSERT_TRUE(read->bytes.starts_with("public")) << read->bytes;
            } else if (kind == 3) {
                // Straight at the name, as if the check had been made a moment ago.
                ASSERT_FALSE(files->save("d/f", "overwritten", Hash::of(kSecret)));
                ASSERT_FALSE(files->remove("d/f", Hash::of(kSecret)));
            } else if (kind < 6) {
                const auto now = files->read("d/f", kLimit);
                if (now && count(files->save("d/f", cat("public ", i), now->hash))) ++saved;
            } else {
                const std::string name = cat("d/new", i % 4);
                count(kind == 6 ? files->create(name, "x").map([](const Saved&) {})
                                : files->remove(name, Hash::of("x")));
            }
        }
        swaps = directories.swaps() + inner_files.swaps();
        EXPECT_TRUE(have_met());
    }

    EXPECT_EQ(entries_below(outside.path()), 1U);
    EXPECT_EQ(outside.get("f"), kSecret);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory.path())) {
        const bool is_recovered = entry.path().parent_path().filename() == "recovered";
        EXPECT_TRUE(is_recovered || !is_draft(entry.path().filename().string())) << entry.path();
    }
    std::printf("%llu swaps, %llu calls done, %llu of them saves, %llu refused, none outside\n",
                static_cast<unsigned long long>(swaps), static_cast<unsigned long long>(reached),
                static_cast<unsigned long long>(saved), static_cast<unsigned long long>(refused));
}

}  // namespace
}  // namespace quire::fs
