// The commands' methods about the past: the log, blame and undo. Part of CommandSession.
//
// A file, a memory block and a block of a conversation keep their history in different rooms of the
// kernel. Each method asks place_of() which of them an id names and calls the room that has it. An
// undo is a call like any other: it is admitted, and its limits are among the logged arguments. A
// blame is logged as reading, because it answers the whole text.
#include <algorithm>
#include <limits>
#include <utility>

#include "base/utf8.h"
#include "kernel/commands/command_calls.h"
#include "kernel/core/kinds.h"
#include "kernel/files/file_calls.h"
#include "kernel/memory/memory_calls.h"
#include "kernel/oversight/admission.h"
#include "server/command_replies.h"
#include "server/command_session.h"
#include "text/utc_time.h"

namespace quire::server {
namespace {

// The entries of a log when no limit is given.
constexpr std::size_t kLogEntries = 50;

// Appends who made an entry of history, when and how.
void append_entry(Map& to, kernel::HistoryEntry entry) {
    to.append("version_id", std::move(entry.version_id));
    to.append("timestamp", text::utc_time(entry.timestamp));
    to.append("actor", std::move(entry.actor));
    to.append("description", std::move(entry.description));
}

}  // namespace

void CommandSession::log(const rpc::Answer& answer, std::optional<std::string> actor,
                         std::optional<std::size_t> limit) {
    auto of = actor_named(actor.value_or(""));
    if (!of) return answer_error(answer, of.error());
    workspace_.kernel.log(
        caller(answer), std::move(*of), limit.value_or(kLogEntries),
        replying<std::vector<kernel::LogEntry>>(answer, [](std::vector<kernel::LogEntry> entries) {
            List out;
            for (kernel::LogEntry& each : entries) {
                Map entry{{"block_id", std::move(each.block_id)}};
                const auto name = [&](std::string_view member, std::string& value) {
                    if (!value.empty()) entry.append(std::string(member), std::move(value));
                };
                name("path", each.path);
                name("label", each.label);
                name("owner", each.owner);
                name("conversation", each.conversation);
                append_entry(entry, std::move(each.entry));
                out.push_back(std::move(entry));
            }
            return Map{{"entries", std::move(out)}};
        }));
}

// Stretches of lines and the text apart: a line of its own for each would be many times as long.
void CommandSession::blame(const rpc::Answer& answer, std::string block_id) {
    kernel::Admission(workspace_.kernel)
        .run<kernel::Blame>(
            caller(answer),
            {.name = "blame", .arguments = Map{{"block_id", block_id}}, .reads = true},
            replying<kernel::Blame>(answer,
                                    [](kernel::Blame blame) {
                                        List stretches;
                                        for (kernel::Blame::Stretch& each : blame.stretches) {
                                            Map stretch{{"start", each.begin}, {"end", each.end}};
                                            append_entry(stretch, std::move(each.entry));
                                            stretches.push_back(std::move(stretch));
                                        }
                                        return Map{{"version", blame.version},
                                                   {"stretches", std::move(stretches)},
                                                   {"text", std::move(blame.text)}};
                                    }),
            [&kernel = workspace_.kernel, &memory = workspace_.memory, block_id](
                const kernel::Caller& by, auto blamed) {
                if (kernel.place_of(block_id).kind == kernel::kMemoryKind)
                    return memory.blame(by, block_id, std::move(blamed));
                kernel.blame(by, block_id, std::move(blamed));
            });
}

// A list of what undo() would take with the same arguments, for a person to confirm. It reads only,
// so it passes no admission. Steps may be added between the two calls; undo() decides anew.
void CommandSession::undoable(const rpc::Answer& answer, std::string block_id,
                              std::optional<std::string> actor, std::optional<std::int64_t> since,
                              std::optional<std::uint64_t> version) {
    const bool is_file = workspace_.kernel.place_of(block_id).kind == kernel::kFileKind;
    kernel::UndoWhich which{std::move(actor), since, version};
    auto reply = replying<std::vector<kernel::HistoryEntry>>(
        answer, [](std::vector<kernel::HistoryEntry> entries) {
            List steps;
            for (kernel::HistoryEntry& each : entries) {
                Map step;
                append_entry(step, std::move(each));
                steps.push_back(std::move(step));
            }
            return Map{{"steps", std::move(steps)}};
        });
    if (is_file) {
        workspace_.files.undoable(caller(answer), std::move(block_id), std::move(which),
                                  std::move(reply));
    } else {
        workspace_.kernel.undoable(caller(answer), std::move(block_id), std::move(which),
                                   std::move(reply));
    }
}

// Only limits that were given are logged. Files go through FileCalls, because undoing may have to
// restore or delete the file on the disk. `file` tells what became of it, and is left out where it
// is as before.
void CommandSession::undo(const rpc::Answer& answer, std::string block_id,
                          std::optional<std::string> actor, std::optional<std::int64_t> since,
                          std::optional<std::uint64_t> version) {
    Map arguments{{"block_id", block_id}};
    if (actor) arguments.append("actor", *actor);
    if (since) arguments.append("since", *since);
    if (version) arguments.append("version", *version);
    kernel::Admission(workspace_.kernel)
        .run<kernel::Undone>(
            caller(answer), {.name = "undo", .arguments = std::move(arguments)},
            replying<kernel::Undone>(
                answer,
                [](const kernel::Undone& undone) {
                    using File = kernel::Undone::File;
                    Map out{{"version", undone.version},
                            {"restored", undone.restored},
                            {"removed", undone.removed},
                            {"skipped_because_changed", undone.skipped_because_changed}};
                    if (undone.file != File::as_before)
                        out.append("file", undone.file == File::restored ? "restored" : "deleted");
                    return out;
                }),
            [&kernel = workspace_.kernel, block_id, files = &workspace_.files,
             which = kernel::UndoWhich{std::move(actor), since, version}](const kernel::Caller& by,
                                                                          auto undone) mutable {
                if (kernel.place_of(block_id).kind == kernel::kFileKind)
                    return files->undo_block(by, block_id, std::move(which), std::move(undone));
                kernel.undo(by, block_id, std::move(which), std::move(undone));
            });
}

// Logged under the name `undo`, like the undo of a block: for a reader of the log the act is one.
// Paths on a disk may be no UTF-8, and JSON can hold nothing else, so their bad bytes are replaced
// in the answer.
void CommandSession::undo_command(const rpc::Answer& answer, std::string past, bool dry_run) {
    const Map arguments{{"past", past}, {"dry_run", dry_run}};
    kernel::Admission(workspace_.kernel)
        .run<kernel::CommandUndone>(
            caller(answer), {.name = "undo", .arguments = arguments, .reads = dry_run},
            replying<kernel::CommandUndone>(
                answer,
                [](const kernel::CommandUndone& undone) {
                    List restored, left;
                    for (const std::string& path : undone.restored)
                        restored.emplace_back(utf8::repaired(path));
                    for (const auto& [path, why] : undone.left) {
                        left.emplace_back(
                            Map{{"path", utf8::repaired(path)}, {"message", utf8::repaired(why)}});
                    }
                    return Map{{"restored", std::move(restored)}, {"left", std::move(left)}};
                }),
            [&commands = workspace_.commands, past, dry_run](const kernel::Caller& by,
                                                             auto undone) mutable {
                commands.undo(by, std::move(past), dry_run, std::move(undone));
            });
}

}  // namespace quire::server
