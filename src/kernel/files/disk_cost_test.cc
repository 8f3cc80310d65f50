// The cost of taking in one changed line of a long file: time, and bytes in the store.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include <gtest/gtest.h>

#include "kernel/files/file_office_for_test.h"

namespace quire::kernel {
namespace {

constexpr std::size_t kLongFile = 10'000'000;
constexpr std::size_t kMostStored = 1024;  // Bytes in the log for each changed line.
constexpr double kMostMs = 20;             // In a release build; the figure is printed in any.

std::string long_text() {
    std::string out;
    for (std::size_t i = 0; out.size() < kLongFile; ++i)
        cat_to(out, cat("line ", i, " of a long file that many programs write\n"));
    return out;
}

std::size_t stored_bytes(FileOffice& office) {
    std::size_t bytes = 0;
    const auto records = office.store.documents().value();
    for (const store::DocumentRecord& record : records) {
        bytes += record.header.size();
        const store::StoredDocument stored = office.store.load(record.key).value();
        for (const Bytes& update : stored.updates) bytes += update.size();
    }
    return bytes;
}

TEST(DiskCost, OneChangedLineOfALongFileIsCheap) {
    FileOffice office(nullptr, 2 * kLongFile);
    std::string text = long_text();
    office.files.put("long.txt", text);
    ASSERT_TRUE(office.read("long.txt"));
    std::vector<double> times;
    for (int round = 0; round < 9; ++round) {
        const std::size_t at = text.find('\n', text.size() / 10 * static_cast<std::size_t>(round));
        text.insert(at, cat(" changed ", round));
        office.files.put("long.txt", text);
        const std::size_t before = stored_bytes(office);
        const auto begun = std::chrono::steady_clock::now();
        const auto result = office.reconcile({"long.txt"});
        const std::chrono::duration<double, std::milli> took =
            std::chrono::steady_clock::now() - begun;
        ASSERT_TRUE(result);
        EXPECT_EQ(result->at(0).result, ReconcileResult::resolved);
        EXPECT_LT(stored_bytes(office) - before, kMostStored) << "round " << round;
        times.push_back(took.count());
    }
    EXPECT_EQ(office.text("long.txt").substr(0, 200), text.substr(0, 200));
    std::sort(times.begin(), times.end());
    std::printf("one line of 10 MB is taken in within %.1f ms (median of %zu; promised: %.0f)\n",
                times[times.size() / 2], times.size(), kMostMs);
}

}  // namespace
}  // namespace quire::kernel
