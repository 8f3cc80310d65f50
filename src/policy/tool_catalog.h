// The tools that rules may name, with the operations that each declares.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace quire::policy {

// One tool as rules see it.
struct KnownTool {
    std::string name;
    // The declared operations; empty for a tool with a single action.
    std::vector<std::string> operations = {};
    // False for a tool of a later version: rules may name it already.
    bool built = true;
    // True for a name under a mount that has not listed its tools yet.
    bool mounted = false;
    // The operations of a later version, which rules may name already.
    std::vector<std::string> later = {};
    bool for_people = false;        // No agent may call it.
    bool in_conversations = true;   // A call may name a conversation.
    std::string conversation = {};  // The conversation of calls that name none; "" for none.
    std::vector<std::string> profiles = {};  // The profiles that have it; empty means all.
    // The operations for which a read-only tool TOOL_OPERATION stands as well. Rules name the
    // operation.
    std::vector<std::string> twins = {};
};

// A clause that says why no agent can call the tool, in any profile, or in `profile` if that is not
// "". "" if some agent can.
std::string why_absent(const KnownTool& tool, std::string_view profile = {});

// The tools of a workspace, in the order in which they were added.
class ToolCatalog {
public:
    ToolCatalog() = default;
    explicit ToolCatalog(std::vector<KnownTool> tools);

    // Replaces a tool of the same name in its place.
    void add(KnownTool tool);
    std::span<const KnownTool> tools() const { return tools_; }
    std::size_t size() const { return tools_.size(); }
    // The number of a tool in the catalog's order; nothing if the tool is unknown.
    std::optional<std::size_t> index_of(std::string_view name) const;
    // Returns null if the tool is unknown. Valid until the next add().
    const KnownTool* find(std::string_view name) const;
    // The tool and its operation for which the twin `name` stands; nothing if it is no twin.
    struct Twin {
        std::string tool;
        std::string operation;
    };
    // O(tools · twins).
    std::optional<Twin> twin(std::string_view name) const;
    // The names for a message: "context, file, shell".
    std::string names() const;
    // Returns true if it has the tools of the other one first, in its order.
    bool begins_with(const ToolCatalog& other) const;
    // All profiles that the tools name, each once.
    std::vector<std::string> profiles() const;
    // For a message: "context, file and shell".
    std::string names_with_operations() const;

private:
    std::vector<KnownTool> tools_;
    std::unordered_map<std::string, std::size_t> index_;
};

}  // namespace quire::policy
