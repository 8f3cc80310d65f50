// One walk finds the paths that the rules hide, and a second one over the same list finds the other
// names of those files, by device and inode: a hidden file must not be seen under any name.
#include "kernel/commands/hidden_files.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <utility>

#include "base/concat.h"

namespace quire::kernel {

Result<std::vector<std::string>> files_hidden_from(FileGate& gate, const policy::Actor& by,
                                                   bool and_from_agents, std::size_t most) {
    const policy::Actor agent{policy::ActorKind::agent, by.name};
    std::vector<std::string> out;
    const std::shared_ptr<const FileRules> rules = gate.rules();
    const auto& all = rules->paths.rules();
    const bool any = std::any_of(all.begin(), all.end(), [](const policy::PathRule& rule) {
        return rule.escalated.has(policy::Operation::read);
    });
    if (!any) return out;
    fs::Listing listed = TRY(gate.files().list(most, {}));
    if (listed.truncated) {
        return fail(Errc::out_of_range, "too_large",
                    cat("the workspace has more than ", most,
                        " files, so those that the rules hide from commands cannot be told, and "
                        "no command runs"),
                    {{"limit", most}});
    }
    // A command meets all files, also those that no caller can name.
    std::vector<fs::Entry> entries = std::move(listed.entries);
    std::ranges::move(listed.unnamed, std::back_inserter(entries));
    std::set<std::pair<std::uint64_t, std::uint64_t>> files;
    const auto place_of = [](const fs::Entry& each) {
        return std::pair(each.stamp.device, each.stamp.inode);
    };
    for (const fs::Entry& each : entries) {
        const bool is_seen =
            gate.may_see(each.path, by) && (!and_from_agents || gate.may_see(each.path, agent));
        if (is_seen) continue;
        out.push_back(each.path);
        if (!each.is_link) files.insert(place_of(each));
    }
    const std::size_t named = out.size();
    for (const fs::Entry& each : entries) {
        if (!each.is_link && files.contains(place_of(each))) out.push_back(each.path);
    }
    if (out.size() == named) return out;
    std::ranges::sort(out);
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

}  // namespace quire::kernel
