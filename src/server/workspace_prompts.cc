// Each prompt asks the kernel for what it tells, one question after another, and puts the answers
// into sentences. O(entries told), and for handoff O(files that were opened).
//
// The text is an instruction to a model, in which names and descriptions were written by others:
// paths, labels and conversations pass through escape_hidden(), so a name with invisible characters
// or line breaks cannot pretend to be a sentence of ours. A call that the text proposes is written
// as the client's profile knows it, and a session that has no undoing tool is told the command that
// a person runs.
#include "server/workspace_prompts.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/concat.h"
#include "json/json.h"
#include "kernel/core/block_reads.h"
#include "kernel/core/kinds.h"
#include "kernel/oversight/approval_calls.h"
#include "memory/timestamp.h"
#include "text/escape_hidden.h"

namespace quire::server {
namespace {

using kernel::LogEntry;

constexpr std::size_t kChanges = 20;  // How many of the last changes a prompt tells.
constexpr std::size_t kListed = 50;   // How many files or blocks of one state.

// A name as a reader sees all of it.
std::string safe(const std::string& name) {
    return text::escape_hidden(name);
}

// How a call names the block, and the caller names it among its own.
std::string address_of(const LogEntry& entry, const policy::Actor& by) {
    if (!entry.path.empty()) return kernel::file_address(entry.path);
    if (entry.label.empty()) return entry.block_id;
    const bool own = entry.owner == by.str();
    return own ? entry.label : cat(entry.owner, "/", entry.label);
}

// The block as a reader knows it, with its id beside it.
std::string name_of_block(const LogEntry& entry) {
    if (!entry.path.empty()) return cat(safe(entry.path), " (", entry.block_id, ")");
    if (entry.label.empty())
        return cat(entry.block_id, " in conversation ", safe(entry.conversation));
    return cat("memory ", safe(cat(entry.owner, "/", entry.label)), " (", entry.block_id, ")");
}

std::string change_line(const LogEntry& entry) {
    return cat("- ", memory::format_timestamp(entry.entry.timestamp), " ", entry.entry.actor, ": ",
               safe(entry.entry.description), ", ", name_of_block(entry), ", version ",
               entry.entry.version_id, "\n");
}

std::string changes_text(const std::vector<LogEntry>& entries) {
    std::string out;
    for (const LogEntry& entry : entries) out += change_line(entry);
    return out.empty() ? "- none yet\n" : out;
}

// The call of a tool that takes back the caller's last change of the block.
std::string undo_call(const LogEntry& entry, const tools::Session& session) {
    const std::string address = address_of(entry, session.caller.actor);
    if (!entry.label.empty()) {
        return cat("context ", json::write(Value(Map{{"operation", "undo"}, {"label", address}})));
    }
    if (session.profile == tools::Profile::compat)
        return cat("quire undo ", safe(entry.path.empty() ? entry.block_id : entry.path),
                   ", which a person runs");
    return cat("block_undo ", json::write(Value(Map{{"block_id", address}})));
}

// A person types the target, so every form is accepted in which any tool or listing names a block:
// its id, its path, its label with or without the owner, and the addresses file:PATH and
// memory:LABEL. An empty target means all.
bool is_about(const LogEntry& entry, const std::string& target) {
    return target.empty() || target == entry.block_id || target == entry.path ||
           target == entry.label || target == cat(entry.owner, "/", entry.label) ||
           target == kernel::file_address(entry.path) || target == cat("memory:", entry.label);
}

// The changes are all listed, and each block gets one call: undoing takes back the newest change
// that still stands, and repeating the call goes on to the one before.
std::string undo_text(const std::vector<LogEntry>& entries, const tools::Session& session,
                      const std::string& target) {
    std::string changes;
    std::string calls;
    std::set<std::string> named;
    for (const LogEntry& entry : entries) {
        if (!is_about(entry, target)) continue;
        changes += change_line(entry);
        if (named.insert(entry.block_id).second)
            calls += cat("- ", name_of_block(entry), ": ", undo_call(entry, session), "\n");
    }
    if (changes.empty()) {
        return cat("You have changed nothing ", target.empty() ? "here" : cat("in ", safe(target)),
                   " yet: there is nothing to undo.\n");
    }
    return cat("Take back what you changed last. Your changes here, the newest first:\n", changes,
               "\nEach call takes back your newest change of that block that still stands; what "
               "others changed since stays:\n",
               calls,
               "\nAsk which of them are meant, unless that is clear, and take back those.\n");
}

std::string approval_target(const policy::Target& target) {
    return target.kind == "file" ? safe(target.name)
                                 : cat("the ", target.kind, " ", safe(target.name));
}

std::string waiting_line(const policy::Approval& approval) {
    return cat("- ", approval.id, ": ", approval.ask.actor.str(), " asks to ",
               name_of(approval.ask.operation), " ", approval_target(approval.ask.target), "\n");
}

std::string approve_text(const std::vector<policy::Approval>& waiting) {
    if (waiting.empty()) return "Nothing waits for a person's approval.\n";
    std::string out = "These calls wait for a person's approval:\n";
    for (const policy::Approval& approval : waiting) {
        out += waiting_line(approval);
        if (!approval.description.empty()) out += cat("  ", approval.description, "\n");
        out += cat("  quire approvals approve ", approval.id, "\n  quire approvals deny ",
                   approval.id, "\n");
    }
    return cat(out,
               "\nOnly a person answers them, by these commands. Show the list, and say what each "
               "call would do. Once one is approved, the same call goes through.\n");
}

// A heading with at most kListed lines below it and the number of those that are left out. Where
// `goes_on`, there are more than `all`, and nobody has counted them.
std::string section(std::string_view heading, const std::vector<std::string>& all,
                    bool goes_on = false) {
    std::string out;
    for (std::size_t i = 0; i < all.size() && i < kListed; ++i) out += cat("- ", all[i], "\n");
    if (goes_on) {
        out += "- and more\n";
    } else if (all.size() > kListed) {
        out += cat("- and ", all.size() - kListed, " more\n");
    }
    return cat("\n", heading, ":\n", out.empty() ? "- nothing\n" : out);
}

// The facts that handoff() has gathered so far.
struct State {
    std::vector<LogEntry> changes;
    std::vector<std::string> dirty, conflicting, running;
    bool more_are_running = false;
    std::vector<policy::Approval> waiting;
};

std::string handoff_text(const State& state) {
    std::string waiting;
    for (const policy::Approval& approval : state.waiting) waiting += waiting_line(approval);
    return cat(
        "Go on with the work in this workspace. This is where it stands, by its log.\n\n"
        "The last changes, the newest first:\n",
        changes_text(state.changes), section("Files with edits that are not saved", state.dirty),
        section("Files whose disk and document changed the same words", state.conflicting),
        section("Blocks that are running", state.running, state.more_are_running),
        "\nWaiting for a person's approval:\n", waiting.empty() ? "- nothing\n" : waiting,
        "\nRead what you go on with before you change it: others may still be at work.\n");
}

}  // namespace

std::vector<mcp::Prompt> WorkspacePrompts::all() {
    return {
        {"undo",
         "Take back my last changes",
         "Your last changes in this workspace, and the calls that take them back.",
         {{"target",
           "Only changes of this file, memory block or block: a path, a label or an "
           "id."}}},
        {"approve",
         "What waits for approval",
         "The calls that wait for a person's approval, and the commands that answer them.",
         {{"approval_id", "Only this one."}}},
        {"handoff",
         "Take over the work here",
         "The last 20 changes, and what is not saved, conflicting, running or waiting.",
         {}},
        {std::string(kRecall),
         "Recall what is remembered",
         "An agent's core and pinned memory, and the rules for its tools, as it is told at the "
         "start.",
         {{"agent", "The agent's name: an agent's own unless given, and a person names one."}}}};
}

void WorkspacePrompts::get(const tools::Session& session, const std::string& name,
                           const Map& arguments, Reply<mcp::PromptText> reply) const {
    const auto argument = [&](std::string_view which) {
        const Value* const value = arguments.find(which);
        return value == nullptr ? std::string() : value->as_string();
    };
    if (name == "undo") return undo(session, argument("target"), std::move(reply));
    if (name == "approve")
        return approve(session.caller, argument("approval_id"), std::move(reply));
    handoff(session.caller, std::move(reply));
}

// Only the caller's own changes are asked for, so the prompt never proposes to undo another's work.
void WorkspacePrompts::undo(const tools::Session& session, const std::string& target,
                            Reply<mcp::PromptText> reply) const {
    kernel_.log(
        session.caller, session.caller.actor, kChanges,
        [session, target, reply = std::move(reply)](Result<std::vector<LogEntry>> entries) mutable {
            if (!entries) return reply(Failure(std::move(entries).error()));
            reply(
                mcp::PromptText{"Take back my last changes", undo_text(*entries, session, target)});
        });
}

void WorkspacePrompts::approve(const kernel::Caller& by, const std::string& approval_id,
                               Reply<mcp::PromptText> reply) const {
    std::vector<policy::Approval> waiting = kernel::ApprovalCalls(kernel_).waiting(by);
    if (!approval_id.empty())
        std::erase_if(waiting, [&](const auto& each) { return each.id != approval_id; });
    reply(mcp::PromptText{"What waits for approval", approve_text(waiting)});
}

// Three questions follow each other: the log, the state of files, the running blocks. Each reply
// holds the next one, so they are built from the last to the first. An error of any of them is
// passed along the chain, and the prompt fails with it. Only as many running blocks are asked for as
// are shown: the page tells whether there are more, and to count them would cost a walk over all.
void WorkspacePrompts::handoff(const kernel::Caller& by, Reply<mcp::PromptText> reply) const {
    auto state = std::make_shared<State>();
    state->waiting = kernel::ApprovalCalls(kernel_).waiting(by);
    kernel::ListQuery running;
    running.status = conversation::Status::running;
    running.depth = 0;
    running.limit = kListed;
    const auto answer = [state](Reply<mcp::PromptText>& to) {
        to(mcp::PromptText{"Take over the work here", handoff_text(*state)});
    };
    Reply<kernel::ListPage> listed =
        [state, answer, reply = std::move(reply)](Result<kernel::ListPage> page) mutable {
            if (!page) return reply(Failure(std::move(page).error()));
            state->more_are_running = !page->next_cursor.empty();
            for (const kernel::BlockInfo& block : page->blocks) {
                if (block.marks.is_hidden()) continue;
                state->running.push_back(
                    cat(block.block_id, " ", block.kind, " ", safe(block.summary)));
            }
            answer(reply);
        };
    Reply<std::vector<kernel::FileStatus>> looked =
        [state, by, &kernel = kernel_, running,
         listed = std::move(listed)](Result<std::vector<kernel::FileStatus>> files) mutable {
            if (!files) return listed(Failure(std::move(files).error()));
            for (const kernel::FileStatus& file : *files) {
                std::string name = cat(safe(file.file.path), " (", file.file.block_id, ")");
                if (file.conflict) state->conflicting.push_back(name);
                if (file.dirty) state->dirty.push_back(std::move(name));
            }
            kernel.list(by, std::move(running), std::move(listed));
        };
    kernel_.log(by, std::nullopt, kChanges,
                [state, by, &files = files_,
                 looked = std::move(looked)](Result<std::vector<LogEntry>> entries) mutable {
                    if (!entries) return looked(Failure(std::move(entries).error()));
                    state->changes = std::move(*entries);
                    files.status(by, std::nullopt, std::move(looked));
                });
}

// The targets that are offered are the blocks that the caller changed last: nothing else can be
// undone. A file is offered by its path alone, as people type it.
void WorkspacePrompts::complete(const kernel::Caller& by, const mcp::Typing& typing,
                                Reply<mcp::Completions> reply) const {
    if (typing.prompt == "approve" && typing.argument == "approval_id") {
        std::vector<std::string> ids;
        for (const policy::Approval& each : kernel::ApprovalCalls(kernel_).waiting(by))
            ids.push_back(each.id);
        return reply(mcp::completions_of(ids, typing.value));
    }
    if (typing.prompt != "undo" || typing.argument != "target") return reply(mcp::Completions{});
    kernel_.log(
        by, by.actor, kListed,
        [by, typed = typing.value,
         reply = std::move(reply)](Result<std::vector<LogEntry>> entries) mutable {
            if (!entries) return reply(Failure(std::move(entries).error()));
            std::vector<std::string> names;
            for (const LogEntry& entry : *entries)
                names.push_back(entry.path.empty() ? address_of(entry, by.actor) : entry.path);
            reply(mcp::completions_of(names, typed));
        });
}

}  // namespace quire::server
