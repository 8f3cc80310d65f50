// The commands of the program, one file each. What they are told comes parsed (program.h); what
// they return is the process's exit code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quire::cli {

// Exit codes.
constexpr int kDone = 0;
constexpr int kRefused = 1;  // It could not be done; standard error says why and what to do.
constexpr int kUsage = 2;    // The command line makes no sense.

// What every command may be told.
struct Globals {
    std::string workspace = ".";
    std::string actor = "agent:local";
    std::string profile;  // "" for the actor's own.
    bool json = false;
    std::string version;  // Of the program.
};

int init(const Globals& globals);
int mcp(const Globals& globals);

struct ServeOptions {
    std::string listen;  // "" for the Unix socket alone.
};
int serve(const Globals& globals, const ServeOptions& options);

struct KernelOptions {
    int ready_fd = -1;
};
int kernel_process(const Globals& globals, const KernelOptions& options);

struct CallOptions {
    std::string tool;
    std::string arguments = "{}";  // "-" for standard input.
};
int call(const Globals& globals, const CallOptions& options);

struct CatOptions {
    std::string what;  // A block's id or a file's path.
};
int print_block(const Globals& globals, const CatOptions& options);

struct EditOptions {
    std::string label;         // Or the block's id.
    std::string from;          // "" for the block as it is; a file that an edit left behind.
    bool print = false;        // The text alone, and no editor.
    bool actor_named = false;  // Whether the command line or the environment says who acts.
};
int edit_memory(const Globals& globals, const EditOptions& options);

struct ExportOptions {
    std::string agent;
    std::string file;
    bool force = false;        // Also over a file that is there.
    bool actor_named = false;  // As of EditOptions.
};
int export_memory(const Globals& globals, const ExportOptions& options);

struct ImportOptions {
    std::string file;
    std::string agent;   // "" for those that the file names.
    std::string rename;  // What comes behind labels that are taken; "" to refuse them.
    bool dry_run = false;
    bool actor_named = false;
};
int import_memory(const Globals& globals, const ImportOptions& options);

struct ContextOptions {
    std::string agent;
    std::size_t budget = 0;  // Tokens; 0 for as many as it takes.
};
int render_context(const Globals& globals, const ContextOptions& options);

struct ApprovalOptions {
    bool all = false;  // Of the list: what is over, too.
    std::string id;
    std::string decision;  // As the tool `approvals` has it.
    std::optional<std::int64_t> duration_s;
    bool scoped = false;
    std::string scope;  // "" for the block or file alone.
};
int list_approvals(const Globals& globals, const ApprovalOptions& options);
int answer_approval(const Globals& globals, const ApprovalOptions& options);

struct LogOptions {
    std::string actor;  // "" for everyone.
    std::size_t limit = 20;
};
int print_log(const Globals& globals, const LogOptions& options);

struct AuditOptions {
    std::string actor, tool, reason;  // "" for all.
    std::string since;                // A time, or how long ago: moment_of().
    bool refused = false;
    std::size_t limit = 50;
    bool all = false;                // However many there are.
    std::vector<std::string> heads;  // To look for, of verify.
};
int print_audit(const Globals& globals, const AuditOptions& options);
int verify_audit(const Globals& globals, const AuditOptions& options);
// "90s", "10m", "2h" and "3d" before now, or a timestamp (schema/timestamp.h), in ms since 1970.
std::optional<std::int64_t> moment_of(std::string_view text, std::int64_t now_ms);

struct UndoOptions {
    std::string what;  // A block id, or a path.
    bool redo = false;
    bool any = false;
};
int undo(const Globals& globals, const UndoOptions& options);

int status(const Globals& globals);

struct SourceOptions {
    std::string name;
    bool wait = false;  // Until the run has ended.
};
int list_sources(const Globals& globals);
int run_source(const Globals& globals, const SourceOptions& options);

struct MountCommandOptions {
    std::string name;
    std::string offer;  // What approve is for: a digest that show prints.
};
int list_mounts(const Globals& globals);
int show_mount(const Globals& globals, const MountCommandOptions& options);
int check_mount(const Globals& globals, const MountCommandOptions& options);
int approve_mount(const Globals& globals, const MountCommandOptions& options);

struct RuleOptions {
    std::string agent;
    std::string tool;
    std::string operation;  // "" for a tool without operations.
};
int describe_rules(const Globals& globals, const RuleOptions& options);
int check_rules(const Globals& globals);
// For a session in which nothing was called.
int explain_call(const Globals& globals, const RuleOptions& options);

struct DemoOptions {
    std::string workspace;  // "" for a small one of its own.
    double seconds = 5;
    bool keep = false;
};
int demo(const Globals& globals, const DemoOptions& options);

int doctor(const Globals& globals);
int engine();

// For completion: the commands that are shown, with their options.
struct CommandWords {
    std::string name;
    std::string description;
    std::vector<std::string> options;
    std::vector<std::string> subcommands = {};
};
// "" for a shell it does not know.
std::string completion_script(std::string_view shell, const std::vector<CommandWords>& commands);

}  // namespace quire::cli
