// How styles take in text that is typed at their edges, and which style wins.
//
// A style's start and end are anchors in the sequence; what its writer wanted for text at its edges
// is a byte that travels with it, and decides on which side of an anchor local text goes. Merging
// never looks at it again.
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

// Which text typed at the edges of a style belongs to it.
enum class Expand : std::uint8_t { none, before, after, both };

// The expansion of a style that ends another one where it stood, so that typing at the edges goes
// on as it did.
Expand reversed(Expand expand);
// A style's info byte: 0x80, and 0x02 for before, 0x04 for after.
std::uint8_t info_of(Expand expand);
// Whether text typed beside a style's start, or its end, goes before it. So does text beside a
// start that takes a style away.
bool holds_back_start(const StyleStart& style);
bool holds_back_end(const StyleStart& style);

// How a document's styles expand, by key. A key with a ':' is configured by what stands before it.
class StyleConfig {
public:
    // bold, italic and underline expand after; link, highlight, comment and code do not.
    static StyleConfig usual();

    void set(std::string key, Expand expand) { by_key_.insert_or_assign(std::move(key), expand); }
    void set_default(std::optional<Expand> expand) { otherwise_ = expand; }
    const std::optional<Expand>& default_expand() const { return otherwise_; }
    // None when the key is not configured and there is no default.
    std::optional<Expand> of(std::string_view key) const;

private:
    std::map<std::string, Expand, std::less<>> by_key_;
    std::optional<Expand> otherwise_;
};

// The styles in force while the anchors of a text go by in order: of each key the last one by
// (lamport, peer) decides. O(log open styles) an anchor.
class StyleSweep {
public:
    struct Rank {
        Lamport lamport = 0;
        PeerId peer = 0;
        friend auto operator<=>(const Rank&, const Rank&) = default;
    };
    // The style must outlive what is between its start and its end.
    void open(const StyleStart& style, Rank rank);
    void close(const StyleStart& style, Rank rank);
    // Sorted by key; null values are no styles. Made anew when an anchor went by, O(keys in force).
    const Map& attributes();

private:
    std::map<std::string_view, std::map<Rank, const Value*>> open_;
    Map attributes_;
    bool changed_ = false;
};

}  // namespace quire::crdt
