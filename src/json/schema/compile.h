// From a schema to its graph of nodes. For schema*.cc alone.
//
// A schema's place in its document is compiled once, however many references lead to it, and the
// places wait in a queue: so there are no more nodes than schemas written, and no recursion.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "json/schema/documents.h"
#include "json/schema/node.h"

namespace quire::json::detail {

struct Keyword;

class Compiler {
public:
    explicit Compiler(const SchemaOptions& options) : options_(options), documents_(options) {}

    Result<Graph> compile(const Value& root);

    // For the keywords. The node of `schema`, which lies in `around`; it is filled later.
    Result<const Node*> node_at(const Value& schema, SchemaPart& around, const Trail& trail);
    // Of what a reference names; with the number of its dynamic anchor where a $dynamicRef names
    // one.
    struct Referred {
        const Node* node;
        std::optional<std::uint32_t> dynamic;
    };
    Result<Referred> refer(std::string_view reference, SchemaPart& from, const Trail& trail,
                           std::string_view keyword);
    // `inner` is for the same value as `outer`.
    void applies_here(const Node& outer, const Node& inner);
    Result<PatternTest> pattern(std::string_view text, const Trail& trail,
                                std::string_view keyword);
    const Trail* trail(const Trail* outer, std::string_view step) {
        return documents_.trail(outer, step);
    }
    const Trail* trail(const Trail* outer, std::size_t index) {
        return documents_.trail(outer, index);
    }
    bool strict() const { return options_.strict; }

private:
    // A node and what it is made of.
    struct Draft {
        Node* node;
        const Value* schema;
        SchemaPart* part;
        const Trail* trail;
        std::vector<std::uint32_t> here;  // The nodes that apply to the same value.
    };
    struct Present {
        const Keyword* keyword;
        const Value* operand;
    };

    Result<void> fill_waiting();
    Result<void> fill(Draft& draft);
    Result<void> check_known(const Draft& draft, std::string_view keyword) const;
    // Fills all that waits, with what the dynamic anchors lead to.
    Result<void> link_dynamic_anchors();
    Result<void> link(SchemaPart& part, std::uint32_t name);
    // Refuses what leads back to itself, and says of each node what it wants of its value.
    Result<void> settle();

    const SchemaOptions& options_;
    Documents documents_;
    Graph graph_;
    std::deque<Draft> drafts_;  // By the number of the node.
    std::size_t filled_ = 0;
    std::unordered_map<const Value*, std::uint32_t> at_;
    std::vector<SchemaPart*> compiled_parts_;
    std::vector<std::string> dynamic_names_;  // By number.
    std::size_t patterns_ = 0;
    std::vector<Present> present_;  // Of the schema being filled.
};

}  // namespace quire::json::detail
