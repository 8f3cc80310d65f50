// Shadow: a document that knows nothing but diffs. What it shows must be what the engine shows.
#pragma once

#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "crdt/ids/diff.h"

namespace quire::model {

class Shadow {
public:
    // Throws std::out_of_range and the like where a diff does not fit what is there.
    void apply(const crdt::Diff& diff);
    // Deep values by root; a root that holds nothing is left out.
    Value value() const;
    // A text with its styles.
    crdt::TextDelta text(const crdt::ContainerId& id) const;

private:
    struct Letter {
        std::string utf8;
        Map styles;
    };
    using Letters = std::vector<Letter>;
    using Items = std::vector<crdt::Item>;
    using Entries = std::map<std::string, crdt::Item>;
    struct Node {
        std::optional<crdt::OpId> parent;
        Bytes position;
    };
    struct Forest {
        std::map<crdt::OpId, Node> nodes;
        std::map<std::optional<crdt::OpId>, std::vector<crdt::OpId>> children;
    };
    using Content = std::variant<std::monostate, Letters, Items, Entries, Forest, double>;

    static void apply(Letters& letters, const crdt::TextDelta& delta);
    static void apply(Items& items, const crdt::ListDelta& delta);
    static void apply(Entries& entries, const crdt::MapDelta& delta);
    static void apply(Forest& forest, const crdt::TreeDelta& delta);
    static void apply(double& sum, const crdt::CounterDelta& delta);
    template <class As, class DeltaType>
    void change(const crdt::ContainerId& id, const DeltaType& delta) {
        Content& content = containers_[id];
        if (std::holds_alternative<std::monostate>(content)) content = As{};
        apply(std::get<As>(content), delta);
    }
    void reach(const crdt::ContainerId& id, std::set<crdt::ContainerId>& found) const;
    Value value(const crdt::ContainerId& id) const;
    Value value(const crdt::Item& item) const;
    Value nodes(const Forest& forest, const std::optional<crdt::OpId>& parent) const;

    std::map<crdt::ContainerId, Content> containers_;
};

// A deep value without what is empty at the top: which empty roots are shown is not told by diffs.
Value without_empty_roots(const Value& value);
// A deep value without what nodes of trees are called, and where among all places they lie.
Value nameless(const Value& value);

}  // namespace quire::model
