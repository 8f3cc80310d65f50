#include "codec/small.h"

#include <gtest/gtest.h>

namespace quire::codec {
namespace {

using crdt::Frontiers;
using crdt::VersionVector;

// These bytes are Loro's own for the same versions.
TEST(Small, VersionsAndFrontiersAreSpelledAsLoroSpellsThem) {
    VersionVector version;
    version.set(1, 3);

    EXPECT_EQ(encode_version(version), (Bytes{0x01, 0x01, 0x06}));
    EXPECT_EQ(encode_frontiers({{1, 2}}), (Bytes{0x01, 0x01, 0x04}));
}

TEST(Small, VersionsAndFrontiersReadBack) {
    VersionVector version;
    version.set(~crdt::PeerId{0} - 1, INT32_MAX);
    version.set(5, 1);
    const Frontiers frontiers = {{0, INT32_MAX - 1}, {~crdt::PeerId{0} - 1, 0}};

    EXPECT_EQ(decode_version(encode_version(version)), version);
    EXPECT_EQ(decode_frontiers(encode_frontiers(frontiers)), frontiers);
    EXPECT_EQ(decode_frontiers(encode_frontiers({frontiers[1], frontiers[0]})), frontiers);
}

TEST(Small, InconsistentBytesAreCorrupt) {
    for (const Bytes& bytes :
         {Bytes{}, Bytes{1}, Bytes{1, 1}, Bytes{1, 1, 0x01}, Bytes{0, 0}, Bytes{0xFF, 0x7F}}) {
        EXPECT_FALSE(decode_version(bytes).has_value());
        EXPECT_FALSE(decode_frontiers(bytes).has_value());
    }
    EXPECT_FALSE(decode_version(Bytes{2, 1, 2, 1, 4}).has_value());
}

}  // namespace
}  // namespace quire::codec
