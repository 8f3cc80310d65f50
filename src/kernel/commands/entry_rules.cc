#include "kernel/commands/entry_rules.h"

#include <utility>

#include "fs/file_system.h"
#include "kernel/files/file_gate.h"

namespace quire::kernel {
namespace {

policy::Decision decide(FileGate& gate, const std::string& path, policy::Operation operation,
                        const policy::Actor& by) {
    if (policy::is_git_state(path))
        return gate.rules()->paths.decide_git_state(path, operation, by);
    fs::Place place{path, {}, fs::Kind::file};
    // The file's other names count too.
    if (auto found = gate.files().resolve(path); found && !found->linked())
        place.hard_links = std::move(found->hard_links);
    return gate.decide(place, operation, by);
}

}  // namespace

policy::Decision decide_entry(FileGate& gate, const std::string& path, bool is_directory,
                              policy::Operation operation, const policy::Actor& by) {
    // Rules name files. A pattern such as "src/**" fits what is in src and not src itself, so a
    // file in it is asked about too, and the kinder answer holds.
    policy::Decision decision = decide(gate, path, operation, by);
    if (!is_directory || decision.verdict == policy::Verdict::allow) return decision;
    policy::Decision in_it = decide(gate, path + "/x", operation, by);
    return in_it.verdict < decision.verdict ? in_it : decision;
}

}  // namespace quire::kernel
