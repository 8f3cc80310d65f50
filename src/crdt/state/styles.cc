// For each key the text is divided into stretches; a stretch begins at an anchor and has one
// deciding style. A new style changes only the stretches between its anchors: it cuts one at each
// end and takes over those that it outranks, O(log anchors + changed stretches). Removing a style
// could bring back any older one, so that key is marked stale and rebuilt on the next read by one
// pass over its styles in order. Reading starts with the styles in force at the first character and
// follows the anchors from there.

#include "crdt/state/styles.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace quire::crdt {

// The stretches of the copy are ordered by its own anchors.
Styles::Styles(const Styles& other)
    : anchors_(other.anchors_),
      styles_(other.styles_),
      open_(other.open_),
      key_index_(other.key_index_),
      nodes_(other.nodes_),
      stale_(other.stale_) {
    for (const Key& key : other.keys_) {
        keys_.push_back({key.name, key.styles,
                         Stretches(key.stretches.begin(), key.stretches.end(), Earlier{&anchors_}),
                         key.stale});
    }
}

Styles::Index Styles::intern(const std::string& key) {
    const auto [at, is_new] = key_index_.try_emplace(key, static_cast<Index>(keys_.size()));
    if (is_new) keys_.push_back({key, {}, Stretches(Earlier{&anchors_})});
    return at->second;
}

Styles::NodeInfo& Styles::info(Node node) {
    if (node >= nodes_.size()) nodes_.resize(anchors_.bound());
    return nodes_[node];
}

// --- edits ---

// The start is stored until its end arrives.
void Styles::start(std::uint32_t entity, std::uint32_t lv, StyleMark mark, bool holds_back) {
    const auto index = static_cast<Index>(styles_.size());
    const Index key = intern(mark.key);
    const Node node = anchors_.add(entity, holds_back);
    info(node) = {index, kSame};
    styles_.push_back({std::move(mark), lv, key, node, Anchors::kNone});
    open_.emplace(lv, index);
}

// The style is complete now and takes its place among the stretches.
void Styles::end(std::uint32_t entity, std::uint32_t lv, bool holds_back) {
    const Node node = anchors_.add(entity, holds_back);
    info(node) = {};
    const auto started = open_.find(lv);
    if (started == open_.end()) return;
    const Index index = started->second;
    open_.erase(started);
    Style& style = styles_[index];
    style.end = node;
    info(node).style = index;
    Key& key = keys_[style.key];
    key.styles.push_back(index);
    if (!key.stale) apply(index);
}

void Styles::erase(std::uint32_t entity, std::uint32_t len) {
    const std::uint32_t count = anchors_.count_in(entity, len);
    if (count > 0) noted_all_ = false;
    Node node = count == 0 ? Anchors::kNone : anchors_.at_entity(entity);
    for (std::uint32_t i = 0; i < count; ++i, node = anchors_.next(node)) forget(node);
    anchors_.erase(entity, len);
}

// Runs before the anchor is removed, while stretches can still be found by its place.
void Styles::forget(Node node) {
    const Index index = nodes_[node].style;
    if (index == kNone) return;
    Style& style = styles_[index];
    if (style.is_whole()) {
        Key& key = keys_[style.key];
        for (const Node begin : key.stretches) nodes_[begin].decides = kSame;
        key.stretches.clear();
        if (!key.stale) stale_.push_back(style.key);
        key.stale = true;
    } else {
        open_.erase(style.lv);
    }
    (style.start == node ? style.start : style.end) = Anchors::kNone;
    nodes_[node] = {};
}

// --- which style decides where ---

// Makes a stretch begin at an anchor.
Styles::Stretches::iterator Styles::cut(Key& key, Node node) const {
    const auto at = key.stretches.lower_bound(node);
    if (at != key.stretches.end() && *at == node) return at;
    nodes_[node].decides = at == key.stretches.begin() ? kNone : nodes_[*std::prev(at)].decides;
    return key.stretches.insert(at, node);
}

// Cuts stretches at both anchors and takes over the ones in between that the style outranks.
void Styles::apply(Index index) const {
    const Style& style = styles_[index];
    if (!anchors_.earlier(style.start, style.end)) return;
    Key& key = keys_[style.key];
    const auto from = cut(key, style.start);
    const auto to = cut(key, style.end);
    for (auto at = from; at != to; ++at) {
        Index& decides = nodes_[*at].decides;
        if (decides != kNone && !styles_[decides].loses_to(style)) continue;
        if (noted_all_) noted_.push_back({style.key, *at, *std::next(at), decides});
        decides = index;
    }
    // Joins neighbours with the same deciding style.
    Index before = from == key.stretches.begin() ? kNone : nodes_[*std::prev(from)].decides;
    const auto stop = std::next(to);
    for (auto at = from; at != stop;) {
        Index& decides = nodes_[*at].decides;
        if (decides == before) {
            decides = kSame;
            at = key.stretches.erase(at);
        } else {
            before = decides;
            ++at;
        }
    }
}

void Styles::refresh() const {
    for (const Index key : stale_) refresh(keys_[key]);
    stale_.clear();
}

void Styles::refresh(Key& key) const {
    std::erase_if(key.styles, [&](Index index) { return !styles_[index].is_whole(); });
    key.stale = false;
    for (const Index index : key.styles) apply(index);
}

// --- reading ---

const Value& Styles::value_of(Index style) const {
    static const Value kNull;
    return style == kNone ? kNull : styles_[style].mark.value;
}

// One search per key for the stretch that contains the character.
Styles::InForce Styles::in_force(std::uint32_t code_point) const {
    InForce now;
    // The character lies behind all anchors that have no more characters before them.
    const Node behind = anchors_.with_characters(code_point + 1);
    if (behind == anchors_.first()) return now;
    for (const Key& key : keys_) {
        auto at =
            behind == Anchors::kNone ? key.stretches.end() : key.stretches.lower_bound(behind);
        if (at == key.stretches.begin()) continue;
        const Index decides = nodes_[*--at].decides;
        if (!value_of(decides).is_null()) now.emplace(key.name, decides);
    }
    return now;
}

// A stretch may begin at the anchor: then its style is in force from here on, or none is.
bool Styles::pass(Node node, InForce& now) const {
    const NodeInfo& info = nodes_[node];
    if (info.decides == kSame) return false;
    const std::string_view key = keys_[styles_[info.style].key].name;
    if (value_of(info.decides).is_null()) {
        now.erase(key);
    } else {
        now.insert_or_assign(key, info.decides);
    }
    return true;
}

Map Styles::attributes(const InForce& now) const {
    Map map;
    for (const auto& [key, style] : now) map.append(std::string(key), value_of(style));
    return map;
}

// Compares stretch by stretch and stops at the first that differs.
bool Styles::has(std::string_view key, const Value& value, std::uint32_t begin,
                 std::uint32_t end) const {
    refresh();
    const auto known = key_index_.find(std::string(key));
    if (known == key_index_.end()) return value.is_null();
    const Stretches& stretches = keys_[known->second].stretches;
    const Node behind = anchors_.with_characters(begin + 1);
    auto next = behind == Anchors::kNone ? stretches.end() : stretches.lower_bound(behind);
    Index decides = next == stretches.begin() ? kNone : nodes_[*std::prev(next)].decides;
    for (std::uint32_t at = begin;;) {
        const std::uint32_t stop =
            next == stretches.end() ? end : anchors_.characters_before(*next);
        if (stop > at && value_of(decides) != value) return false;
        if (stop >= end) return true;
        at = stop;
        decides = nodes_[*next++].decides;
    }
}

// --- what changes ---

void Styles::note_changes(std::uint32_t since) {
    if (noted_since_ == since) return;
    refresh();
    noted_since_ = since;
    noted_all_ = true;
    noted_.clear();
}

void Styles::stop_noting() {
    noted_since_.reset();
    noted_all_ = false;
    noted_.clear();
}

// Turns the recorded stretches into present positions, merged by key.
std::optional<std::vector<Styles::Change>> Styles::changes(std::uint32_t since) const {
    if (noted_since_ != since || !noted_all_) return std::nullopt;
    // If several records cover a character, the first has the former value.
    std::map<Index, std::map<std::uint32_t, std::uint32_t>>
        former;  // For each key: begins and ends.
    std::vector<Change> changes;
    for (const Noted& noted : noted_) {
        std::uint32_t begin = anchors_.characters_before(noted.begin);
        const std::uint32_t end = anchors_.characters_before(noted.end);
        if (begin == end) continue;
        const Key& key = keys_[noted.key];
        auto& known = former[noted.key];
        const auto tell = [&](std::uint32_t from, std::uint32_t to) {
            if (from < to) changes.push_back({from, to, key.name, &value_of(noted.before)});
        };
        std::uint32_t first = begin;
        std::uint32_t last = end;
        auto at = known.upper_bound(begin);
        if (at != known.begin() && std::prev(at)->second >= begin) --at;
        while (at != known.end() && at->first <= end) {
            tell(begin, at->first);
            begin = std::max(begin, at->second);
            first = std::min(first, at->first);
            last = std::max(last, at->second);
            at = known.erase(at);
        }
        tell(begin, end);
        known.emplace(first, last);
    }
    return changes;
}

void Styles::check_invariants() const {
    anchors_.check_invariants();
    refresh();
    // The deciding style of each stretch must be the one that a search over all styles finds.
    for (std::size_t i = 0; i < keys_.size(); ++i) {
        const Key& key = keys_[i];
        Index decides = kNone;
        for (Node node = anchors_.first(); node != Anchors::kNone; node = anchors_.next(node)) {
            const bool begins = nodes_[node].decides != kSame && nodes_[node].style != kNone &&
                                styles_[nodes_[node].style].key == i;
            CHECK(begins == key.stretches.contains(node));
            if (begins) {
                CHECK(nodes_[node].decides != decides);
                decides = nodes_[node].decides;
            }
            Index best = kNone;
            for (const Index index : key.styles) {
                const Style& style = styles_[index];
                if (anchors_.rank(style.start) > anchors_.rank(node) ||
                    anchors_.rank(style.end) <= anchors_.rank(node)) {
                    continue;
                }
                if (best == kNone || styles_[best].loses_to(style)) best = index;
            }
            CHECK(best == decides);
        }
        CHECK(decides == kNone);
    }
}

}  // namespace quire::crdt
