// Blobs that lie. None may crash the reader, and none may make it take more memory than it
// promises.
#include <functional>

#include <gtest/gtest.h>

#include "base/varint.h"
#include "base/words_for_test.h"
#include "codec/budget.h"
#include "codec/column_writers.h"
#include "codec/columnar.h"
#include "codec/golden_for_test.h"
#include "codec/updates.h"
#include "codec/values.h"
#include "tests/peak_memory/peak_memory.h"

namespace quire::codec {
namespace {

using Writer = std::function<void(ByteWriter&)>;

// A block of one change whose sections a test replaces.
struct Forgery {
    std::uint64_t counter = 0;
    std::uint64_t atoms = 1;
    std::uint64_t lamport = 0;
    std::uint64_t lamports = 1;
    std::uint64_t changes = 1;
    Writer header = [](ByteWriter& out) {
        write_uleb(out, 1);
        out.u64_le(7);
        out.byte(1);                    // One change, not naming its predecessor;
        out.append(from_hex("01 00"));  // no other deps;
        out.append(from_hex("00 00"));  // no counters of deps;
        out.append(from_hex("00 00"));  // no lamports.
    };
    Writer meta = [](ByteWriter& out) { out.append(from_hex("01 00 00 01 00")); };
    Writer containers = [](ByteWriter& out) {
        out.append(from_hex("01 04 01 00 00 00"));
    };  // Map named by key 0.
    Writer keys = [](ByteWriter& out) { write_sized(out, "m"); };
    Writer positions = [](ByteWriter&) {};
    Writer container_column = [](ByteWriter& out) { run(out, 1, 0); };
    Writer prop_column = [](ByteWriter& out) { run(out, 1, 0); };
    Writer kind_column = [](ByteWriter& out) { run(out, 1, 8); };  // Erase key 0.
    Writer length_column = [](ByteWriter& out) { run(out, 1, 1); };
    Writer deletes = [](ByteWriter&) {};
    Writer values = [](ByteWriter&) {};

    // `value` is as its cell spells it: zigzag for deltas.
    static void run(ByteWriter& out, std::int64_t length, std::uint64_t value) {
        write_zigzag(out, length);
        write_uleb(out, value);
    }

    Bytes blob() const {
        ByteWriter block;
        for (const std::uint64_t number : {counter, atoms, lamport, lamports, changes})
            write_uleb(block, number);
        const Writer ops = [this](ByteWriter& out) {
            write_uleb(out, 1);
            write_uleb(out, 4);
            for (const Writer* column :
                 {&container_column, &prop_column, &kind_column, &length_column}) {
                section(out, *column);
            }
        };
        for (const Writer& part :
             {header, meta, containers, keys, positions, ops, deletes, values}) {
            section(block, part);
        }
        ByteWriter out;
        begin_envelope(out);
        write_sized(out, block.bytes());
        seal_envelope(out, Mode::updates);
        return std::move(out).take();
    }

private:
    static void section(ByteWriter& out, const Writer& write) {
        ByteWriter bytes;
        write(bytes);
        write_sized(out, bytes.bytes());
    }
};

// The message of a refusal; "" if the blob is accepted. Checks the promise on memory.
std::string refusal(const Bytes& blob) {
    const tests::PeakMemory memory;
    const auto changes = decode_updates(blob);
    EXPECT_LE(memory.bytes(), Budget::for_content(blob.size()).may_hold());
    if (changes) return "";
    EXPECT_EQ(changes.error().code(), Errc::corrupt);
    return changes.error().message();
}

std::string refusal(const Forgery& forgery) {
    return refusal(forgery.blob());
}

TEST(Hostile, AnHonestForgeryIsAccepted) {
    EXPECT_EQ(refusal(Forgery{}), "");
}

TEST(Hostile, ABillionOpsInThirtyBytes) {
    Forgery forgery;
    forgery.atoms = forgery.lamports = 1'000'000'000;
    forgery.container_column =
        forgery.prop_column = [](ByteWriter& out) { Forgery::run(out, 1'000'000'000, 0); };
    forgery.kind_column = [](ByteWriter& out) { Forgery::run(out, 1'000'000'000, 8); };
    forgery.length_column = [](ByteWriter& out) { Forgery::run(out, 1'000'000'000, 1); };

    EXPECT_TRUE(holds(refusal(forgery), "number of ops (too many for their size)"));
}

TEST(Hostile, AMegabyteOfKeyNamedByEachOfThousandsOfOps) {
    Forgery forgery;
    forgery.atoms = forgery.lamports = 100'000;
    forgery.keys = [](ByteWriter& out) {
        write_sized(out, "m");
        write_sized(out, std::string(1 << 20, 'k'));
    };
    forgery.container_column = [](ByteWriter& out) { Forgery::run(out, 100'000, 0); };
    forgery.prop_column = [](ByteWriter& out) {
        Forgery::run(out, 1, 2);
        Forgery::run(out, 99'999, 0);
    };
    forgery.kind_column = [](ByteWriter& out) { Forgery::run(out, 100'000, 8); };
    forgery.length_column = [](ByteWriter& out) { Forgery::run(out, 100'000, 1); };

    EXPECT_TRUE(holds(refusal(forgery), "too large for their input"));
}

TEST(Hostile, AMegabyteOfContainerNameInEachOfThousandsOfOps) {
    Forgery forgery;
    forgery.atoms = forgery.lamports = 100'000;
    forgery.keys = [](ByteWriter& out) { write_sized(out, std::string(1 << 20, 'k')); };
    forgery.container_column =
        forgery.prop_column = [](ByteWriter& out) { Forgery::run(out, 100'000, 0); };
    forgery.kind_column = [](ByteWriter& out) { Forgery::run(out, 100'000, 8); };
    forgery.length_column = [](ByteWriter& out) { Forgery::run(out, 100'000, 1); };

    EXPECT_TRUE(holds(refusal(forgery), "too large for their input"));
}

TEST(Hostile, PositionsThatEachShareAMegabyte) {
    Forgery forgery;
    forgery.positions = [](ByteWriter& out) {
        constexpr std::uint64_t kCount = 50'000;
        ByteWriter shared;
        Forgery::run(shared, 1, 0);
        Forgery::run(shared, kCount - 1, 1 << 20);
        ByteWriter rest;
        write_uleb(rest, kCount);
        write_sized(rest, std::string(1 << 20, 'p'));
        for (std::uint64_t i = 1; i < kCount; ++i) write_uleb(rest, 0);
        write_uleb(out, 1);
        write_uleb(out, 2);
        write_sized(out, shared.bytes());
        write_sized(out, rest.bytes());
    };

    EXPECT_TRUE(holds(refusal(forgery), "positions (too large for their input)"));
}

TEST(Hostile, ABillionDependencies) {
    Forgery forgery;
    forgery.header = [](ByteWriter& out) {
        write_uleb(out, 1);
        out.u64_le(7);
        out.byte(1);
        Forgery::run(out, 1, 1'000'000'000);
        Forgery::run(out, 1'000'000'000, 0);
        out.append(from_hex("01 00 00"));
    };

    EXPECT_TRUE(holds(refusal(forgery), "number of dependencies"));
}

TEST(Hostile, MoreChangesThanBytes) {
    Forgery forgery;
    forgery.changes = 1 << 30;

    EXPECT_TRUE(holds(refusal(forgery), "number of changes"));
}

TEST(Hostile, MillionsOfEmptyKeys) {
    Forgery forgery;
    forgery.keys = [](ByteWriter& out) {
        write_sized(out, "m");
        for (int i = 0; i < 8'000'000; ++i) out.byte(0);
    };

    EXPECT_EQ(refusal(forgery), "");
}

TEST(Hostile, AListThatSaysItIsLongerThanItsBlob) {
    Forgery forgery;
    forgery.kind_column = [](ByteWriter& out) { Forgery::run(out, 1, 11); };
    forgery.values = [](ByteWriter& out) { out.append(from_hex("07 ff ff ff ff 0f 00")); };

    EXPECT_TRUE(holds(refusal(forgery), "size of a list"));
}

// Everything that walks a value recurses, so depth is a limit of the format here.
TEST(Hostile, AHundredThousandNestedLists) {
    Forgery forgery;
    forgery.kind_column = [](ByteWriter& out) { Forgery::run(out, 1, 11); };
    const auto nested = [](int depth) {
        return [depth](ByteWriter& out) {
            for (int i = 0; i < depth; ++i) out.append(from_hex("07 01"));
            out.byte(0);
        };
    };
    forgery.values = nested(100'000);
    EXPECT_TRUE(holds(refusal(forgery), "nested too deep"));
    forgery.values = nested(kMaxValueDepth);
    EXPECT_EQ(refusal(forgery), "");
}

TEST(Hostile, OpsMustFillTheirChangeExactly) {
    for (const std::uint64_t length : {0, 2}) {
        Forgery forgery;
        forgery.length_column = [length](ByteWriter& out) { Forgery::run(out, 1, length); };
        EXPECT_TRUE(holds(refusal(forgery), "length of an op")) << length;
    }
    Forgery one_more;
    one_more.container_column =
        one_more.prop_column = [](ByteWriter& out) { Forgery::run(out, 2, 0); };
    one_more.kind_column = [](ByteWriter& out) { Forgery::run(out, 2, 8); };
    one_more.length_column = [](ByteWriter& out) { Forgery::run(out, 2, 1); };
    EXPECT_TRUE(holds(refusal(one_more), "number of ops"));
}

TEST(Hostile, TrailingBytesAreRefused) {
    const auto and_more = [](const Writer& write) {
        return [write](ByteWriter& out) {
            write(out);
            out.byte(0);
        };
    };
    for (const auto section : {&Forgery::header, &Forgery::meta, &Forgery::containers,
                               &Forgery::positions, &Forgery::deletes, &Forgery::values}) {
        Forgery forgery;
        forgery.*section = and_more(forgery.*section);
        EXPECT_NE(refusal(forgery), "");
    }
}

TEST(Hostile, NumbersOutsideTheirDomain) {
    Forgery counter;
    counter.counter = std::uint64_t{1} << 31;
    EXPECT_TRUE(holds(refusal(counter), "first counter"));
    Forgery atoms;
    atoms.counter = INT32_MAX - 1;
    atoms.atoms = 2;
    EXPECT_TRUE(holds(refusal(atoms), "number of atoms"));
    Forgery lamport;
    lamport.lamport = UINT32_MAX;
    EXPECT_TRUE(holds(refusal(lamport), "first lamport"));
    Forgery lamports;
    lamports.lamports = 0;
    EXPECT_TRUE(holds(refusal(lamports), "lamport of the last change"));
    Forgery key;
    key.prop_column = [](ByteWriter& out) { Forgery::run(out, 1, 2); };
    EXPECT_TRUE(holds(refusal(key), "key of a map op"));
    Forgery negative_key;
    negative_key.prop_column = [](ByteWriter& out) { Forgery::run(out, 1, 1); };
    EXPECT_TRUE(holds(refusal(negative_key), "key of a map op"));
    Forgery container;
    container.container_column = [](ByteWriter& out) { Forgery::run(out, 1, 2); };
    EXPECT_TRUE(holds(refusal(container), "container of an op"));
    Forgery predecessor;
    predecessor.header = [](ByteWriter& out) {
        write_uleb(out, 1);
        out.u64_le(7);
        out.append(from_hex("00 01 01 00 00 00 00 00"));
    };
    EXPECT_TRUE(holds(refusal(predecessor), "dependency on the change before the first"));
    Forgery reserved_peer;
    reserved_peer.header = [](ByteWriter& out) {
        write_uleb(out, 1);
        out.u64_le(~std::uint64_t{0});
        out.append(from_hex("01 01 00 00 00 00 00"));
    };
    EXPECT_TRUE(holds(refusal(reserved_peer), "peer"));
}

TEST(Hostile, TextThatIsNotUtf8) {
    Forgery key;
    key.keys = [](ByteWriter& out) { write_sized(out, "\xC3"); };
    EXPECT_TRUE(holds(refusal(key), "UTF-8 of a key"));
    Forgery message;
    message.meta = [](ByteWriter& out) { out.append(from_hex("01 00 00 01 01 ff")); };
    EXPECT_TRUE(holds(refusal(message), "UTF-8 of a message"));
    Forgery text;
    text.containers = [](ByteWriter& out) { out.append(from_hex("01 04 01 02 00 00")); };
    text.kind_column = [](ByteWriter& out) { Forgery::run(out, 1, 5); };
    text.values = [](ByteWriter& out) { out.append(from_hex("03 ed a0 80")); };  // A surrogate.
    EXPECT_TRUE(holds(refusal(text), "UTF-8 of inserted text"));
}

TEST(Hostile, ABackspaceRunCannotReachBeforeTheStart) {
    const auto forged = [](std::uint64_t position, std::int64_t length) {
        Forgery forgery;
        forgery.atoms = forgery.lamports = 3;
        forgery.containers = [](ByteWriter& out) { out.append(from_hex("01 04 01 02 00 00")); };
        forgery.prop_column = [position](ByteWriter& out) {
            Forgery::run(out, 1, zigzag(static_cast<std::int64_t>(position)));
        };
        forgery.kind_column = [](ByteWriter& out) { Forgery::run(out, 1, 9); };
        forgery.length_column = [](ByteWriter& out) { Forgery::run(out, 1, 3); };
        forgery.deletes = [length](ByteWriter& out) {
            out.append(from_hex("01 03 02 02 00 02 02 00"));
            out.byte(2);
            Forgery::run(out, 1, zigzag(length));
        };
        return forgery;
    };
    EXPECT_EQ(refusal(forged(2, -3)), "");
    EXPECT_TRUE(holds(refusal(forged(1, -3)), "length of a delete"));
    EXPECT_TRUE(holds(refusal(forged(1, 4)), "length of an op"));
}

class Damaged : public testing::TestWithParam<const char*> {};

TEST_P(Damaged, EveryTruncationIsRefused) {
    const Bytes blob = golden(GetParam());
    for (std::size_t size = 0; size < blob.size(); ++size) {
        const Bytes cut(blob.begin(), blob.begin() + static_cast<std::ptrdiff_t>(size));
        EXPECT_FALSE(decode_updates(cut).has_value()) << size;
        // With a checksum that fits, what ends where a block does is whole.
        const Bytes sealed = resealed(cut);
        const auto changes = decode_updates(sealed);
        if (changes) {
            EXPECT_EQ(encode_updates(*changes), sealed) << size;
        }
    }
}

TEST_P(Damaged, EveryChangedByteIsRefusedOrMeansSomethingThatReadsBack) {
    const Bytes blob = golden(GetParam());
    for (std::size_t at = kEnvelopeSize; at < blob.size(); ++at) {
        for (unsigned pattern = 0; pattern < 12; ++pattern) {
            Bytes changed = blob;
            const auto flip = static_cast<std::uint8_t>(1U << (pattern % 8));
            const std::uint8_t replacements[] = {0x00, 0x7F, 0x80, 0xFF};
            changed[at] = pattern < 8 ? static_cast<std::uint8_t>(blob[at] ^ flip)
                                      : replacements[pattern - 8];
            const Bytes sealed = resealed(changed);
            const auto changes = decode_updates(sealed);
            if (!changes) {
                EXPECT_EQ(changes.error().code(), Errc::corrupt);
                continue;
            }
            const Bytes written = encode_updates(*changes);
            const auto again = decode_updates(written);
            ASSERT_TRUE(again.has_value())
                << at << " " << pattern << ": " << again.error().message();
            EXPECT_EQ(encode_updates(*again), written) << at << " " << pattern;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Loro, Damaged, testing::ValuesIn(kGoldenNames),
                         [](const auto& golden_name) { return std::string(golden_name.param); });

}  // namespace
}  // namespace quire::codec
