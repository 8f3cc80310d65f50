// Elements have dense numbers in the order in which their inserts came. Inserts come in ascending
// order of atoms, many in a row, so the number of an atom is found among the stretches that they
// form. Which of two writes wins is the caller's to say; this state only carries it out.
#include "crdt/state/movable_state.h"

#include <algorithm>

#include "base/check.h"

namespace quire::crdt {

// A binary search among the stretches of inserts.
std::uint32_t MovableState::number_of(std::uint32_t made) const {
    const auto after = std::upper_bound(
        stretches_.begin(), stretches_.end(), made,
        [](std::uint32_t lv, const Stretch& stretch) { return lv < stretch.made; });
    CHECK(after != stretches_.begin());
    const Stretch& stretch = *(after - 1);
    const std::uint32_t number = stretch.number + (made - stretch.made);
    CHECK(number < elements_.size() && elements_[number].made == made);
    return number;
}

// One atom is the element's origin, its place and its value until another write wins one of them.
std::uint32_t MovableState::insert(std::uint32_t at, std::uint32_t lv) {
    const std::uint32_t number = element_count();
    if (elements_.empty() || elements_.back().made + 1 != lv) stretches_.push_back({lv, number});
    elements_.push_back({lv, lv, lv});
    slots_.insert(at, {lv, number});
    return number;
}

// The old slot stays; only a winning move takes the element to the new one.
void MovableState::move(std::uint32_t at, std::uint32_t lv, std::uint32_t number, bool wins) {
    if (!wins) {
        slots_.insert(at, {lv, SlotTree::kNone});
        return;
    }
    if (slots_.is_shown(number)) slots_.hide(number);
    elements_[number].slot = lv;
    slots_.insert(at, {lv, number});
}

void MovableState::check_invariants() const {
    slots_.check_invariants();
    slots_.for_each([&](const SlotTree::Slot& slot) {
        CHECK(!slot.is_shown() || elements_[slot.element].slot == slot.lv);
    });
    for (std::uint32_t number = 0; number < element_count(); ++number)
        CHECK(number_of(elements_[number].made) == number);
}

}  // namespace quire::crdt
