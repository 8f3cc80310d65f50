// Slots against a plain vector of them.
#include "crdt/state/slot_tree.h"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace quire::crdt {
namespace {

std::uint32_t shown_in(const std::vector<SlotTree::Slot>& slots, std::size_t until) {
    return static_cast<std::uint32_t>(
        std::count_if(slots.begin(), slots.begin() + static_cast<std::ptrdiff_t>(until),
                      [](const SlotTree::Slot& slot) { return slot.is_shown(); }));
}

TEST(SlotTree, AgreesWithAVectorUnderRandomEdits) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    const auto below = [&](std::size_t n) { return static_cast<std::uint32_t>(random() % n); };
    SlotTree tree;
    std::vector<SlotTree::Slot> model;
    std::uint32_t next = 0;
    for (int step = 0; step < 20'000; ++step) {
        // It grows to hundreds of slots, shrinks to none, and again.
        const bool grows = step / 2'000 % 2 == 0;
        const std::uint32_t what = below(10);
        const std::uint32_t size = static_cast<std::uint32_t>(model.size());
        if (size == 0 || what < (grows ? 6U : 2U)) {
            const std::uint32_t at = below(size + 1);
            const SlotTree::Slot slot{next, below(3) == 0 ? SlotTree::kNone : next};
            ++next;
            tree.insert(at, slot);
            model.insert(model.begin() + at, slot);
        } else if (what < 8) {
            const std::uint32_t at = below(size);
            ASSERT_EQ(tree.erase(at), model[at]);
            model.erase(model.begin() + at);
        } else {
            const std::uint32_t at = below(size);
            if (!model[at].is_shown()) continue;
            tree.hide(model[at].element);
            EXPECT_FALSE(tree.is_shown(model[at].element));
            model[at].element = SlotTree::kNone;
        }
        ASSERT_EQ(tree.size(), model.size());
        ASSERT_EQ(tree.shown(), shown_in(model, model.size()));
        if (model.empty()) continue;
        const std::uint32_t at = below(model.size());
        ASSERT_EQ(tree.at(at), model[at]);
        const std::uint32_t index = shown_in(model, at);
        ASSERT_EQ(tree.shown_before(at), index);
        if (!model[at].is_shown()) continue;
        ASSERT_EQ(tree.shown_at(index), model[at]);
        ASSERT_EQ(tree.slot_index(index), at);
        ASSERT_EQ(tree.index_of(model[at].element), index);
        if (step % 100 == 0) tree.check_invariants();
    }
    tree.check_invariants();
    EXPECT_EQ(tree.slot_index(tree.shown()), tree.size());
    EXPECT_EQ(tree.shown_before(tree.size()), tree.shown());
    std::vector<SlotTree::Slot> walked;
    tree.for_each([&](const SlotTree::Slot& slot) { walked.push_back(slot); });
    EXPECT_EQ(walked, model);
}

}  // namespace
}  // namespace quire::crdt
