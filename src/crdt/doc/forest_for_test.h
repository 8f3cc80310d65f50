// A replica with one tree, for tests of trees.
#pragma once

#include <optional>
#include <string>

#include "base/words_for_test.h"
#include "crdt/doc/replica_for_test.h"
#include "crdt/doc/tree.h"
#include "crdt/doc/tree_values.h"
#include "crdt/ids/container_text.h"

namespace quire::crdt {

inline const ContainerId kTree = ContainerId::root("t", ContainerKind::tree);

// A replica with one tree, and short words for what tests do with it.
struct Forest {
    explicit Forest(PeerId peer) : doc(peer), tree(doc.open(kTree)) {}

    OpId create(std::optional<OpId> parent = {}, std::optional<std::size_t> index = {}) {
        return doc.tree(tree).create(parent, index).value();
    }
    std::string move(OpId node, std::optional<OpId> parent = {},
                     std::optional<std::size_t> index = {}) {
        return reason(doc.tree(tree).move(node, parent, index));
    }
    std::string erase(OpId node) { return reason(doc.tree(tree).erase(node)); }
    Imported pull(Forest& other) { return pull_into(doc, other.doc, {.want_diff = true}); }
    // Ids and positions in order, two spaces a level: "0@1 80".
    std::string shown() const {
        std::string out;
        for (const TreeNode& node : doc.tree(tree).nodes()) {
            out += std::string(2 * node.depth, ' ') + to_text(node.id) + ' ';
            for (const std::uint8_t byte : node.position) {
                out += "0123456789ABCDEF"[byte / 16];
                out += "0123456789ABCDEF"[byte % 16];
            }
            out += '\n';
        }
        return out;
    }

    Doc doc;
    Handle tree;
};

}  // namespace quire::crdt
