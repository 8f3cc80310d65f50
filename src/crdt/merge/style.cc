// Loro decides by a byte that travels with the style; these are its bits and the rules that read
// them. An edge that does not expand keeps typed text outside: at a start the text goes before the
// anchor, at an end behind it. An edge that expands does the opposite.
#include "crdt/merge/style.h"

namespace quire::crdt {

namespace {

constexpr std::uint8_t kAlive = 0x80;
constexpr std::uint8_t kBefore = 0x02;
constexpr std::uint8_t kAfter = 0x04;

}  // namespace

// At each edge of the stretch that a removal clears, typed text belongs to the stretch exactly if
// the style beyond the edge does not expand there. With none and both that turns around; with one
// side only it comes to the same side.
Expand reversed(Expand expand) {
    switch (expand) {
        case Expand::none:
            return Expand::both;
        case Expand::both:
            return Expand::none;
        case Expand::before:
        case Expand::after:
            return expand;
    }
    return expand;
}

std::uint8_t info_of(Expand expand) {
    std::uint8_t info = kAlive;
    if (expand == Expand::before || expand == Expand::both) info |= kBefore;
    if (expand == Expand::after || expand == Expand::both) info |= kAfter;
    return info;
}

// A removal has nothing to give to text typed at its start, whatever its byte says.
bool holds_back_start(const StyleStart& style) {
    return style.value.is_null() || style.value == Value(false) || (style.info & kBefore) == 0;
}

bool holds_back_end(const StyleStart& style) {
    return (style.info & kAfter) != 0;
}

StyleConfig StyleConfig::usual() {
    StyleConfig config;
    for (const char* key : {"bold", "italic", "underline"}) config.set(key, Expand::after);
    for (const char* key : {"link", "highlight", "comment", "code"}) config.set(key, Expand::none);
    return config;
}

std::optional<Expand> StyleConfig::of(std::string_view key) const {
    const auto known = by_key_.find(key.substr(0, key.find(':')));
    return known != by_key_.end() ? std::optional(known->second) : otherwise_;
}

void StyleSweep::open(const StyleStart& style, Rank rank) {
    open_[style.key].emplace(rank, &style.value);
    changed_ = true;
}

void StyleSweep::close(const StyleStart& style, Rank rank) {
    const auto key = open_.find(style.key);
    if (key == open_.end()) return;
    key->second.erase(rank);
    if (key->second.empty()) open_.erase(key);
    changed_ = true;
}

// The last rank of each key decides. A null value there hides the styles below it.
const Map& StyleSweep::attributes() {
    if (!changed_) return attributes_;
    changed_ = false;
    attributes_ = {};
    for (const auto& [key, styles] : open_) {
        const Value& value = *styles.rbegin()->second;
        if (!value.is_null()) attributes_.append(std::string(key), value);
    }
    return attributes_;
}

}  // namespace quire::crdt
