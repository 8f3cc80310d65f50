// Calls on a file whose folder, and which itself, another program swaps for links all the time. The
// document must not grow by it, no call may take long, nothing outside may be touched, and no draft
// may be left behind.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <set>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/test_directory.h"
#include "fs/disk_files.h"
#include "kernel/files/file_office_for_test.h"

namespace quire::kernel {
namespace {

std::string all_lines_of(const std::string& text, std::multiset<std::string>& lines) {
    std::istringstream in(text);
    std::string line;
    while (std::getline(in, line)) lines.insert(line);
    return text;
}

// Swaps names as fast as it can, in one step or in several.
class Swapper {
public:
    Swapper(const TestDirectory& directory, const std::string& outside, bool in_one_step)
        : thread_([this, &directory, outside, in_one_step] {
              const fs::Fd root(::open(directory.path().c_str(), O_RDONLY | O_DIRECTORY));
              const fs::Fd folder(::open((directory / "d").c_str(), O_RDONLY | O_DIRECTORY));
              for (int i = 0; !stop_; ++i) {
                  const bool whole_folder = i % 2 == 0;
                  const int at = whole_folder ? root.get() : folder.get();
                  const char* const name = whole_folder ? "d" : "f";
                  const char* const aside = whole_folder ? "aside" : "faside";
                  if (in_one_step) {
                      fs::rename_exchange(at, name, aside);
                      ::usleep(50);
                      fs::rename_exchange(at, name, aside);
                  } else if (::renameat(at, name, at, aside) == 0) {
                      const std::string target = whole_folder ? outside : outside + "/f";
                      static_cast<void>(::symlinkat(target.c_str(), at, name));
                      ::usleep(50);
                      // An entry that a call made there meanwhile gives way.
                      ::unlinkat(at, name, 0);
                      if (whole_folder) {
                          std::error_code ignored;
                          std::filesystem::remove_all(directory / "d", ignored);
                      }
                      ::renameat(at, aside, at, name);
                  }
                  ::usleep(50);
              }
          }) {}
    Swapper(const Swapper&) = delete;
    Swapper& operator=(const Swapper&) = delete;
    ~Swapper() {
        stop_ = true;
        thread_.join();
    }

private:
    std::atomic<bool> stop_ = false;
    std::thread thread_;
};

class SwapRace : public testing::TestWithParam<std::tuple<bool, SaveWhen>> {};

TEST_P(SwapRace, ADocumentDoesNotGrowByIt) {
    const auto [in_one_step, when] = GetParam();
    const TestDirectory directory("/dev/shm"), outside("/dev/shm");
    outside.put("f", "secret\n");
    directory.put("d/f", "first\n");
    if (in_one_step) {
        directory.link("aside", outside.path());
        directory.link("d/faside", outside / "f");
    }
    const auto files = std::move(*fs::DiskFiles::open(directory.path(), {1, {}}));
    FileOffice office(files.get());
    office.calls->set_save(when);
    SeededRng rng(9);
    std::set<std::string> reasons;
    std::size_t added = 1;
    std::size_t done = 0;
    const auto start = std::chrono::steady_clock::now();
    {
        const Swapper swapper(directory, outside.path(), in_one_step);
        for (int i = 0; i < 4000; ++i) {
            std::string reason;
            switch (rng.next() % 6) {
                case 0:
                    reason = FileOffice::reason(office.read("d/f"));
                    break;
                case 1:
                    reason = office.append("d/f", cat("line ", i, "\n"));
                    if (reason == "ok") ++added;
                    break;
                case 2:
                case 3:
                    reason = office.edit("d/f", "first", cat("line ", i, "\nfirst"));
                    if (reason == "ok") ++added;
                    break;
                case 4:
                    reason = FileOffice::reason(office.save("d/f"));
                    break;
                default:
                    reason = FileOffice::reason(office.create("d/f", "first\n"));
                    if (reason == "ok") ++added;
            }
            reasons.insert(reason);
            if (reason == "ok") ++done;
        }
    }
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - start);

    std::multiset<std::string> lines;
    const std::string text = all_lines_of(office.text("d/f"), lines);
    EXPECT_LE(lines.size(), added) << text.substr(0, 2000);
    for (auto line = lines.begin(); line != lines.end(); line = lines.upper_bound(*line))
        EXPECT_EQ(lines.count(*line), 1U) << *line;
    EXPECT_EQ(lines.count("secret"), 0U);
    EXPECT_EQ(outside.get("f"), "secret\n");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(outside.path()), {}), 1);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory.path())) {
        const bool is_recovered = entry.path().parent_path().filename() == "recovered";
        EXPECT_TRUE(is_recovered || entry.path().extension() != ".tmp") << entry.path();
    }
    std::printf("%zu of 4000 calls done in %lld ms, %zu lines of %zu; reasons: %s\n", done,
                static_cast<long long>(took.count()), lines.size(), added,
                joined(reasons).c_str());
    EXPECT_LT(took.count(), 60'000);
}

INSTANTIATE_TEST_SUITE_P(Swaps, SwapRace,
                         testing::Combine(testing::Bool(),
                                          testing::Values(SaveWhen::on_demand,
                                                          SaveWhen::on_commit)));

}  // namespace
}  // namespace quire::kernel
