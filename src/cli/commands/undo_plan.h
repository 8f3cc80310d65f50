// UndoPlan: all that one `quire undo` takes back: blocks with the changes of each, and what commands changed beside texts.
//
// A plan is made first and shown with --dry-run; carrying it out fills in the answers. Blocks are
// undone one by one, so a plan may be carried out in part: each block then says what became of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/value.h"
#include "cli/commands/target.h"

namespace quire::cli {

class CommandClient;

// A block in which something is to be undone, and the result.
struct UndoneBlock {
    Target target;
    // The changes, newest first: {version_id, timestamp, actor, description}. None if it was refused at
    // once.
    List steps = {};
    std::optional<Error> refused = {};
    Value answer = {};  // {version, restored, removed, skipped_because_changed, file?}
    std::optional<Error> unsaved = {};  // Why the undone file could not be saved.
};

// The changes of a command beside texts: binary files, directories, links and permissions.
struct UndonePaths {
    std::string past;  // The name of the kernel's record.
    // {restored: [path], left: [{path, message}]}: before the undo what it would do.
    Value answer = {};
    std::optional<Error> lost = {};  // The record is not there any more.
};

struct UndoPlan {
    std::vector<UndoneBlock> blocks;
    std::vector<UndonePaths> paths;
    std::string command = {};  // The shell command that is undone; "" for other calls.
    bool is_call = false;      // One call is undone, whoever made its changes.
};

// The block that an entry of the kernel's log is about.
Target target_of(const Value& entry);
// The changes of a block that can be undone, the newest first, as `filter` selects them.
Result<List> steps_in(CommandClient& client, const std::string& block_id, Map filter);

// Plans the undo of a call. Numbers restart with the kernel, so the newest call of that number is meant.
// Errors: not_found "no_such_call"; not_found "nothing_to_undo".
Result<UndoPlan> plan_for_call(CommandClient& client, std::uint64_t number);
// Plans the undo of the last shell command that changed something: the actor's last, or anyone's.
// Errors: the same.
Result<UndoPlan> plan_for_last_command(CommandClient& client, const Map& filter);

}  // namespace quire::cli
