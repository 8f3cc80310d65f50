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

struct KnownTool {
    std::string name;
    std::vector<std::string> operations = {};  // As declared; none of a tool that does one thing.
    bool built = true;     // False: a word that rules may use already, and no tool yet,
    bool mounted = false;  // of another program that has not told what it has.
    std::vector<std::string> later = {};     // Of its operations, such words.
    bool for_people = false;                 // No agent may call it.
    bool in_conversations = true;            // A call may be in one, by what it names.
    std::string conversation = {};           // That of a call which names none; "" for none.
    std::vector<std::string> profiles = {};  // That have it; empty where each does.
};

// Why no agent can call the tool, a clause: in any profile, or in `profile` where that is not "".
// "" where some can.
std::string why_absent(const KnownTool& tool, std::string_view profile = {});

// Keeps the order in which tools were added.
class ToolCatalog {
public:
    ToolCatalog() = default;
    explicit ToolCatalog(std::vector<KnownTool> tools);

    // One that is there already is replaced where it stands.
    void add(KnownTool tool);
    std::span<const KnownTool> tools() const { return tools_; }
    std::size_t size() const { return tools_.size(); }
    std::optional<std::size_t> index_of(std::string_view name) const;
    // Null where there is none. Valid until the next add().
    const KnownTool* find(std::string_view name) const;
    // For a message: "context, file, shell"; of those that declare operations "context and file".
    std::string names() const;
    // Those of the tools, each once.
    std::vector<std::string> profiles() const;
    std::string names_with_operations() const;

private:
    std::vector<KnownTool> tools_;
    std::unordered_map<std::string, std::size_t> index_;
};

}  // namespace quire::policy
