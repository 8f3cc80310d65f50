// The session of one of our own commands (quire call, cat, edit, export, import, log, blame, undo,
// sources, status): JSON-RPC on the kernel's socket with methods that MCP has not.
//
//   call   {tool, arguments}   -> {structured, text, is_error}
//   read   {uri}               -> {text, mime_type}, as resources/read
//   context {describes}        -> {pieces: [{name, text}]}, of the session's actor
//   revise {block_id, version_id, value}
//                              -> {label, block_id, version, changed, both: [place],
//                                  source?: {name, answer, message}}
//   owned  {owner}             -> {labels, unreadable}, of memory blocks
//   export {label}             -> {block}, as kernel/memory/carried.h has it
//   stage  {block}             -> {}, to be imported by this session
//   import {owner, suffix, dry_run}
//                              -> {blocks: [{from, label, block_id, version}]}
//   log    {actor?, limit?}    -> {entries: [entry]}
//   blame  {block_id}          -> {version, stretches: [{start, end, version_id, …}], text}
//   undoable {block_id, actor?, since?, version?}
//                              -> {steps: [{version_id, …}]}, newest first
//   undo   {block_id, actor?, since?, version?}
//                              -> {version, restored, removed, skipped_because_changed, file?}, of
//                                 all those steps; `file` is restored or deleted; not for memory
//   undo_command {past, dry_run}
//                              -> {restored: [path], left: [{path, message}]}, of what a command changed
//                                 beside texts; `past` is the member of its audit entry
//   hook_before {key, paths, hashes?}
//                              -> {files: [{path, actor, timestamp, seconds}], pending}: recent changes
//                                 by others. Until hook_after, changes of these paths are attributed to
//                                 the actor; with a hash, only a change to those bytes is
//   hook_after {key, paths}    -> {files: [{path, result, change_type?}], pending}
//   sources {}                 -> as source_report.h has it
//   run_source {name}          -> {source_id}, as Sources::run() replies
//   mounts {}                  -> {mounts: [row]}, as mounts/mount.h has them
//   mount  {name}              -> the whole row of one
//   check_mount {name}         -> the same, once it has been asked what it lists
//   approve_mount {name, offer}
//                              -> the same, once that is approved
//   adopt_tree {directory, actor}
//                              -> TreeRow (server/tree_rows.h); make_tree {directory, actor},
//                                 drop_tree {directory} and remove_tree {directory} likewise
//   trees {}                   -> TreeRows
//   claims {tree, paths}       -> ClaimRows, as seen from the tree; "" is the workspace
//   land {directory?, around, asks?}
//                              -> SyncedRows; refresh {directory?, around} likewise
//   audit {actor?, tool?, reason?, refused?, missed?, since?, before?, limit?}
//                              -> {entries: [{seq, hash, body}], next}; `body` is JSON as text
//   verify_audit {heads}       -> {entries, head, missing: [head], broken?: {seq, what}}
//   flush {}               -> {ref, commit, files, ignored}, once git has them
//   export_git {ref}       -> {ref, commit, commits, files, ignored}, once git has them
//   backup {file}          -> {}, once the copy is whole
//   salvage {directory}    -> {whole, partial, lost, has_audit, has_copy}
//   fsck {}                -> {documents, damaged, audit_entries, audit_head, findings}
//   status {}                  -> {version, documents, live_documents, resident_bytes, sessions,
//                                  calls, commits, unsaved: [{path, block_id, conflict}],
//                                  watch: {state, polled, poll_ms, files, folders, overflows,
//                                  rescans, says}, settings?}, the last
//                                 as SettingsWatch::report() has it
//   stop {}                    -> {}; then the kernel ends
//
// An entry is {block_id, path?, label?, owner?, conversation?, version_id, timestamp, actor,
// description}; "…" stands for its last three. An Error is answered as a
// JSON-RPC error whose data is {code, reason, message, details}.
//
// Members with "?" may be absent. An unknown method is answered with JSON-RPC's method_not_found,
// and every other error with internal_error, whose data tells the kernel's Error.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/value.h"
#include "kernel/core/caller.h"
#include "rpc/connection.h"
#include "rpc/in_flight.h"
#include "rpc/method.h"

namespace quire::kernel {
class CommandCalls;
class DiskWatch;
class FileCalls;
class GitFlush;
class Kernel;
class MemoryCalls;
class Sources;
class ViewCalls;
enum class Direction : std::uint8_t;
struct WhichTrees;
struct AuditQuery;
struct CarriedBlock;
}  // namespace quire::kernel
namespace quire::mcp {
class Service;
}
namespace quire::mounts {
class Mounts;
}

namespace quire::server {

class SettingsWatch;

// The transport calls it on its thread; replies come from any thread and outlive it. It answers
// requests in the order in which they are done, so a client tells answers apart by their ids.
class CommandSession final : public rpc::Session {
public:
    // The parts of a workspace that commands use; they outlive the session's replies.
    struct Workspace {
        kernel::Kernel& kernel;
        kernel::FileCalls& files;
        kernel::DiskWatch& watch;
        kernel::MemoryCalls& memory;
        kernel::Sources& sources;
        mounts::Mounts& mounts;
        kernel::GitFlush& git;
        kernel::ViewCalls& views;
        kernel::CommandCalls& commands;
        const SettingsWatch* settings = nullptr;  // Null where they never change.
        std::function<void()> stop = {};          // Ends the kernel.
    };
    // `service` serves what commands share with MCP clients: calls of tools, resources and the
    // rules in words. `caller` is the actor that the hello named; `version` is the program's.
    CommandSession(std::unique_ptr<mcp::Service> service, Workspace workspace,
                   kernel::Caller caller, std::shared_ptr<rpc::Connection> connection,
                   std::string version);
    CommandSession(const CommandSession&) = delete;
    CommandSession& operator=(const CommandSession&) = delete;
    ~CommandSession() override;

    // See rpc::Session. A batch is no message of this protocol: each request is a line of its own.
    void on_line(std::string line) override;
    void on_oversize(std::size_t bound, const std::string& id) override;
    bool is_busy() const override { return in_flight_->is_busy(); }
    void on_close() override;

private:
    using Method = rpc::Method<CommandSession, rpc::Answer>;
    static const Method kMethods[];

    // The methods. Each answers, at once or later.
    void call(const rpc::Answer& answer, std::string tool, std::optional<Value> arguments);
    void read(const rpc::Answer& answer, std::string uri);
    void context(const rpc::Answer& answer, bool describes);
    void revise(const rpc::Answer& answer, std::string block_id, std::string version_id,
                Value value);
    void owned(const rpc::Answer& answer, std::string owner);
    void export_block(const rpc::Answer& answer, std::string label);
    void stage(const rpc::Answer& answer, Value form);
    void import_staged(const rpc::Answer& answer, std::string owner, std::string suffix,
                       bool dry_run);
    void sources(const rpc::Answer& answer);
    void run_source(const rpc::Answer& answer, std::string name);
    void mounts(const rpc::Answer& answer);
    void mount(const rpc::Answer& answer, std::string name);
    void check_mount(const rpc::Answer& answer, std::string name);
    void approve_mount(const rpc::Answer& answer, std::string name, std::string offer);
    void log(const rpc::Answer& answer, std::optional<std::string> actor,
             std::optional<std::size_t> limit);
    void blame(const rpc::Answer& answer, std::string block_id);
    void undoable(const rpc::Answer& answer, std::string block_id, std::optional<std::string> actor,
                  std::optional<std::int64_t> since, std::optional<std::uint64_t> version);
    void undo(const rpc::Answer& answer, std::string block_id, std::optional<std::string> actor,
              std::optional<std::int64_t> since, std::optional<std::uint64_t> version);
    void undo_command(const rpc::Answer& answer, std::string past, bool dry_run);
    void hook_before(const rpc::Answer& answer, std::string key, std::vector<std::string> paths,
                     std::optional<std::vector<std::string>> hashes);
    void hook_after(const rpc::Answer& answer, std::string key, std::vector<std::string> paths);
    void adopt_tree(const rpc::Answer& answer, std::string directory, std::string actor);
    void make_tree(const rpc::Answer& answer, std::string directory, std::string actor);
    void drop_tree(const rpc::Answer& answer, std::string directory);
    void remove_tree(const rpc::Answer& answer, std::string directory);
    void claims(const rpc::Answer& answer, std::string tree, std::vector<std::string> paths);
    void trees(const rpc::Answer& answer);
    void land(const rpc::Answer& answer, std::optional<std::string> directory, std::string around,
              std::optional<bool> asks);
    void refresh(const rpc::Answer& answer, std::optional<std::string> directory,
                 std::string around);
    // Adds a tree's calls to the log under `name`.
    template <class Work>
    void on_tree(const rpc::Answer& answer, const char* name, Map arguments, Work work);
    void sync_trees(const rpc::Answer& answer, const char* name, kernel::WhichTrees which,
                    kernel::Direction direction);
    void audit(const rpc::Answer& answer, kernel::AuditQuery query);
    void verify_audit(const rpc::Answer& answer, std::vector<std::string> heads);
    void flush(const rpc::Answer& answer);
    void export_git(const rpc::Answer& answer, std::string ref);
    void backup(const rpc::Answer& answer, std::string file);
    void salvage(const rpc::Answer& answer, std::string directory);
    void fsck(const rpc::Answer& answer);
    void status(const rpc::Answer& answer);
    void stop(const rpc::Answer& answer);

    // The caller for one request: it is cancelled when the client goes.
    kernel::Caller caller(const rpc::Answer& answer) const;

    std::unique_ptr<mcp::Service> service_;
    Workspace workspace_;
    kernel::Caller caller_;
    std::shared_ptr<rpc::Connection> connection_;
    std::shared_ptr<rpc::InFlight> in_flight_;
    std::string version_;
    // The blocks for the next import, in the order in which they came.
    std::vector<kernel::CarriedBlock> staged_;
};

}  // namespace quire::server
