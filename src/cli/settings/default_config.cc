// The quire.toml that `quire init` writes.
//
// Its rules suit a source tree: code and texts may be written, deletions are asked for, secrets are
// read-only, and what a build service runs needs approval. Everything else stands in comments, so
// that the file is also the list of settings. Tests parse it as it is, and with the settings in
// comments as settings.
#include "cli/settings/config.h"

namespace quire::cli {
namespace {

constexpr std::string_view kDefaultConfig =
    R"(# What agents may do in this workspace. Agents cannot change this file.

# Rules for files. The first rule whose pattern matches decides; a file that no rule matches is read_only.
#   pattern     * ? [ ] stay within a path component, ** crosses them; a pattern without "/" matches the name
#               of a file in any directory, any other is a path from here.
#   encoding    of files that are neither UTF-8 nor marked as UTF-16, such as "latin-1" or "windows-1252"
#   permission  read_only, partner, human (a person approves), append, read_write, admin
# .git/, .quire/, hooks and this file are protected whatever the rules say.

[files]
save = "on_commit"                      # an edit of a file is on the disk when it is answered; or "explicit"
# ignore = [".gitignore", ".loroignore"]   # these files say what lists leave out
# never_merge = ["*.lock", "package-lock.json"]   # changed on both sides, these are a conflict as a whole

# [files.git]                            # commits of the files to a ref of Quire's own; `quire flush` makes one at once
# ref = "refs/quire/main"
# after_s = 30                           # of silence

# Agents may not change files that hold secrets.
[[files.rules]]
pattern = "{.env,.env.*,*.pem,*.key,id_rsa,id_ed25519,credentials*,secrets*}"
permission = "read_only"

# Changes to what a build or a service runs need a person's approval.
[[files.rules]]
pattern = ".github/**"
permission = "human"

[[files.rules]]
pattern = "{src,lib,include,app,pkg,cmd,internal,web}/**"
permission = "read_write"
operations_requiring_escalation = ["delete"]

[[files.rules]]
pattern = "{test,tests,docs,doc,examples,bench,scripts}/**"
permission = "read_write"
operations_requiring_escalation = ["delete"]

[[files.rules]]
pattern = "*.{md,txt}"
permission = "read_write"
operations_requiring_escalation = ["delete"]

# A place where agents may also delete.
[[files.rules]]
pattern = "scratch/**"
permission = "admin"

# A compiler's findings in this workspace, as a memory block that agents read; docs/sources.md. The
# programs that this file and compile_commands.json name are run, so agents must not be able to
# write that file.
# [sources.diagnostics]
# compile_commands = "build/compile_commands.json"
# tool = "clang-tidy"                   # or a compiler; without it, the compiler of each entry
# label = "diagnostics"                 # of the block
# timeout_s = 120                       # of one check
# jobs = 1                              # checks at once

# If an agent's program can show a question, the approvals that its calls need are asked for there, and the
# answer counts as that of the person who runs it. false: approvals are answered by quire approvals alone.
# [approvals]
# elicitation = true

# [limits]
# message_bytes = 8388608               # longer messages are refused
# in_flight_bytes = 67108864            # requests and answers of all clients together; more have to wait
# resident_bytes = 268435456            # documents in memory; what is idle and was used longest ago leaves first
# block_bytes = 16777216
# operation_bytes = 1048576
# read_lines = 2000

# Rules for tools: which operations an agent sees, how often it may call, in which order; docs/rules.md.
# quire rules check reports rules that cannot be met.
# [[tools.rules]]
# tool = "file"
# type = "allowed_operations"
# value = ["list", "read", "status"]
# [[tools.rules]]
# tool = "*"                            # each tool on its own
# type = "max_calls"
# value = 100
# per = "session"                       # or "conversation", "persistent"
# [[agents.ada.tools.rules]]            # one agent's own, which come after the common ones and narrow them
# tool = "file"
# type = "allowed_operations"
# value = ["list"]

# Another program's MCP server: its tools are listed as fs_…, and rules for tools apply to them too;
# docs/mounts.md. The tools that it lists when it first runs are approved by this line; a later change needs a
# person's approval.
# [tools.mount.fs]
# command = ["npx", "-y", "@modelcontextprotocol/server-filesystem", "."]   # no shell reads it
# env = { LOG_LEVEL = "warn" }          # beside PATH, HOME and the like
# timeout_s = 60                        # of one call

# The settings of one agent.
# [agents.ada]
# profile = "model"                     # model, full, compat; where its client names none

# Commands of the shell (docs/shell.md).
# [shell]
# enforcement = "strict"                # strict, warned, audit, none
# network = false
# timeout_s = 120
# output_bytes = 10485760               # of each stream; the end is kept
# processes = 512
# memory_bytes = 4294967296
# disk_bytes = 10737418240

# Adopted trees: agents in work trees of their own (docs/views.md).
# [views]
# land = "turn"                         # turn, ask, manual: when the agent's hooks land its changes

# How models see memory blocks, and templates for blocks beside the built-in ones (docs/memory.md).
# [memory]
# render = "tags"                       # tags, plain
# [memory.templates.bug_report]
# description = "A fault and how to see it"
# schema = { Map = { fields = [ { name = "title", field_type = "Text", required = true } ] } }
# [memory.tools]
# labels = ["partner_profile"]          # a tool remember_partner_profile for those who may write that block
)";

}  // namespace

std::string_view default_config() {
    return kDefaultConfig;
}

}  // namespace quire::cli
