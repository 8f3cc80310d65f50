// The rules for text typed at the edges of styles, and for conflicts between styles.
//
// A style's start and end are anchors in the sequence; the writer's wish for text at its edges is a
// byte that travels with it and decides on which side of an anchor local text goes. Merging does
// not look at it again.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/value.h"
#include "crdt/ids/change.h"

namespace quire::crdt {

// The edges of a style at which typed text belongs to it.
enum class Expand : std::uint8_t { none, before, after, both };

// The expansion of a style that ends another one, so that typing at the edges continues as before.
Expand reversed(Expand expand);
// A style's info byte: 0x80, plus 0x02 for before and 0x04 for after.
std::uint8_t info_of(Expand expand);
// Returns true if text typed beside a style's start, or its end, goes before it. Text beside a start that
// removes a style goes before it too.
bool holds_back_start(const StyleStart& style);
bool holds_back_end(const StyleStart& style);

// The expansion of a document's styles, by key. A key with a ':' is configured by the part before
// it.
class StyleConfig {
public:
    // bold, italic and underline expand after; link, highlight, comment and code do not.
    static StyleConfig usual();

    void set(std::string key, Expand expand) { by_key_.insert_or_assign(std::move(key), expand); }
    void set_default(std::optional<Expand> expand) { otherwise_ = expand; }
    const std::optional<Expand>& default_expand() const { return otherwise_; }
    // Nothing if the key is not configured and there is no default.
    std::optional<Expand> of(std::string_view key) const;

private:
    std::map<std::string, Expand, std::less<>> by_key_;
    std::optional<Expand> otherwise_;
};

// The styles in force while the anchors of a text pass in order: for each key the last by (lamport,
// peer) decides. O(log open styles) per anchor.
class StyleSweep {
public:
    struct Rank {
        Lamport lamport = 0;
        PeerId peer = 0;
        friend auto operator<=>(const Rank&, const Rank&) = default;
    };
    // The style must outlive everything between its start and its end.
    void open(const StyleStart& style, Rank rank);
    void close(const StyleStart& style, Rank rank);
    // Sorted by key; null values mean no style. Rebuilt after each anchor, O(keys in force).
    const Map& attributes();

private:
    std::map<std::string_view, std::map<Rank, const Value*>> open_;
    Map attributes_;
    bool changed_ = false;
};

}  // namespace quire::crdt
