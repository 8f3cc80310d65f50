// Serves the commands. A line of JSON-RPC is looked up in kMethods, a table with a row per method:
// its name, its function, and the names of its parameters, from which the params are decoded. Calls
// that may change something pass kernel::Admission, like calls of tools, so the audit log has them.
// Each function starts a call of the kernel and answers in its reply; at most 64 calls of a session
// run at once.
//
// Most functions have one shape: the facts for the log, replying() with a function that turns the
// kernel's value into the members of the answer, and the call itself as a lambda. The function of
// the answer uses no member of the session: it may run when the client is gone. Further methods are
// in command_history.cc, command_hooks.cc and command_trees.cc.
#include "server/command_session.h"

#include <algorithm>
#include <utility>

#include "base/concat.h"
#include "json/fields.h"
#include "json/json.h"
#include "kernel/core/sources.h"
#include "kernel/files/disk_watch.h"
#include "kernel/files/file_calls.h"
#include "kernel/files/git_flush.h"
#include "kernel/memory/carried.h"
#include "kernel/memory/memory_calls.h"
#include "kernel/oversight/admission.h"
#include "kernel/oversight/audit_calls.h"
#include "kernel/recovery/recovery_calls.h"
#include "mcp/service.h"
#include "mounts/mounts.h"
#include "rpc/jsonrpc.h"
#include "rpc/method.h"
#include "server/agent_context.h"
#include "server/command_replies.h"
#include "server/settings_watch.h"
#include "server/source_report.h"
#include "tools/memory_fields.h"

namespace quire::json {

template <>
struct FieldsOf<kernel::AuditQuery> {
    static Fields<kernel::AuditQuery> fields() {
        using kernel::AuditQuery;
        return Fields<AuditQuery>()
            .optional("actor", &AuditQuery::actor)
            .optional("tool", &AuditQuery::tool)
            .optional("reason", &AuditQuery::reason)
            .optional("refused", &AuditQuery::refused)
            .optional("missed", &AuditQuery::missed)
            .optional("since", &AuditQuery::since_ms)
            .optional("before", &AuditQuery::before)
            .optional("limit", &AuditQuery::limit);
    }
};

}  // namespace quire::json

namespace quire::server {
namespace {

// At this many open calls the connection's input is held until half of them are answered.
constexpr std::size_t kMostInFlight = 64;

Map row_map(Value row) {
    return std::move(row.as_map());
}

// Another program's answer, with its content in the one place where a command looks.
void answer_whole(tools::EncodedResult& result) {
    Map out{{"content", std::move(*result.content)}};
    if (!result.structured.is_null()) out.append("structuredContent", std::move(result.structured));
    if (!result.is_error) {
        result.structured = std::move(out);
        return;
    }
    result.structured =
        Map{{"error",
             rpc::error_value({Errc::unavailable, "tool_failed", result.text, std::move(out)})}};
}

// A log is read in pieces, none longer than a message may be.
constexpr std::size_t kMostAuditEntries = 10'000;

Map watch_report(const fs::TreeStatus& status) {
    List polled;
    for (const std::string& folder : status.polled)
        polled.emplace_back(folder.empty() ? "." : folder);
    return {{"state", name_of(status.state)}, {"polled", std::move(polled)},
            {"poll_ms", status.poll_ms},      {"files", status.files},
            {"folders", status.folders},      {"overflows", status.overflows},
            {"rescans", status.rescans},      {"says", kernel::watch_words(status)}};
}

}  // namespace

// A row's names stand in the order of the function's parameters. A parameter that is a
// std::optional may be left out of a request; the others are required.
const CommandSession::Method CommandSession::kMethods[] = {
    rpc::method<&CommandSession::call>("call", "tool", "arguments"),
    rpc::method<&CommandSession::read>("read", "uri"),
    rpc::method<&CommandSession::context>("context", "describes"),
    rpc::method<&CommandSession::revise>("revise", "block_id", "version_id", "value"),
    rpc::method<&CommandSession::owned>("owned", "owner"),
    rpc::method<&CommandSession::export_block>("export", "label"),
    rpc::method<&CommandSession::stage>("stage", "block"),
    rpc::method<&CommandSession::import_staged>("import", "owner", "suffix", "dry_run"),
    rpc::method<&CommandSession::log>("log", "actor", "limit"),
    rpc::method<&CommandSession::blame>("blame", "block_id"),
    rpc::method<&CommandSession::undoable>("undoable", "block_id", "actor", "since", "version"),
    rpc::method<&CommandSession::undo>("undo", "block_id", "actor", "since", "version"),
    rpc::method<&CommandSession::undo_command>("undo_command", "past", "dry_run"),
    rpc::method<&CommandSession::hook_before>("hook_before", "key", "paths", "hashes"),
    rpc::method<&CommandSession::hook_after>("hook_after", "key", "paths"),
    rpc::method<&CommandSession::adopt_tree>("adopt_tree", "directory", "actor"),
    rpc::method<&CommandSession::make_tree>("make_tree", "directory", "actor"),
    rpc::method<&CommandSession::drop_tree>("drop_tree", "directory"),
    rpc::method<&CommandSession::remove_tree>("remove_tree", "directory"),
    rpc::method<&CommandSession::claims>("claims", "tree", "paths"),
    rpc::method<&CommandSession::trees>("trees"),
    rpc::method<&CommandSession::land>("land", "directory", "around", "asks"),
    rpc::method<&CommandSession::refresh>("refresh", "directory", "around"),
    rpc::method<&CommandSession::audit>("audit", json::kAllMembers),
    rpc::method<&CommandSession::verify_audit>("verify_audit", "heads"),
    rpc::method<&CommandSession::sources>("sources"),
    rpc::method<&CommandSession::run_source>("run_source", "name"),
    rpc::method<&CommandSession::mounts>("mounts"),
    rpc::method<&CommandSession::mount>("mount", "name"),
    rpc::method<&CommandSession::check_mount>("check_mount", "name"),
    rpc::method<&CommandSession::approve_mount>("approve_mount", "name", "offer"),
    rpc::method<&CommandSession::flush>("flush"),
    rpc::method<&CommandSession::export_git>("export_git", "ref"),
    rpc::method<&CommandSession::backup>("backup", "file"),
    rpc::method<&CommandSession::salvage>("salvage", "directory"),
    rpc::method<&CommandSession::fsck>("fsck"),
    rpc::method<&CommandSession::status>("status"),
    rpc::method<&CommandSession::stop>("stop"),
};

CommandSession::CommandSession(std::unique_ptr<mcp::Service> service, Workspace workspace,
                               kernel::Caller caller, std::shared_ptr<rpc::Connection> connection,
                               std::string version)
    : service_(std::move(service)),
      workspace_(std::move(workspace)),
      caller_(std::move(caller)),
      connection_(std::move(connection)),
      in_flight_(std::make_shared<rpc::InFlight>(connection_, kMostInFlight)),
      version_(std::move(version)) {}

CommandSession::~CommandSession() {
    in_flight_->cancel_all();
}

void CommandSession::on_close() {
    in_flight_->cancel_all();
}

void CommandSession::on_oversize(std::size_t bound, const std::string& id) {
    connection_->send(json::write(rpc::error(rpc::id_from(id), rpc::too_long(bound))));
}

// A line that is not JSON is answered under the id null, and one that is no message under the id
// that it has. Notifications and answers are dropped, since this protocol has none. A request under
// an id that is still open gets no answer of its own: begin() returns none for it.
void CommandSession::on_line(std::string line) {
    const std::size_t bytes = line.size();
    auto parsed = json::parse(line);
    if (!parsed) {
        connection_->send(
            json::write(rpc::error({}, {rpc::Code::parse_error, parsed.error().message(), {}})));
        return;
    }
    auto message = rpc::classify(std::move(*parsed));
    if (!message) {
        rpc::Rejected& rejected = message.error();
        connection_->send(
            json::write(rpc::error(std::move(rejected.id), std::move(rejected.fault))));
        return;
    }
    if (message->kind != rpc::Message::Kind::request) return;
    const auto answer = in_flight_->begin(message->id, nullptr, bytes);
    if (!answer) return;
    const auto* const method = std::ranges::find(kMethods, message->method, &Method::name);
    if (method == std::end(kMethods)) {
        return answer->error(
            {rpc::Code::method_not_found, cat("there is no method ", message->method), {}});
    }
    const auto fault = method->serve(*this, *answer, std::move(message->params), method->params);
    if (fault) answer_error(*answer, *fault);
}

// The service logs and admits the call itself, like a call by an MCP client, so no Admission stands
// here.
void CommandSession::call(const rpc::Answer& answer, std::string tool,
                          std::optional<Value> arguments) {
    service_->call(std::move(tool), arguments ? std::move(*arguments) : Value(Map{}),
                   answer.cancelled(),
                   replying<tools::ToolResult>(answer, [](tools::ToolResult called) {
                       tools::EncodedResult result = tools::encoded(std::move(called));
                       if (result.content) answer_whole(result);
                       return Map{{"structured", std::move(result.structured)},
                                  {"text", std::move(result.text)},
                                  {"is_error", result.is_error}};
                   }));
}

void CommandSession::read(const rpc::Answer& answer, std::string uri) {
    service_->read_resource(
        std::move(uri), answer.cancelled(),
        replying<mcp::ResourceText>(answer, [](mcp::ResourceText read) {
            return Map{{"text", std::move(read.text)}, {"mime_type", std::move(read.mime_type)}};
        }));
}

void CommandSession::context(const rpc::Answer& answer, bool describes) {
    using Pieces = std::vector<ContextPiece>;
    kernel::Admission(workspace_.kernel)
        .run<Pieces>(caller(answer), {.name = "context render", .arguments = Map{}, .reads = true},
                     replying<Pieces>(answer,
                                      [](Pieces gathered) {
                                          List pieces;
                                          for (ContextPiece& each : gathered) {
                                              pieces.push_back(Map{{"name", std::move(each.name)},
                                                                   {"text", std::move(each.text)}});
                                          }
                                          return Map{{"pieces", std::move(pieces)}};
                                      }),
                     [&memory = workspace_.memory, rules = service_->guidance().rules, describes](
                         const kernel::Caller& by, auto gathered) {
                         agent_context(memory, by, rules, describes, std::move(gathered));
                     });
}

void CommandSession::revise(const rpc::Answer& answer, std::string block_id, std::string version_id,
                            Value value) {
    Map arguments{{"block_id", block_id}, {"version_id", version_id}, {"value", value}};
    kernel::Admission(workspace_.kernel)
        .run<kernel::MemoryRevised>(
            caller(answer), {.name = "revise", .arguments = std::move(arguments)},
            replying<kernel::MemoryRevised>(
                answer,
                [](kernel::MemoryRevised revised) {
                    Map out = json::Codec<kernel::MemoryVersion>::fields().encode(revised.block);
                    out.append("changed", revised.changed);
                    out.append("both", List(revised.both.begin(), revised.both.end()));
                    return out;
                }),
            [&memory = workspace_.memory, block_id = std::move(block_id),
             what = kernel::MemoryRevise{std::move(version_id), std::move(value)}](
                const kernel::Caller& by, auto revised) mutable {
                memory.revise(by, std::move(block_id), std::move(what), std::move(revised));
            });
}

kernel::Caller CommandSession::caller(const rpc::Answer& answer) const {
    kernel::Caller by = caller_;
    by.cancelled = answer.cancelled();
    return by;
}

void CommandSession::owned(const rpc::Answer& answer, std::string owner) {
    workspace_.memory.list(
        caller(answer), {},
        replying<kernel::MemoryList>(answer, [owner = std::move(owner)](kernel::MemoryList list) {
            List labels;
            for (const kernel::MemoryRow& row : list.blocks) {
                if (row.owner.str() == owner) labels.emplace_back(row.block.block_id);
            }
            return Map{{"labels", std::move(labels)},
                       {"unreadable", List(list.unreadable.begin(), list.unreadable.end())}};
        }));
}

void CommandSession::export_block(const rpc::Answer& answer, std::string label) {
    kernel::Admission(workspace_.kernel)
        .run<kernel::CarriedBlock>(
            caller(answer), {.name = "export", .arguments = Map{{"label", label}}, .reads = true},
            replying<kernel::CarriedBlock>(answer,
                                           [](const kernel::CarriedBlock& block) {
                                               return Map{{"block", kernel::to_value(block)}};
                                           }),
            [&memory = workspace_.memory, label](const kernel::Caller& by, auto exported) {
                memory.export_block(by, label, std::move(exported));
            });
}

// Blocks come one by one, for all of them may be longer than a message.
void CommandSession::stage(const rpc::Answer& answer, Value form) {
    Result<kernel::CarriedBlock> block = kernel::carried_of(form);
    if (!block) return answer_error(answer, block.error());
    staged_.push_back(std::move(*block));
    answer.result(Map{});
}

// Takes what was staged, also for a dry run: the blocks must be staged anew before the import
// itself. The log gets their labels, because the values may be long.
void CommandSession::import_staged(const rpc::Answer& answer, std::string owner, std::string suffix,
                                   bool dry_run) {
    auto new_owner = actor_named(owner);
    if (!new_owner) return answer_error(answer, new_owner.error());
    kernel::MemoryImport what{.blocks = std::exchange(staged_, {}),
                              .owner = std::move(*new_owner),
                              .suffix = std::move(suffix),
                              .dry_run = dry_run};
    List labels;
    for (const kernel::CarriedBlock& block : what.blocks)
        labels.emplace_back(block.header.block.label);
    Map arguments{{"owner", what.owner ? what.owner->str() : ""},
                  {"suffix", what.suffix},
                  {"labels", std::move(labels)}};
    kernel::Admission(workspace_.kernel)
        .run<kernel::MemoryImported>(
            caller(answer), {.name = "import", .arguments = std::move(arguments), .reads = dry_run},
            replying<kernel::MemoryImported>(answer,
                                             [](kernel::MemoryImported imported) {
                                                 List blocks;
                                                 for (auto& [from, block] : imported.blocks) {
                                                     blocks.push_back(Map{
                                                         {"from", std::move(from)},
                                                         {"label", std::move(block.label)},
                                                         {"block_id", std::move(block.block_id)},
                                                         {"version", block.version}});
                                                 }
                                                 return Map{{"blocks", std::move(blocks)}};
                                             }),
            [&memory = workspace_.memory, what = std::move(what)](const kernel::Caller& by,
                                                                  auto imported) mutable {
                memory.import_blocks(by, std::move(what), std::move(imported));
            });
}

void CommandSession::sources(const rpc::Answer& answer) {
    answer.result(source_report(workspace_.sources, caller(answer)));
}

void CommandSession::run_source(const rpc::Answer& answer, std::string name) {
    kernel::Admission(workspace_.kernel)
        .run<std::string>(
            caller(answer), {.name = "run_source", .arguments = Map{{"name", name}}},
            replying<std::string>(answer,
                                  [](std::string id) {
                                      return Map{{"source_id", std::move(id)}};
                                  }),
            [&sources = workspace_.sources, name](const kernel::Caller& by, auto begun) {
                sources.run(by, name, std::move(begun));
            });
}

void CommandSession::mounts(const rpc::Answer& answer) {
    answer.result(workspace_.mounts.list().as_map());
}

void CommandSession::mount(const rpc::Answer& answer, std::string name) {
    replying<Value>(answer, row_map)(workspace_.mounts.show(name));
}

void CommandSession::check_mount(const rpc::Answer& answer, std::string name) {
    workspace_.mounts.check(caller(answer), std::move(name), replying<Value>(answer, row_map));
}

void CommandSession::approve_mount(const rpc::Answer& answer, std::string name, std::string offer) {
    workspace_.mounts.approve(caller(answer), std::move(name), std::move(offer),
                              replying<Value>(answer, row_map));
}

void CommandSession::audit(const rpc::Answer& answer, kernel::AuditQuery query) {
    query.limit = std::clamp<std::size_t>(query.limit, 1, kMostAuditEntries);
    kernel::AuditCalls(workspace_.kernel)
        .read(caller(answer), std::move(query),
              replying<kernel::AuditPage>(answer, [](kernel::AuditPage page) {
                  List out;
                  for (kernel::AuditPage::Entry& each : page.entries) {
                      // The body goes as text, for whoever checks its hash.
                      out.push_back(Map{{"seq", static_cast<std::int64_t>(each.seq)},
                                        {"hash", std::move(each.hash)},
                                        {"body", std::move(each.body)}});
                  }
                  return Map{{"entries", std::move(out)},
                             {"next", static_cast<std::int64_t>(page.next)}};
              }));
}

void CommandSession::verify_audit(const rpc::Answer& answer, std::vector<std::string> heads) {
    kernel::AuditCalls(workspace_.kernel)
        .verify(caller(answer), std::move(heads),
                replying<kernel::AuditVerdict>(answer, [](kernel::AuditVerdict verdict) {
                    Map out{{"entries", static_cast<std::int64_t>(verdict.count)},
                            {"head", std::move(verdict.head)},
                            {"missing", List(verdict.missing.begin(), verdict.missing.end())}};
                    if (auto& broken = verdict.broken) {
                        out.append("broken", Map{{"seq", static_cast<std::int64_t>(broken->seq)},
                                                 {"what", std::move(broken->what)}});
                    }
                    return out;
                }));
}

void CommandSession::flush(const rpc::Answer& answer) {
    kernel::Admission(workspace_.kernel)
        .run<kernel::GitFlushed>(
            caller(answer), {.name = "flush", .reads = true},
            replying<kernel::GitFlushed>(
                answer,
                [](const kernel::GitFlushed& flushed) {
                    return json::Codec<kernel::GitFlushed>::fields().encode(flushed);
                }),
            [&git = workspace_.git](const kernel::Caller&, auto done) {
                git.flush(std::move(done));
            });
}

void CommandSession::export_git(const rpc::Answer& answer, std::string ref) {
    kernel::Admission(workspace_.kernel)
        .run<kernel::GitExported>(
            caller(answer), {.name = "export_git", .arguments = Map{{"ref", ref}}, .reads = true},
            replying<kernel::GitExported>(
                answer,
                [](const kernel::GitExported& exported) {
                    return json::Codec<kernel::GitExported>::fields().encode(exported);
                }),
            [&git = workspace_.git, ref](const kernel::Caller& by, auto done) {
                git.export_history(by, ref, std::move(done));
            });
}

void CommandSession::backup(const rpc::Answer& answer, std::string file) {
    kernel::Admission(workspace_.kernel)
        .run<void>(caller(answer),
                   {.name = "backup", .arguments = Map{{"path", file}}, .reads = true},
                   replying<void>(answer, [] { return Map{}; }),
                   [&kernel = workspace_.kernel, file](const kernel::Caller& by, auto done) {
                       kernel::RecoveryCalls(kernel).back_up(by, file, std::move(done));
                   });
}

void CommandSession::salvage(const rpc::Answer& answer, std::string directory) {
    kernel::Admission(workspace_.kernel)
        .run<kernel::Salvaged>(
            caller(answer),
            {.name = "salvage", .arguments = Map{{"path", directory}}, .reads = true},
            replying<kernel::Salvaged>(answer,
                                       [](const kernel::Salvaged& saved) {
                                           return json::Codec<kernel::Salvaged>::fields().encode(
                                               saved);
                                       }),
            [&kernel = workspace_.kernel, directory, version = version_](const kernel::Caller& by,
                                                                         auto saved) {
                kernel::RecoveryCalls(kernel).salvage(by, directory, {.version = version},
                                                      std::move(saved));
            });
}

void CommandSession::fsck(const rpc::Answer& answer) {
    kernel::RecoveryCalls(workspace_.kernel)
        .check(caller(answer),
               replying<kernel::StoreCheck>(answer, [](const kernel::StoreCheck& found) {
                   return json::Codec<kernel::StoreCheck>::fields().encode(found);
               }));
}

// The counters are those of the moment of the request. They are answered even where files cannot be
// looked at.
void CommandSession::status(const rpc::Answer& answer) {
    const kernel::Status status = workspace_.kernel.status();
    Map out{{"version", version_},
            {"documents", status.documents},
            {"live_documents", status.live_documents},
            {"resident_bytes", status.resident_bytes},
            {"sessions", status.sessions},
            {"calls", status.calls},
            {"commits", status.commits},
            {"watch", watch_report(workspace_.watch.status())}};
    if (workspace_.settings != nullptr) out.append("settings", workspace_.settings->report());
    workspace_.files.status(
        caller(answer), std::nullopt,
        [answer, out = std::move(out)](Result<std::vector<kernel::FileStatus>> files) mutable {
            if (!files) return answer.result(std::move(out));
            List unsaved;
            for (kernel::FileStatus& file : *files) {
                if (!file.dirty && !file.conflict) continue;
                unsaved.push_back(Map{{"path", std::move(file.file.path)},
                                      {"block_id", std::move(file.file.block_id)},
                                      {"conflict", file.conflict}});
            }
            out.append("unsaved", std::move(unsaved));
            answer.result(std::move(out));
        });
}

// The answer is queued before the kernel begins to end, so that the command learns that it was
// heard.
void CommandSession::stop(const rpc::Answer& answer) {
    answer.result(Map{});
    if (workspace_.stop) workspace_.stop();
}

}  // namespace quire::server
