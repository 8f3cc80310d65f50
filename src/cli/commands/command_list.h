// The commands of the program, in the order in which --help prints them.
#pragma once

#include <string>
#include <vector>

#include "cli/commands/command.h"

namespace quire::cli {

// One function for each NAME_command.cc; those made from tools are in operation_commands.cc.
Command init_command();
Command mcp_command();
Command serve_command();
Command call_command();
Command cat_command();
Command edit_command();
Command export_command();
Command import_command();
Command context_command();
Command approvals_command();
Command file_command();
Command file_history_command();
Command memory_command();
Command log_command();
Command watch_command();
Command blame_command();
Command search_command();
Command diff_command();
Command rollback_command();
Command audit_command();
Command view_command();
Command views_command();
Command land_command();
Command refresh_command();
Command sh_command();
Command hook_command();
Command undo_command();
Command status_command();
Command stop_command();
Command flush_command();
Command sources_command();
Command mounts_command();
Command rules_command();
Command demo_command();
Command doctor_command();
Command fsck_command();
Command backup_command();
Command restore_command();
Command salvage_command();
Command engine_command();
Command kernel_command();
Command completion_command();
Command complete_command();

// Built anew by each call.
std::vector<Command> all_commands();

// Checks for CLI11: "" for a word that is an actor, or an agent's name; else what is wrong with it.
std::string check_actor(const std::string& word);
std::string check_agent(const std::string& name);

}  // namespace quire::cli
