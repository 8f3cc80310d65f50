#include "cli/commands/command_list.h"

#include "base/concat.h"
#include "policy/actor.h"

namespace quire::cli {

// The order is that of --help: setting up, reading and writing, looking back, trees and commands,
// the kernel, and what goes wrong.
std::vector<Command> all_commands() {
    return {init_command(),      mcp_command(),        serve_command(),        call_command(),
            cat_command(),       file_command(),       file_history_command(), memory_command(),
            edit_command(),      export_command(),     import_command(),       context_command(),
            approvals_command(), log_command(),        watch_command(),        blame_command(),
            search_command(),    diff_command(),       audit_command(),        undo_command(),
            rollback_command(),  view_command(),       views_command(),        land_command(),
            refresh_command(),   sh_command(),         hook_command(),         status_command(),
            stop_command(),      flush_command(),      sources_command(),      mounts_command(),
            rules_command(),     demo_command(),       doctor_command(),       fsck_command(),
            backup_command(),    restore_command(),    salvage_command(),      engine_command(),
            kernel_command(),    completion_command(), complete_command()};
}

std::string check_actor(const std::string& word) {
    const auto actor = policy::Actor::parse(word);
    return actor ? "" : actor.error().message();
}

std::string check_agent(const std::string& name) {
    return check_actor(cat("agent:", name));
}

}  // namespace quire::cli
