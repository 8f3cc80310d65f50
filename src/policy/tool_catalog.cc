// Tools have numbers, their places in the list. Compiled rules and ledgers index by them, so a
// number is never given to another tool: the catalog only grows. Names are looked up by hash, all
// else walks the list.
#include "policy/tool_catalog.h"

#include <algorithm>
#include <utility>

#include "base/concat.h"

namespace quire::policy {

// "" if agents in the profile have the tool. The order of the reasons is from the most general one.
std::string why_absent(const KnownTool& tool, std::string_view profile) {
    // A mount's tools are unknown until it lists them.
    if (tool.mounted) return {};
    if (!tool.built) return cat("this version has no tool `", tool.name, "` yet");
    if (tool.for_people) return cat("`", tool.name, "` is only for people");
    const bool there = profile.empty() || tool.profiles.empty() ||
                       std::ranges::find(tool.profiles, profile) != tool.profiles.end();
    if (there) return {};
    std::string in;
    for (const std::string& each : tool.profiles) cat_to(in, cat(in.empty() ? "" : ", ", each));
    return cat("`", tool.name, "` exists only in profile ", in);
}

ToolCatalog::ToolCatalog(std::vector<KnownTool> tools) {
    for (KnownTool& tool : tools) add(std::move(tool));
}

// A replacement keeps the tool's number, by which compiled rules refer to it.
void ToolCatalog::add(KnownTool tool) {
    const auto [at, is_new] = index_.try_emplace(tool.name, tools_.size());
    if (is_new) {
        tools_.push_back(std::move(tool));
    } else {
        tools_[at->second] = std::move(tool);
    }
}

std::optional<std::size_t> ToolCatalog::index_of(std::string_view name) const {
    const auto found = index_.find(std::string(name));
    if (found == index_.end()) return std::nullopt;
    return found->second;
}

const KnownTool* ToolCatalog::find(std::string_view name) const {
    const auto at = index_of(name);
    return at ? &tools_[*at] : nullptr;
}

std::optional<ToolCatalog::Twin> ToolCatalog::twin(std::string_view name) const {
    for (const KnownTool& tool : tools_) {
        for (const std::string& operation : tool.twins) {
            if (cat(tool.name, "_", operation) == name) return Twin{tool.name, operation};
        }
    }
    return std::nullopt;
}

std::string ToolCatalog::names() const {
    std::string out;
    for (const KnownTool& tool : tools_) cat_to(out, cat(out.empty() ? "" : ", ", tool.name));
    return out;
}

std::vector<std::string> ToolCatalog::profiles() const {
    std::vector<std::string> out;
    for (const KnownTool& tool : tools_) {
        for (const std::string& each : tool.profiles) {
            if (std::ranges::find(out, each) == out.end()) out.push_back(each);
        }
    }
    return out;
}

std::string ToolCatalog::names_with_operations() const {
    std::vector<std::string_view> names;
    for (const KnownTool& tool : tools_) {
        if (!tool.operations.empty()) names.push_back(tool.name);
    }
    std::string out;
    for (std::size_t i = 0; i < names.size(); ++i)
        cat_to(out, cat(i == 0 ? "" : i + 1 == names.size() ? " and " : ", ", names[i]));
    return out;
}

// Facts that were counted under `other` keep their places under this catalog exactly then.
bool ToolCatalog::begins_with(const ToolCatalog& other) const {
    return size() >= other.size() &&
           std::equal(
               other.tools_.begin(), other.tools_.end(), tools_.begin(),
               [](const KnownTool& one, const KnownTool& same) { return one.name == same.name; });
}

}  // namespace quire::policy
