#include "crdt/state/anchors.h"

#include <algorithm>

namespace quire::crdt {

// The i-th anchor lies before character number positions_[i] - i, which never falls as i grows.
std::uint32_t Anchors::insertion(std::uint32_t code_point) const {
    std::uint32_t low = 0;
    std::uint32_t high = size();
    while (low < high) {
        const std::uint32_t middle = (low + high) / 2;
        if (positions_[middle] - middle < code_point) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return code_point + low;
}

std::uint32_t Anchors::character(std::uint32_t code_point) const {
    return insertion(code_point + 1) - 1;
}

std::uint32_t Anchors::code_point(std::uint32_t entity) const {
    return entity - count_in(0, entity);
}

std::uint32_t Anchors::count_in(std::uint32_t entity, std::uint32_t len) const {
    const auto from = std::lower_bound(positions_.begin(), positions_.end(), entity);
    return static_cast<std::uint32_t>(std::lower_bound(from, positions_.end(), entity + len) -
                                      from);
}

void Anchors::make_room(std::uint32_t entity, std::uint32_t len) {
    for (auto at = std::lower_bound(positions_.begin(), positions_.end(), entity);
         at != positions_.end(); ++at) {
        *at += len;
    }
}

void Anchors::add(std::uint32_t entity) {
    make_room(entity, 1);
    positions_.insert(std::lower_bound(positions_.begin(), positions_.end(), entity), entity);
}

void Anchors::erase(std::uint32_t entity, std::uint32_t len) {
    const auto from = std::lower_bound(positions_.begin(), positions_.end(), entity);
    const auto to = std::lower_bound(from, positions_.end(), entity + len);
    for (auto at = to; at != positions_.end(); ++at) *at -= len;
    positions_.erase(from, to);
}

}  // namespace quire::crdt
