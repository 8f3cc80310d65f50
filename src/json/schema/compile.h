// Compiling a schema into its graph of nodes. Internal to this room.
//
// Each schema in a document is compiled once, however many references lead to it, and schemas wait
// in a queue. So there are no more nodes than schemas, and no recursion.
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

// Builds one graph, and is used once. The graph keeps no pointer into the schema or the compiler,
// and may outlive both.
class Compiler {
public:
    explicit Compiler(const SchemaOptions& options) : options_(options), documents_(options) {}

    // Errors: those of Schema::compile().
    Result<Graph> compile(const Value& root);

    // For keywords: the node of `schema`, which lies in `around`. It is filled later.
    Result<const Node*> node_at(const Value& schema, SchemaPart& around, const Trail& trail);
    // The node that a reference names, and the number of its dynamic anchor if a $dynamicRef names
    // one.
    struct Referred {
        const Node* node;
        std::optional<std::uint32_t> dynamic;
    };
    Result<Referred> refer(std::string_view reference, SchemaPart& from, const Trail& trail,
                           std::string_view keyword);
    // Records that `inner` applies to the same value as `outer`.
    void applies_here(const Node& outer, const Node& inner);
    // The test for a regular expression. Errors: unsupported "unsupported_pattern"; out_of_range
    // "schema_too_large" above Schema::kPatterns; invalid_argument "invalid_schema" for one that is
    // wrong.
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
    // A node with its sources.
    struct Draft {
        Node* node;
        const Value* schema;
        SchemaPart* part;
        const Trail* trail;
        std::vector<std::uint32_t> here;  // Nodes that apply to the same value.
    };
    // A keyword of the schema that is being filled.
    struct Present {
        const Keyword* keyword;
        const Value* operand;
    };

    // Fills the nodes that wait, and those that come to wait meanwhile.
    Result<void> fill_waiting();
    Result<void> fill(Draft& draft);
    Result<void> check_known(const Draft& draft, std::string_view keyword) const;
    // Fills all waiting nodes, including those that dynamic anchors lead to.
    Result<void> link_dynamic_anchors();
    Result<void> link(SchemaPart& part, std::uint32_t name);
    // Refuses a schema that leads back to itself, and computes the wanted types of each node.
    Result<void> settle();

    const SchemaOptions& options_;
    Documents documents_;
    Graph graph_;
    std::deque<Draft> drafts_;  // Indexed by node number.
    std::size_t filled_ = 0;
    // The number of the node of each schema that has one.
    std::unordered_map<const Value*, std::uint32_t> at_;
    std::vector<SchemaPart*> compiled_parts_;
    std::vector<std::string> dynamic_names_;  // Indexed by number.
    std::size_t patterns_ = 0;
    std::vector<Present> present_;  // The keywords of the schema being filled.
};

}  // namespace quire::json::detail
