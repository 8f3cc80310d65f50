#include "store/audit_chain.h"

#include <algorithm>
#include <utility>

#include <gtest/gtest.h>

#include "base/hex.h"

namespace quire::store {
namespace {

const AuditHash kStart = audit_origin("a workspace");

std::vector<AuditEntry> log_of(int entries) {
    std::vector<AuditEntry> log;
    for (int i = 1; i <= entries; ++i)
        append_audit(log, {"{\"at\":" + std::to_string(i) + "}"}, kStart);
    return log;
}

// The number of the first entry that is wrong; 0 where the log is whole.
std::uint64_t first_wrong(const std::vector<AuditEntry>& log) {
    AuditWalk walk(kStart);
    for (const AuditEntry& entry : log) {
        if (walk.take(entry)) return walk.count() + 1;
    }
    return 0;
}

// docs/formats/audit.md says how to come to the same digits with other means.
TEST(AuditChain, IsWhatItsFormatSays) {
    EXPECT_EQ(to_hex(audit_origin({"\0\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17", 16})),
              "c9c5378e3a52b7b0c396eec24893f8b689a10d1f4b27d3d48758d9018de85e24");
    const AuditHash first =
        audit_hash(audit_origin({"\0\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17", 16}), 1, "{\"at\":1}");
    EXPECT_EQ(to_hex(first), "d1b9cdf9151ed671bd8d930b05eda982e0a9d69b3dc954e2b5c7da1812f9f7b3");
    EXPECT_EQ(to_hex(audit_hash(first, 0x0102'0304'0506'0708, "")),
              "8d8377b97ed2356fd776af9826f9a5cc2d4b8bbf5e3bb8a0c79ca172a6a31067");
}

TEST(AuditChain, ALogThatNobodyTouchedIsWhole) {
    const std::vector<AuditEntry> log = log_of(40);
    EXPECT_EQ(first_wrong(log), 0U);
    AuditWalk walk(kStart);
    for (const AuditEntry& entry : log) EXPECT_FALSE(walk.take(entry));
    EXPECT_EQ(walk.count(), 40U);
    EXPECT_EQ(walk.head(), log.back().hash);
}

TEST(AuditChain, EveryFlippedBitIsFoundWhereItIs) {
    const std::vector<AuditEntry> log = log_of(6);
    for (std::size_t at = 0; at < log.size(); ++at) {
        for (std::size_t bit = 0; bit < log[at].body.size() * 8; ++bit) {
            std::vector<AuditEntry> other = log;
            other[at].body[bit / 8] ^= static_cast<char>(1U << (bit % 8));
            EXPECT_EQ(first_wrong(other), at + 1);
        }
        for (std::size_t bit = 0; bit < 256; ++bit) {
            std::vector<AuditEntry> other = log;
            other[at].hash[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
            EXPECT_EQ(first_wrong(other), at + 1);
        }
    }
}

TEST(AuditChain, AnEntryThatWasRemovedIsMissedAlsoWhereTheRestIsNumberedAnew) {
    for (std::size_t at = 0; at < 5; ++at) {
        std::vector<AuditEntry> log = log_of(6);
        log.erase(log.begin() + static_cast<std::ptrdiff_t>(at));
        EXPECT_EQ(first_wrong(log), at + 1);
        for (std::size_t i = at; i < log.size(); ++i) --log[i].seq;
        EXPECT_EQ(first_wrong(log), at + 1);
    }
}

TEST(AuditChain, EntriesThatChangedPlacesAreFoundAlsoWhereTheirNumbersDidNot) {
    std::vector<AuditEntry> log = log_of(6);
    std::swap(log[2], log[3]);
    EXPECT_EQ(first_wrong(log), 3U);
    std::swap(log[2].seq, log[3].seq);
    EXPECT_EQ(first_wrong(log), 3U);
}

TEST(AuditChain, AnEntryThatWasPutInIsFoundAlsoWhereItsOwnHashFits) {
    std::vector<AuditEntry> log = log_of(6);
    AuditEntry forged{4, R"({"at":9})", {}};
    forged.hash = audit_hash(log[2].hash, 4, forged.body);
    log.insert(log.begin() + 3, forged);
    EXPECT_EQ(first_wrong(log), 5U);
    for (std::size_t i = 4; i < log.size(); ++i) ++log[i].seq;
    EXPECT_EQ(first_wrong(log), 5U);
}

TEST(AuditChain, TheLogOfAnotherWorkspaceIsWrongFromItsFirstEntry) {
    std::vector<AuditEntry> log;
    append_audit(log, {"{}"}, audit_origin("another"));
    EXPECT_EQ(first_wrong(log), 1U);
}

}  // namespace
}  // namespace quire::store
