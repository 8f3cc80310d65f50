#include "kernel/files/search_index.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <utility>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/concat.h"
#include "base/test_directory.h"

namespace quire::kernel {
namespace {

TextProof proof(std::int64_t number) {
    return {number, 2, 3, 4, 5};
}

std::vector<std::uint64_t> words(const std::optional<SearchIndex::Entry>& entry) {
    if (!entry) return {404};
    return {entry->signature.begin(), entry->signature.end()};
}

std::string bytes_of(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}
void write(const std::string& file, std::string_view bytes) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

TEST(SearchIndex, AnEntryCountsAsLongAsItsProofDoes) {
    SearchIndex index;
    index.put("./a", proof(1), true, {7, 8});

    EXPECT_EQ(words(index.find("./a", proof(1))), (std::vector<std::uint64_t>{7, 8}));
    EXPECT_FALSE(index.find("./a", proof(2)));
    EXPECT_FALSE(index.find("./b", proof(1)));
    index.put("./a", proof(2), false, {});
    EXPECT_FALSE(index.find("./a", proof(1)));
    EXPECT_FALSE(index.find("./a", proof(2))->is_text);
    index.keep([](const std::string&) { return false; });
    EXPECT_EQ(index.size(), 0U);
    EXPECT_EQ(index.changes(), 3U);
}

TEST(SearchIndex, AFileKeepsItForTheNextProcess) {
    const TestDirectory directory;
    const std::string file = directory / "search-index";
    {
        SearchIndex index;
        index.put("./a", proof(1), true, {7, 8});
        index.put(std::string("./odd\n\xFF"), proof(2), false, {});
        index.put("12/text", proof(3), true, std::vector<std::uint64_t>(100'000, 9));
        ASSERT_TRUE(index.save(file));
        EXPECT_EQ(index.changes(), 0U);
        EXPECT_EQ(words(index.find("./a", proof(1))), (std::vector<std::uint64_t>{7, 8}));
        index.put("./a", proof(4), true, {6});
        ASSERT_TRUE(index.save(file)) << "once more, over the file that it reads from";
    }
    struct stat status = {};
    ASSERT_EQ(::stat(file.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600U);
    SearchIndex index;
    index.load(file);
    EXPECT_EQ(index.size(), 3U);
    EXPECT_EQ(words(index.find("./a", proof(4))), std::vector<std::uint64_t>{6});
    EXPECT_FALSE(index.find("./odd\n\xFF", proof(2))->is_text);
    EXPECT_EQ(words(index.find("12/text", proof(3))).size(), 100'000U);
    EXPECT_FALSE(std::filesystem::exists(file + ".new"));
}

// Puts, forgotten names, saves and loads in any order, beside a plain map.
TEST(SearchIndex, RandomUseFollowsAMap) {
    const TestDirectory directory;
    const std::string file = directory / "index";
    std::map<std::string, std::pair<TextProof, std::vector<std::uint64_t>>> now, saved;
    SearchIndex index;
    std::mt19937 random(7);
    const auto below = [&](std::size_t end) { return random() % end; };
    for (int step = 0; step < 4000; ++step) {
        const std::string name = cat("./", below(60));
        const std::size_t kind = below(40);
        if (kind == 0) {
            ASSERT_TRUE(index.save(file));
            saved = now;
        } else if (kind == 1) {
            index.load(file);
            now = saved;
        } else if (kind < 4) {
            index.keep([&](const std::string& each) { return each < name; });
            std::erase_if(now, [&](const auto& each) { return each.first >= name; });
        } else {
            const std::vector<std::uint64_t> signature(below(3) * 8,
                                                       static_cast<std::uint64_t>(step));
            index.put(name, proof(step), true, signature);
            now[name] = {proof(step), signature};
        }
        ASSERT_EQ(index.size(), now.size());
        std::size_t bytes = 0;
        for (const auto& [each, held] : now) {
            ASSERT_EQ(words(index.find(each, held.first)), held.second)
                << each << ", step " << step;
            bytes += held.second.size() * 8;
        }
        ASSERT_EQ(index.signature_bytes(), bytes);
        ASSERT_EQ(index.find(name).has_value(), now.contains(name));
    }
}

TEST(SearchIndex, ADamagedFileCountsAsNone) {
    const TestDirectory directory;
    const std::string file = directory / "search-index";
    SearchIndex made;
    for (int i = 0; i < 20; ++i)
        made.put(cat("./file", i), proof(i), true, std::vector<std::uint64_t>(8, 9));
    ASSERT_TRUE(made.save(file));
    const std::string whole = bytes_of(file);
    SeededRng rng(5);
    SearchIndex index;
    for (int round = 0; round < 300; ++round) {
        std::string damaged = whole;
        const std::size_t at = rng.next() % whole.size();
        if (round % 3 == 0) {
            damaged.resize(at);
        } else {
            damaged[at] = static_cast<char>(damaged[at] ^ (1 << rng.next() % 8));
        }
        write(file, damaged);
        index.load(file);
        ASSERT_EQ(index.size(), 0U) << round << " at " << at;
    }
    write(file, whole);
    index.load(file);
    EXPECT_EQ(index.size(), 20U);
    index.load(directory / "none");
    EXPECT_EQ(index.size(), 0U);
}

TEST(SearchIndex, AFileThatCannotBeWrittenLeavesTheIndexAsItIs) {
    SearchIndex index;
    index.put("./a", proof(1), true, {7, 8});

    const auto saved = index.save("/proc/none/search-index");

    ASSERT_FALSE(saved);
    EXPECT_EQ(saved.error().reason(), "file_not_writable");
    EXPECT_TRUE(index.find("./a", proof(1)));
}

TEST(SearchIndex, WhatHasNoRoomIsNotKept) {
    SearchIndex index(10 * 8);
    index.put("./a", proof(1), true, {1, 2, 3, 4, 5, 6});
    index.put("./b", proof(1), true, {1, 2, 3, 4, 5});
    EXPECT_FALSE(index.find("./b"));
    EXPECT_TRUE(index.is_full());
    index.put("./a", proof(2), true, {1, 2, 3, 4});
    index.put("./b", proof(1), true, {1, 2, 3, 4, 5, 6});
    EXPECT_TRUE(index.find("./b"));
    index.put("./b", proof(2), true, {1, 2, 3, 4, 5, 6, 7});
    EXPECT_FALSE(index.find("./b")) << "nothing that is out of date stays either";
    EXPECT_EQ(index.signature_bytes(), 4U * 8);
    index.keep([](const std::string&) { return false; });
    EXPECT_EQ(index.signature_bytes(), 0U);
}

TEST(SearchIndex, OnlyASettledStampIsAProof) {
    fs::Stamp stamp{1, 2, 3, 4, 5, true};
    EXPECT_EQ(proof_of(stamp), (TextProof{1, 2, 3, 4, 5}));
    stamp.settled = false;
    EXPECT_EQ(proof_of(stamp), std::nullopt);
}

}  // namespace
}  // namespace quire::kernel
