#include "codec/snapshot.h"

#include <gtest/gtest.h>

#include "codec/change_block.h"
#include "codec/deep_value_for_test.h"
#include "codec/envelope.h"
#include "codec/snapshot_for_test.h"
#include "codec/snapshot_writer.h"
#include "codec/updates.h"
#include "crdt/ids/container_text.h"
#include "json/json.h"

namespace quire::codec {
namespace {

using crdt::ContainerId;
using crdt::ContainerKind;

// A blob with the snapshot that reads it.
struct Opened {
    explicit Opened(Bytes bytes) : blob(std::move(bytes)), snapshot(Snapshot::open(blob)) {
        EXPECT_TRUE(snapshot.has_value()) << snapshot.error().message();
    }
    explicit Opened(const std::string& name) : Opened(snapshot_golden(name)) {}
    const Snapshot* operator->() const { return &*snapshot; }
    std::vector<ContainerId> containers() const {
        Budget budget = snapshot->budget();
        return snapshot->containers(budget).value();
    }
    std::vector<ContainerId> start_containers() const {
        Budget budget = snapshot->budget();
        return snapshot->start_containers(budget).value();
    }

    Bytes blob;
    Result<Snapshot> snapshot;
};

Value expected(const std::string& name) {
    const std::string file =
        snapshot_file(name.starts_with("1_10_8_") ? "1_10_8_expected.json" : "expected.json");
    const auto all = json::parse(file);
    EXPECT_TRUE(all.has_value());
    const Value* one = all->get(name);
    return one == nullptr ? Value() : *one;
}

// Root containers that show nothing may be printed or not.
Value without_empty_roots(const Value& value) {
    Map roots;
    for (const Map::Entry& entry : value.as_map()) {
        const Value& root = entry.value;
        const bool empty = (root.is_list() && root.as_list().empty()) ||
                           (root.is_map() && root.as_map().empty()) ||
                           (root.is_string() && root.as_string().empty()) ||
                           (root.is_number() && root.as_number() == 0);
        if (!empty) roots.set(entry.key, root);
    }
    return roots;
}

class SnapshotGolden : public testing::TestWithParam<const char*> {
protected:
    std::string name() const { return GetParam(); }
};

TEST_P(SnapshotGolden, VersionsAreThoseThatLoroPrinted) {
    const Opened opened(name());
    const Value what = expected(name());
    ASSERT_TRUE(what.is_map());

    crdt::VersionVector end;
    for (const Map::Entry& entry : what.get("version")->as_map()) {
        end.set(std::stoull(entry.key), static_cast<crdt::Counter>(entry.value.as_int()));
    }
    EXPECT_EQ(opened->end(), end);
    crdt::Frontiers heads;
    for (const Value& head : what.get("heads")->as_list()) {
        heads.push_back({std::stoull(head.get("peer")->as_string()),
                         static_cast<crdt::Counter>(head.get("counter")->as_int())});
    }
    std::sort(heads.begin(), heads.end());
    EXPECT_EQ(opened->heads(), heads);
}

TEST_P(SnapshotGolden, StatesShowWhatLoroPrinted) {
    const Opened opened(name());
    // The one has to be replayed; of the other, only Loro knows which children are shown.
    if (name() == "trimmed" || name() == "mergeable") return;
    ASSERT_EQ(opened->state_version(), opened->heads());

    const Value shown = without_empty_roots(DeepValue(*opened.snapshot).roots());
    const Value wanted = without_empty_roots(*expected(name()).get("value"));

    EXPECT_TRUE(shows_same(shown, wanted)) << json::write(shown) << "\n" << json::write(wanted);
}

TEST_P(SnapshotGolden, StylesAreThoseThatLoroPrinted) {
    const Opened opened(name());
    const Value what = expected(name());
    const Value* wanted = what.get("delta");
    if (wanted == nullptr || name() == "trimmed") return;

    const Value shown =
        DeepValue(*opened.snapshot).delta(ContainerId::root("text", ContainerKind::text));

    EXPECT_TRUE(shows_same(shown, *wanted)) << json::write(shown) << "\n" << json::write(*wanted);
}

TEST_P(SnapshotGolden, StatesAreWrittenAsLoroWroteThem) {
    const Opened opened(name());
    Budget budget = opened->budget();
    for (const ContainerId& id : opened.containers()) {
        const Stored stored = opened->stored_state(id, budget)->value();
        const auto state = opened->state(id, budget);
        ASSERT_TRUE(state.has_value()) << state.error().message();
        ByteWriter out;
        write_container_state(out, **state);
        if (id.kind == ContainerKind::map) {
            // Loro writes the entries of a map in the order of a hash table.
            EXPECT_EQ(out.size(), stored.bytes.size()) << to_text(id);
            EXPECT_EQ(read_container_state(id, out.bytes(), budget).value(), **state)
                << to_text(id);
        } else {
            EXPECT_TRUE(std::equal(stored.bytes.begin(), stored.bytes.end(), out.bytes().begin(),
                                   out.bytes().end()))
                << to_text(id);
        }
    }
}

TEST_P(SnapshotGolden, BlocksReadBackAsTheyWereWritten) {
    const Opened opened(name());
    Budget budget = opened->budget();
    const auto visit = [&](crdt::OpId first, std::span<const std::uint8_t> block) -> Result<void> {
        crdt::ChangeBatch batch;
        TRY(read_block(ByteReader(block), budget, batch));
        EXPECT_EQ(batch.id_of(batch.heads.front()), first);
        ByteWriter out;
        BlockWriter().write(out, batch, batch.heads);
        // Loro may write any of several dependencies first, so only the sizes must agree.
        EXPECT_EQ(out.size(), block.size());
        crdt::ChangeBatch again;
        TRY(read_block(ByteReader(out.bytes()), budget, again));
        EXPECT_EQ(again.changes(), batch.changes());
        return {};
    };
    EXPECT_TRUE(opened->each_block(budget, visit).has_value());
}

TEST_P(SnapshotGolden, EverythingInItIsWell) {
    const Opened opened(name());
    const auto verified = opened->verify();
    EXPECT_TRUE(verified.has_value()) << verified.error().message();
}

// Decodes all, encodes all, and reads that: both ways of compression.
TEST_P(SnapshotGolden, AWrittenSnapshotReadsBackTheSame) {
    const Opened opened(name());
    const auto changes = opened->changes();
    ASSERT_TRUE(changes.has_value()) << changes.error().message();
    for (const Compression compression : {Compression::none, Compression::lz4}) {
        Budget budget = opened->budget();
        SnapshotWriter writer(compression);
        writer.add_changes(*changes);
        const bool replay = opened->start() && opened->state_version() != opened->heads();
        if (replay) writer.leave_out_state();
        for (const ContainerId& id : opened.containers()) {
            if (replay) break;
            ASSERT_TRUE(writer.add_state(opened->state(id, budget)->value()).has_value());
        }
        for (const ContainerId& id : opened.start_containers()) {
            const Stored stored = opened->stored_start_state(id, budget)->value();
            ASSERT_TRUE(writer.add_stored_start_state(id, stored.bytes).has_value());
        }
        const Opened again(
            std::move(writer).finish(opened->end(), opened->heads(), opened->start()).value());

        EXPECT_EQ(again->end(), opened->end());
        EXPECT_EQ(again->heads(), opened->heads());
        EXPECT_EQ(again->start(), opened->start());
        EXPECT_EQ(again->state_version(), opened->state_version());
        EXPECT_EQ(again->changes().value(), *changes);
        EXPECT_EQ(again.containers(), opened.containers());
        for (const ContainerId& id : opened.containers()) {
            EXPECT_EQ(again->state(id, budget).value(), opened->state(id, budget).value())
                << to_text(id);
        }
    }
}

TEST_P(SnapshotGolden, ChangesOfASpanAreThoseOfTheWholeHistory) {
    const Opened opened(name());
    const std::vector<crdt::Change> all = opened->changes().value();
    for (const auto& [peer, end] : opened->end().ends()) {
        for (const auto& [from, to] :
             {std::pair(0, end), std::pair(end / 2, end / 2 + 1), std::pair(end - 1, end + 5)}) {
            std::vector<crdt::Change> wanted;
            for (const crdt::Change& change : all) {
                if (change.id.peer == peer && change.id.counter < to &&
                    change.id.counter + crdt::atom_count(change) > from) {
                    wanted.push_back(change);
                }
            }
            Budget budget = opened->budget();
            EXPECT_EQ(opened->changes_in({peer, from, to}, budget).value(), wanted)
                << peer << " " << from;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Loro, SnapshotGolden, testing::ValuesIn(kSnapshotNames),
                         [](const auto& golden_name) { return cat("of_", golden_name.param); });

TEST(Snapshot, ATrimmedHistoryHasAStart) {
    const Opened opened("trimmed");
    const Opened with_state("trimmed_with_state");

    ASSERT_TRUE(opened->start().has_value());
    EXPECT_EQ(opened->start()->heads, (crdt::Frontiers{{7, 7}}));
    EXPECT_EQ(opened->state_version(), opened->start()->heads);
    EXPECT_EQ(with_state->state_version(), with_state->heads());
    // The start's own atom is in the history again.
    EXPECT_EQ(opened->changes()->front().id, (crdt::OpId{7, 7}));
}

// Loro shows such a blob as a document without contents, with all of its history.
TEST(Snapshot, AHistoryWithoutItsStateHasToBeReplayed) {
    const Opened opened("text");
    SnapshotWriter writer;
    writer.add_changes(opened->changes().value());
    const Opened bare(std::move(writer).finish(opened->end(), opened->heads()).value());

    EXPECT_EQ(bare->state_version(), std::nullopt);
    EXPECT_EQ(Opened("empty")->state_version(), crdt::Frontiers{});
}

TEST(Snapshot, WithoutItsVersionItIsRefused) {
    const Opened opened("text");
    for (const bool drop_history : {true, false}) {
        ByteWriter out;
        begin_envelope(out);
        ByteReader in(std::span(opened.blob).subspan(kEnvelopeSize));
        for (int section = 0; section < 3; ++section) {
            const auto bytes = in.take(in.u32_le("size"), "section");
            if (section == 0 && drop_history) {
                out.u32_le(0);
                continue;
            }
            out.u32_le(static_cast<std::uint32_t>(bytes.size()));
            out.append(bytes);
        }
        if (!drop_history) out.byte(0);  // One byte too many.
        seal_envelope(out, Mode::snapshot);
        const auto again = Snapshot::open(out.bytes());
        ASSERT_FALSE(again.has_value());
        EXPECT_EQ(again.error().code(), Errc::corrupt);
    }
}

TEST(Snapshot, AHistoryWithAGapIsRefused) {
    const Opened opened("many_changes");
    const std::vector<crdt::Change> changes = opened->changes().value();
    const auto with = [&](const crdt::ChangeBatch& some) {
        SnapshotWriter writer;
        writer.add_changes(some);
        return Opened(std::move(writer).finish(opened->end(), opened->heads()).value());
    };
    EXPECT_TRUE(with(changes)->changes().has_value());
    EXPECT_FALSE(with(std::vector(changes.begin() + 1, changes.end()))->changes().has_value());
    EXPECT_FALSE(with(std::vector(changes.begin(), changes.end() - 1))->changes().has_value());
    EXPECT_FALSE(with({})->changes().has_value());
    std::vector<crdt::Change> holed = changes;
    holed.erase(holed.begin() + 50);
    EXPECT_FALSE(with(holed)->changes().has_value());
}

TEST(Snapshot, UpdatesAreNotASnapshot) {
    const auto opened = Snapshot::open(encode_updates({}));
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().code(), Errc::unsupported);
}

TEST(Snapshot, AContainerWithoutAKeyCannotBeWritten) {
    SnapshotWriter writer;
    const auto kind = static_cast<ContainerKind>(200);
    EXPECT_EQ(writer.add_state({ContainerId::root("r", kind), 1, std::nullopt, UnknownState{}})
                  .error()
                  .reason(),
              "no_container_key");
    EXPECT_EQ(writer
                  .add_state({ContainerId::root(std::string(65532, 'n'), ContainerKind::text), 1,
                              std::nullopt, TextState{}})
                  .error()
                  .reason(),
              "no_container_key");
    EXPECT_TRUE(writer
                    .add_state({ContainerId::root(std::string(65531, 'n'), ContainerKind::text), 1,
                                std::nullopt, TextState{}})
                    .has_value());
    EXPECT_TRUE(std::move(writer).finish({}, {}).has_value());
}

// Every byte of a state of an unknown kind is kept.
TEST(Snapshot, AStateOfAnUnknownKindIsCarried) {
    const auto kind = static_cast<ContainerKind>(77);
    const ContainerState future{ContainerId::root("later", kind), 1, std::nullopt,
                                UnknownState{{1, 2, 3, 0, 255}}};
    const ContainerState child{ContainerId::normal({9, 4}, kind), 2, future.id, UnknownState{}};
    SnapshotWriter writer;
    ASSERT_TRUE(writer.add_state(future).has_value());
    ASSERT_TRUE(writer.add_state(child).has_value());
    const Opened opened(std::move(writer).finish({}, {}).value());

    Budget budget = opened->budget();
    EXPECT_EQ(opened->state(future.id, budget)->value(), future);
    EXPECT_EQ(opened->state(child.id, budget)->value(), child);
}

}  // namespace
}  // namespace quire::codec
