#include "crdt/merge/item_tree.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <random>

#include <gtest/gtest.h>

namespace quire::crdt {
namespace {

using Item = ItemTree::Item;
using Cursor = ItemTree::Cursor;

// An atom for each, in order: what the tree should say of it.
struct Atom {
    Lv lv;
    bool now;
    bool last;
};

class Atoms {
public:
    explicit Atoms(std::uint64_t seed) : random_(seed) {}

    // Puts a few atoms behind some that are visible now, or in front.
    void insert() {
        const auto len = static_cast<std::uint32_t>(1 + below(3));
        const std::uint32_t pos = below(tree_.total().now + 1);
        Cursor at = tree_.begin();
        std::size_t index = 0;
        Lv left = kNoLv;
        if (pos > 0) {
            at = tree_.find_now(pos - 1);
            left = tree_.item(at).lv + at.offset;
            ++at.offset;
            index = place(left) + 1;
        }
        const Cursor put = tree_.insert(at, {next_, len, left, kNoLv, 1, 0}, below(2) == 0);
        EXPECT_EQ(tree_.item(put).end(), next_ + len);
        for (std::uint32_t i = 0; i < len; ++i) {
            atoms_.insert(atoms_.begin() + static_cast<std::ptrdiff_t>(index + i),
                          {next_ + i, true, true});
        }
        next_ += len;
    }
    void erase() {
        const std::uint32_t all = tree_.total().last;
        if (all == 0) return;
        Cursor at = tree_.find_last(below(all));
        const std::uint32_t len = 1 + below(tree_.item(at).len - at.offset);
        at = tree_.isolate(at, len);
        const Item item = tree_.item(at);
        EXPECT_EQ(item.len, len);
        // Once more deleted; not yet so in the version that it stands at, now and then.
        const bool both = below(3) > 0;
        tree_.adjust(at, both ? 1 : 0, 1);
        for (Atom& atom : atoms_) {
            if (atom.lv - item.lv >= len) continue;
            atom.last = false;
            if (both) atom.now = tree_.item(at).now == 1;
        }
    }
    void check() {
        tree_.check_invariants();
        std::uint32_t now = 0;
        std::uint32_t last = 0;
        for (const Atom& atom : atoms_) {
            const Cursor at = tree_.find_atom(atom.lv);
            EXPECT_EQ(tree_.item(at).lv + at.offset, atom.lv);
            EXPECT_EQ(tree_.item(at).now == 1, atom.now);
            EXPECT_EQ(tree_.item(at).erased == 0, atom.last);
            EXPECT_EQ(tree_.last_before(at), last);
            if (atom.now) {
                EXPECT_EQ(atom_of(tree_.find_now(now)), atom.lv);
            }
            if (atom.last) {
                EXPECT_EQ(atom_of(tree_.find_last(last)), atom.lv);
            }
            now += atom.now ? 1 : 0;
            last += atom.last ? 1 : 0;
        }
        EXPECT_EQ(tree_.total().now, now);
        EXPECT_EQ(tree_.total().last, last);
        for (int i = 0; i < 50 && !atoms_.empty(); ++i) {
            const std::size_t a = below(atoms_.size());
            const std::size_t b = below(atoms_.size());
            const Cursor at_a = tree_.find_atom(atoms_[a].lv);
            const Cursor at_b = tree_.find_atom(atoms_[b].lv);
            EXPECT_EQ(tree_.before(at_a, at_b), a < b);
        }
    }

    std::uint32_t below(std::size_t n) { return static_cast<std::uint32_t>(random_() % n); }

private:
    Lv atom_of(const Cursor& at) const { return tree_.item(at).lv + at.offset; }
    std::size_t place(Lv lv) const {
        return static_cast<std::size_t>(
            std::find_if(atoms_.begin(), atoms_.end(), [&](const Atom& a) { return a.lv == lv; }) -
            atoms_.begin());
    }

    std::mt19937_64 random_;
    ItemTree tree_;
    std::vector<Atom> atoms_;
    Lv next_ = 0;
};

TEST(ItemTree, BehavesLikeAListOfAtoms) {
    const char* given = std::getenv("SEED");
    const std::uint64_t seed =
        given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    Atoms atoms(seed);
    for (int i = 1; i <= 4000 && !testing::Test::HasFailure(); ++i) {
        atoms.below(4) == 0 ? atoms.erase() : atoms.insert();
        if (i % 400 == 0) atoms.check();
    }
}

}  // namespace
}  // namespace quire::crdt
