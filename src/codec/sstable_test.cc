#include "codec/sstable.h"

#include <map>
#include <random>

#include <gtest/gtest.h>

#include "base/concat.h"

namespace quire::codec {
namespace {

using Entries = std::map<std::string, std::string>;

Bytes written(const Entries& entries, Compression compression) {
    SsTableWriter writer(compression);
    for (const auto& [key, value] : entries) writer.add(as_bytes(key), as_bytes(value));
    return std::move(writer).finish().value();
}

// A table with what it needs to be read.
struct Reading {
    explicit Reading(Bytes table_bytes)
        : bytes(std::move(table_bytes)),
          budget(bytes.size()),
          table(SsTable::open(bytes, 0, cache)) {}
    const SsTable* operator->() const { return &*table; }

    Bytes bytes;
    BlockCache cache;
    Budget budget;
    Result<SsTable> table;
};

Entries read(Reading& reading) {
    Entries entries;
    auto cursor = reading->begin(reading.budget).value();
    while (!cursor.at_end()) {
        entries.emplace(as_text(cursor.key()), as_text(cursor.value().bytes));
        EXPECT_TRUE(cursor.next().has_value());
    }
    return entries;
}

std::string random_text(std::mt19937_64& random, std::size_t size, unsigned letters) {
    std::string text;
    for (std::size_t i = 0; i < size; ++i) text.push_back(static_cast<char>(random() % letters));
    return text;
}

Entries random_entries(std::mt19937_64& random) {
    Entries entries;
    const std::size_t count = random() % 300;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t sizes[] = {0, 3, 40, 400, 5000, 70'000};
        const unsigned letters = random() % 2 == 0 ? 2 : 256;
        const std::size_t size = sizes[random() % (random() % 10 == 0 ? 6 : 4)];
        entries[random_text(random, random() % 8, 3) + random_text(random, random() % 3, 256)] =
            random_text(random, size, letters);
    }
    if (random() % 4 == 0) entries[std::string(65535, 'k')] = "at the longest key";
    return entries;
}

TEST(SsTable, WrittenEntriesAreReadAndFound) {
    std::random_device device;
    const auto seed = device();
    SCOPED_TRACE(cat("seed ", seed));
    std::mt19937_64 random(seed);
    for (int round = 0; round < 60; ++round) {
        const Entries entries = random_entries(random);
        for (const Compression compression : {Compression::none, Compression::lz4}) {
            Reading reading(written(entries, compression));
            ASSERT_TRUE(reading.table.has_value()) << reading.table.error().message();
            ASSERT_EQ(read(reading), entries);
            for (const auto& [key, value] : entries) {
                const auto found = reading->find(as_bytes(key), reading.budget).value();
                ASSERT_TRUE(found.has_value());
                ASSERT_EQ(as_text(found->bytes), value);
                const std::string missing = key.substr(0, 100) + "\x01";
                ASSERT_EQ(reading->find(as_bytes(missing), reading.budget)->has_value(),
                          entries.contains(missing));
                // Floor, against the map.
                auto at = entries.upper_bound(missing);
                if (at != entries.begin()) --at;
                const auto floor = reading->floor(as_bytes(missing), reading.budget).value();
                ASSERT_EQ(as_text(floor.key()), at->first);
            }
        }
    }
}

TEST(SsTable, EntriesGoIntoATableOrReplaceWhatItHas) {
    std::random_device device;
    const auto seed = device();
    SCOPED_TRACE(cat("seed ", seed));
    std::mt19937_64 random(seed);
    for (int round = 0; round < 60; ++round) {
        Entries all = random_entries(random);
        Reading before(written(all, round % 2 == 0 ? Compression::none : Compression::lz4));
        ASSERT_TRUE(before.table.has_value());
        Entries added;
        for (const auto& [key, value] : random_entries(random)) {
            if (random() % 8 == 0) added.emplace(key, value);
        }
        for (const auto& [key, value] : all) {
            if (random() % 20 == 0) added[key] = "replaced";
        }
        SsTableWriter::Entries sorted;
        for (const auto& [key, value] : added) {
            all[key] = value;
            sorted.emplace_back(Bytes(key.begin(), key.end()), Bytes(value.begin(), value.end()));
        }
        SsTableWriter writer(Compression::lz4);
        ASSERT_TRUE(writer.add_all(*before.table, sorted, before.budget));
        Reading after(std::move(writer).finish().value());
        ASSERT_TRUE(after.table.has_value()) << after.table.error().message();
        EXPECT_TRUE(after->verify());
        if (all.empty()) continue;
        EXPECT_EQ(read(after), all);
    }
}

TEST(SsTable, NoBytesAreAnEmptyTable) {
    EXPECT_TRUE(written({}, Compression::lz4).empty());
    Reading reading{Bytes()};
    EXPECT_TRUE(reading->empty());
    EXPECT_FALSE(reading->find(as_bytes("k"), reading.budget)->has_value());
    EXPECT_TRUE(reading->begin(reading.budget)->at_end());
    EXPECT_TRUE(reading->floor(as_bytes("k"), reading.budget)->at_end());
}

TEST(SsTable, AnUncompressedValueIsNotCopied) {
    Reading reading(
        written({{"k", "value"}, {"large", std::string(10'000, 'v')}}, Compression::none));
    for (const char* key : {"k", "large"}) {
        const Stored stored = reading->find(as_bytes(key), reading.budget)->value();
        EXPECT_EQ(stored.owner, nullptr);
        EXPECT_GE(stored.bytes.data(), reading.bytes.data());
        EXPECT_LE(stored.bytes.data() + stored.bytes.size(),
                  reading.bytes.data() + reading.bytes.size());
    }
}

TEST(SsTable, AValueOutlivesTheBlockThatItCameFrom) {
    Reading reading(written({{"a", std::string(10'000, 'a')}, {"b", std::string(10'000, 'b')}},
                            Compression::lz4));
    const Stored a = reading->find(as_bytes("a"), reading.budget)->value();
    ASSERT_TRUE(reading->find(as_bytes("b"), reading.budget)->has_value());
    EXPECT_EQ(as_text(a.bytes), std::string(10'000, 'a'));
}

// Laziness is a promise: a damaged block hurts those who ask for what is in it.
TEST(SsTable, ADamagedBlockIsFoundWhenItIsRead) {
    Bytes bytes =
        written({{"a", std::string(5000, 'a')}, {"b", std::string(5000, 'b')}}, Compression::none);
    bytes[100] ^= 1;
    Reading reading(std::move(bytes));
    ASSERT_TRUE(reading.table.has_value());

    EXPECT_EQ(as_text(reading->find(as_bytes("b"), reading.budget)->value().bytes),
              std::string(5000, 'b'));
    const auto a = reading->find(as_bytes("a"), reading.budget);
    ASSERT_FALSE(a.has_value());
    EXPECT_EQ(a.error().code(), Errc::corrupt);
    EXPECT_NE(a.error().message().find("does not match its checksum"), std::string::npos);
}

// A reader grants less to content that became very small (budget.h).
TEST(SsTable, WhatLz4WouldPackTooTightlyIsStoredAsItIsOnceTheRoomIsUsedUp) {
    const std::string zeros(100'000, '0');
    std::mt19937_64 random(1);
    const std::string letters = random_text(random, 100'000, 4);
    const auto size = [&](const std::string& value, std::size_t& room) {
        SsTableWriter writer(Compression::lz4, &room);
        writer.add(as_bytes("key"), as_bytes(value));
        Reading reading(std::move(writer).finish().value());
        EXPECT_EQ(reading->content_size(1'000'000), value.size());
        EXPECT_EQ(reading->content_size(10), 10U);
        EXPECT_EQ(as_text(reading->find(as_bytes("key"), reading.budget)->value().bytes), value);
        return reading.bytes.size();
    };
    std::size_t room = 150'000;
    EXPECT_LT(size(zeros, room), 1000U);
    EXPECT_LT(room, 51'000U);
    EXPECT_GT(size(zeros, room), 100'000U);
    EXPECT_LT(size(letters, room), 60'000U);
    EXPECT_GT(room, 49'000U);
}

TEST(SsTable, EveryTruncationIsRefused) {
    const Bytes bytes =
        written({{"a", "1"}, {"ab", "2"}, {"b", std::string(5000, 'b')}}, Compression::none);
    for (std::size_t size = 1; size < bytes.size(); ++size) {
        Reading reading(Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)));
        EXPECT_FALSE(reading.table.has_value()) << size;
    }
}

}  // namespace
}  // namespace quire::codec
