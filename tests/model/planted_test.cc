// Faults on purpose: what the random tests compare with is made wrong in one point, and the
// comparison must see it. One that does not would pass over the same fault in the engine.
#include <stdexcept>

#include <gtest/gtest.h>

#include "crdt/doc/events.h"
#include "crdt/doc/history.h"
#include "crdt/doc/text.h"
#include "tests/model/model.h"
#include "tests/model/scribblers.h"
#include "tests/model/shadow.h"

namespace quire {
namespace {

using namespace crdt;
using model::Fault;
using model::Scribblers;
using model::Shadow;

constexpr Fault kFaults[] = {Fault::tie_break, Fault::erase, Fault::number_type};
constexpr std::uint64_t kHistories = 40;
constexpr std::uint64_t kFewest =
    5;  // At least so many show the fault: not every history has a place for every fault.

// In how many of the histories `differs` finds something.
template <class Differs>
std::uint64_t seen_in(Differs differs) {
    std::uint64_t seen = 0;
    for (std::uint64_t seed = 1; seed <= kHistories; ++seed) {
        Scribblers peers(seed, 2 + seed % 3);
        for (int i = 0; i < 40; ++i) peers.step();
        peers.meet();
        seen += differs(peers) ? 1 : 0;
    }
    return seen;
}

const Scribblers::Moment& any(Scribblers& peers) {
    return peers.moments()[peers.below(peers.moments().size())];
}

TEST(Planted, AFaultInAMergeIsSeen) {
    for (const Fault fault : kFaults) {
        const auto differs = [&](Scribblers& peers) {
            const std::vector<Change> all = peers.doc(0).changes_since({}).changes();
            EXPECT_TRUE(peers.doc(1).value() == model::replay(all));
            return !(peers.doc(1).value() == model::replay(all, fault));
        };
        EXPECT_GE(seen_in(differs), kFewest) << static_cast<int>(fault);
    }
}

TEST(Planted, AFaultInTheViewOfAnEarlierVersionIsSeen) {
    for (const Fault fault : kFaults) {
        const auto differs = [&](Scribblers& peers) {
            Doc& doc = peers.doc(0);
            bool found = false;
            for (int i = 0; i < 6; ++i) {
                const Scribblers::Moment& moment = any(peers);
                EXPECT_TRUE(doc.checkout(moment.frontiers));
                std::vector<IdSpan> spans;
                for (const auto& [peer, end] : moment.version.ends())
                    spans.push_back({peer, 0, end});
                found = found ||
                        !(doc.value() == model::replay(doc.changes_in(spans).changes(), fault));
            }
            doc.checkout_to_latest();
            return found;
        };
        EXPECT_GE(seen_in(differs), kFewest) << static_cast<int>(fault);
    }
}

TEST(Planted, OneByteOfOneOpIsSeen) {
    const auto plant = [](std::vector<Change>& changes, auto fault) {
        for (Change& change : changes) {
            for (Op& op : change.ops) {
                if (fault(op.content)) return true;
            }
        }
        return false;
    };
    const auto sees = [&](auto fault) {
        return seen_in([&](Scribblers& peers) {
            const std::vector<Change> all = peers.doc(0).changes_since({}).changes();
            std::vector<Change> changed = peers.doc(1).changes_since({}).changes();
            EXPECT_TRUE(model::same_history(all, changed));
            return plant(changed, fault) && !model::same_history(all, changed);
        });
    };
    const auto style_byte = [](OpContent& content) {
        auto* start = std::get_if<StyleStart>(&content);
        if (start != nullptr) start->info ^= 0x02;
        return start != nullptr;
    };
    const auto number_type = [](OpContent& content) {
        auto* set = std::get_if<MapSet>(&content);
        auto* value = set != nullptr ? std::get_if<Value>(&set->value) : nullptr;
        if (value == nullptr || !value->is_int()) return false;
        *value = static_cast<double>(value->as_int());
        return true;
    };
    const auto start_of_a_delete = [](OpContent& content) {
        auto* erase = std::get_if<SequenceDelete>(&content);
        if (erase != nullptr) ++erase->start.counter;
        return erase != nullptr;
    };
    EXPECT_GE(sees(style_byte), kFewest);
    EXPECT_GE(sees(number_type), kFewest);
    EXPECT_GE(sees(start_of_a_delete), kFewest);
}

// --- diffs and events ---

enum class Slip { place, erase, number_type, style };
constexpr Slip kSlips[] = {Slip::place, Slip::erase, Slip::number_type, Slip::style};

bool turn(Item& item) {
    auto* value = std::get_if<Value>(&item);
    if (value == nullptr || !value->is_int()) return false;
    *value = static_cast<double>(value->as_int());
    return true;
}
bool restyle(Map& attributes) {
    if (attributes.empty()) return false;
    attributes.set(attributes.begin()->key, "another");
    return true;
}

// Makes the delta wrong in the first point where that is possible; false where there is none.
template <class Step>
bool slip_in(std::vector<Step>& delta, Slip slip) {
    for (std::size_t i = 0; i < delta.size(); ++i) {
        if (slip == Slip::erase && std::holds_alternative<Erase>(delta[i])) {
            delta.erase(delta.begin() + static_cast<std::ptrdiff_t>(i));
            return true;
        }
        auto* keep = std::get_if<Retain>(&delta[i]);
        const bool erases_next =
            i + 1 < delta.size() && !std::holds_alternative<Retain>(delta[i + 1]);
        if (slip == Slip::place && keep != nullptr && keep->count > 0 && erases_next) {
            --keep->count;
            return true;
        }
        if constexpr (std::is_same_v<Step, TextStep>) {
            if (slip != Slip::style) continue;
            if (keep != nullptr && restyle(keep->attributes)) return true;
            auto* put = std::get_if<PutText>(&delta[i]);
            if (put != nullptr && restyle(put->attributes)) return true;
        } else if (auto* put = std::get_if<PutItems>(&delta[i])) {
            if (slip != Slip::number_type) continue;
            for (Item& item : put->items) {
                if (turn(item)) return true;
            }
        }
    }
    return false;
}
bool slip_in(MapDelta& delta, Slip slip) {
    for (std::size_t i = 0; i < delta.size(); ++i) {
        if (slip == Slip::number_type && delta[i].item && turn(*delta[i].item)) return true;
        if (slip != Slip::erase || delta[i].item) continue;
        delta.erase(delta.begin() + static_cast<std::ptrdiff_t>(i));
        return true;
    }
    return false;
}
bool slip_in(TreeDelta& delta, Slip slip) {
    for (std::size_t i = 0; i < delta.size(); ++i) {
        const bool erases = delta[i].kind == TreeAction::Kind::erase;
        if (slip == Slip::erase && erases) {
            delta.erase(delta.begin() + static_cast<std::ptrdiff_t>(i));
            return true;
        }
        if (slip != Slip::place || erases || delta[i].index == 0) continue;
        --delta[i].index;
        return true;
    }
    return false;
}
bool slip_in(CounterDelta&, Slip) {
    return false;
}
bool slip_in(Diff& diff, Slip slip) {
    for (ContainerDiff& part : diff) {
        if (std::visit([&](auto& delta) { return slip_in(delta, slip); }, part.delta)) return true;
    }
    return false;
}

// Returns true if a shadow that is told the diff with the slip in it breaks, or shows something
// else.
bool is_seen(Shadow shadow, Diff diff, Slip slip, Doc& doc, const Value& value) {
    if (!slip_in(diff, slip)) return false;
    try {
        shadow.apply(diff);
    } catch (const std::out_of_range&) {
        return true;
    }
    const ContainerId text = ContainerId::root("text", ContainerKind::text);
    return !(shadow.value() == model::without_empty_roots(value)) ||
           !(shadow.text(text) == doc.text(doc.open(text)).delta());
}

TEST(Planted, ASlipInADiffIsSeen) {
    for (const Slip slip : kSlips) {
        const auto differs = [&](Scribblers& peers) {
            Doc& doc = peers.doc(0);
            bool found = false;
            for (int i = 0; i < 6; ++i) {
                const Scribblers::Moment& from = any(peers);
                const Scribblers::Moment& to = any(peers);
                Shadow shadow;
                shadow.apply(*doc.history().diff({}, from.frontiers));
                Diff diff = *doc.history().diff(from.frontiers, to.frontiers);
                EXPECT_TRUE(doc.checkout(to.frontiers));
                found = found || is_seen(shadow, diff, slip, doc, to.value);
                doc.checkout_to_latest();
            }
            return found;
        };
        EXPECT_GE(seen_in(differs), kFewest) << static_cast<int>(slip);
    }
}

TEST(Planted, ASlipInAnEventIsSeen) {
    for (const Slip slip : kSlips) {
        std::uint64_t seen = 0;
        for (std::uint64_t seed = 1; seed <= kHistories; ++seed) {
            Scribblers peers(seed, 2 + seed % 3);
            Doc& doc = peers.doc(0);
            Shadow shadow;
            bool found = false;
            const Subscription subscription = crdt::subscribe_root(doc, [&](const Event& event) {
                found = found || is_seen(shadow, event.diffs, slip, doc, doc.value());
                shadow.apply(event.diffs);
            });
            for (int i = 0; i < 40; ++i) peers.step();
            peers.meet();
            seen += found ? 1 : 0;
        }
        EXPECT_GE(seen, kFewest) << static_cast<int>(slip);
    }
}

}  // namespace
}  // namespace quire
