#include "server/command_session.h"

#include <algorithm>
#include <utility>

#include "base/concat.h"
#include "json/json.h"
#include "kernel/memory/source_calls.h"
#include "kernel/oversight/admission.h"
#include "kernel/oversight/audit_calls.h"
#include "mounts/mounts.h"
#include "rpc/jsonrpc.h"
#include "tools/kernel_fields.h"

namespace quire::server {
namespace {

constexpr std::size_t kMostInFlight = 64;
constexpr std::int64_t kLogEntries = 50;

void answer_error(const rpc::Answer& answer, const Error& error) {
    const Value body = rpc::error_value(error);
    answer.error({rpc::Code::internal_error, error.message(), body.as_map()});
}

std::string string_param(const Map& params, std::string_view name) {
    const Value* value = params.find(name);
    return value != nullptr && value->is_string() ? value->as_string() : std::string();
}

std::int64_t number_param(const Map& params, std::string_view name, std::int64_t otherwise) {
    const Value* value = params.find(name);
    return value != nullptr && value->is_int() ? value->as_int() : otherwise;
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
constexpr std::int64_t kMostAuditEntries = 10'000;

}  // namespace

CommandSession::CommandSession(std::unique_ptr<mcp::Service> service, Workspace workspace,
                               kernel::Caller caller, std::shared_ptr<rpc::Connection> connection,
                               std::string version)
    : service_(std::move(service)),
      workspace_(workspace),
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

void CommandSession::on_line(std::string line) {
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
    const auto answer = in_flight_->begin(message->id, nullptr);
    if (!answer) return;
    if (message->method == "call") {
        call(*answer, std::move(message->params));
    } else if (message->method == "read") {
        read(*answer, message->params);
    } else if (message->method == "revise") {
        revise(*answer, std::move(message->params));
    } else if (message->method == "owned") {
        owned(*answer, message->params);
    } else if (message->method == "export") {
        export_block(*answer, message->params);
    } else if (message->method == "stage") {
        stage(*answer, message->params);
    } else if (message->method == "import") {
        import_staged(*answer, message->params);
    } else if (message->method == "log") {
        log(*answer, message->params);
    } else if (message->method == "audit") {
        audit(*answer, message->params);
    } else if (message->method == "verify_audit") {
        verify_audit(*answer, message->params);
    } else if (message->method == "sources") {
        sources(*answer);
    } else if (message->method == "run_source") {
        run_source(*answer, message->params);
    } else if (message->method == "mounts") {
        answer->result(workspace_.mounts.list().as_map());
    } else if (message->method == "mount") {
        mount(*answer, message->params);
    } else if (message->method == "check_mount") {
        check_mount(*answer, message->params);
    } else if (message->method == "approve_mount") {
        approve_mount(*answer, message->params);
    } else if (message->method == "status") {
        status(*answer);
    } else {
        answer->error(
            {rpc::Code::method_not_found, cat("there is no method ", message->method), {}});
    }
}

void CommandSession::call(const rpc::Answer& answer, Map params) {
    Value* given = params.find("arguments");
    Value arguments = given != nullptr ? std::move(*given) : Value(Map{});
    service_->call(string_param(params, "tool"), std::move(arguments), answer.cancelled(),
                   [answer](Result<tools::ToolResult> called) {
                       if (!called) return answer_error(answer, called.error());
                       tools::EncodedResult result = tools::encoded(std::move(*called));
                       if (result.content) answer_whole(result);
                       answer.result(Map{{"structured", std::move(result.structured)},
                                         {"text", std::move(result.text)},
                                         {"is_error", result.is_error}});
                   });
}

void CommandSession::read(const rpc::Answer& answer, const Map& params) {
    service_->read_resource(string_param(params, "uri"), answer.cancelled(),
                            [answer](Result<mcp::ResourceText> read) {
                                if (!read) return answer_error(answer, read.error());
                                Map out;
                                out.append("text", std::move(read->text));
                                out.append("mime_type", std::move(read->mime_type));
                                answer.result(std::move(out));
                            });
}

void CommandSession::revise(const rpc::Answer& answer, Map params) {
    kernel::MemoryRevise what{string_param(params, "version_id"), {}};
    if (Value* value = params.find("value")) what.value = std::move(*value);
    std::string block_id = string_param(params, "block_id");
    Reply<kernel::MemoryRevised> reply = [answer](Result<kernel::MemoryRevised> revised) {
        if (!revised) return answer_error(answer, revised.error());
        List both(revised->both.begin(), revised->both.end());
        Map out = json::Codec<kernel::MemoryVersion>::fields().encode(revised->block);
        out.append("changed", revised->changed);
        out.append("both", std::move(both));
        answer.result(std::move(out));
    };
    Map arguments{{"block_id", block_id}, {"version_id", what.version_id}, {"value", what.value}};
    kernel::Admission(workspace_.kernel)
        .run<kernel::MemoryRevised>(
            caller(answer), {.name = "revise", .arguments = std::move(arguments)}, std::move(reply),
            [&memory = workspace_.memory, block_id = std::move(block_id), what = std::move(what)](
                const kernel::Caller& by, auto revised) mutable {
                memory.revise(by, std::move(block_id), std::move(what), std::move(revised));
            });
}

kernel::Caller CommandSession::caller(const rpc::Answer& answer) const {
    kernel::Caller by = caller_;
    by.cancelled = answer.cancelled();
    return by;
}

void CommandSession::owned(const rpc::Answer& answer, const Map& params) {
    workspace_.memory.list(
        caller(answer), {}, "",
        [answer, owner = string_param(params, "owner")](Result<kernel::MemoryList> list) {
            if (!list) return answer_error(answer, list.error());
            List labels;
            for (const kernel::MemoryRow& row : list->blocks) {
                if (row.owner.str() == owner) labels.emplace_back(row.block.label);
            }
            List unreadable(list->unreadable.begin(), list->unreadable.end());
            answer.result(
                Map{{"labels", std::move(labels)}, {"unreadable", std::move(unreadable)}});
        });
}

void CommandSession::export_block(const rpc::Answer& answer, const Map& params) {
    std::string label = string_param(params, "label");
    Reply<kernel::CarriedBlock> reply = [answer](Result<kernel::CarriedBlock> block) {
        if (!block) return answer_error(answer, block.error());
        answer.result(Map{{"block", kernel::to_value(*block)}});
    };
    kernel::Admission(workspace_.kernel)
        .run<kernel::CarriedBlock>(
            caller(answer), {.name = "export", .arguments = Map{{"label", label}}, .reads = true},
            std::move(reply),
            [&memory = workspace_.memory, label](const kernel::Caller& by, auto exported) {
                memory.export_block(by, label, std::move(exported));
            });
}

// Blocks come one by one, for all of them may be longer than a message.
void CommandSession::stage(const rpc::Answer& answer, const Map& params) {
    const Value* form = params.find("block");
    Result<kernel::CarriedBlock> block = kernel::carried_of(form == nullptr ? Value() : *form);
    if (!block) return answer_error(answer, block.error());
    staged_.push_back(std::move(*block));
    answer.result(Map{});
}

void CommandSession::import_staged(const rpc::Answer& answer, const Map& params) {
    kernel::MemoryImport what{std::exchange(staged_, {})};
    if (const std::string name = string_param(params, "owner"); !name.empty()) {
        auto owner = policy::Actor::parse(name);
        if (!owner) return answer_error(answer, owner.error());
        what.owner = std::move(*owner);
    }
    what.suffix = string_param(params, "suffix");
    const Value* dry_run = params.find("dry_run");
    what.dry_run = dry_run != nullptr && *dry_run == Value(true);
    Reply<kernel::MemoryImported> reply = [answer](Result<kernel::MemoryImported> carried) {
        if (!carried) return answer_error(answer, carried.error());
        List blocks;
        for (auto& [from, block] : carried->blocks) {
            blocks.push_back(Map{{"from", std::move(from)},
                                 {"label", std::move(block.label)},
                                 {"block_id", std::move(block.block_id)},
                                 {"version", block.version}});
        }
        answer.result(Map{{"blocks", std::move(blocks)}});
    };
    List labels;
    for (const kernel::CarriedBlock& block : what.blocks)
        labels.emplace_back(block.header.block.label);
    Map arguments{{"owner", what.owner ? what.owner->str() : ""},
                  {"suffix", what.suffix},
                  {"labels", std::move(labels)}};
    const bool reads = what.dry_run;
    kernel::Admission(workspace_.kernel)
        .run<kernel::MemoryImported>(
            caller(answer), {.name = "import", .arguments = std::move(arguments), .reads = reads},
            std::move(reply),
            [&memory = workspace_.memory, what = std::move(what)](const kernel::Caller& by,
                                                                  auto imported) mutable {
                memory.import_blocks(by, std::move(what), std::move(imported));
            });
}

void CommandSession::sources(const rpc::Answer& answer) {
    List rows;
    for (kernel::SourceRow& row : workspace_.sources.list()) {
        rows.push_back(Map{{"name", std::move(row.name)},
                           {"label", std::move(row.label)},
                           {"state", std::move(row.state)},
                           {"running", row.running},
                           {"failed", row.failed}});
    }
    answer.result(Map{{"sources", std::move(rows)}});
}

void CommandSession::run_source(const rpc::Answer& answer, const Map& params) {
    std::string name = string_param(params, "name");
    Reply<void> reply = [answer](const Result<void>& begun) {
        if (!begun) return answer_error(answer, begun.error());
        answer.result(Map{});
    };
    kernel::Admission(workspace_.kernel)
        .run<void>(caller(answer), {.name = "run_source", .arguments = Map{{"name", name}}},
                   std::move(reply),
                   [&sources = workspace_.sources, name](const kernel::Caller&, auto begun) {
                       sources.run(name, std::move(begun));
                   });
}

void CommandSession::mount(const rpc::Answer& answer, const Map& params) {
    Result<Value> row = workspace_.mounts.show(string_param(params, "name"));
    if (!row) return answer_error(answer, row.error());
    answer.result(std::move(row->as_map()));
}

void CommandSession::check_mount(const rpc::Answer& answer, const Map& params) {
    workspace_.mounts.check(caller(answer), string_param(params, "name"),
                            [answer](Result<Value> row) {
                                if (!row) return answer_error(answer, row.error());
                                answer.result(std::move(row->as_map()));
                            });
}

void CommandSession::approve_mount(const rpc::Answer& answer, const Map& params) {
    workspace_.mounts.approve(caller(answer), string_param(params, "name"),
                              string_param(params, "offer"), [answer](Result<Value> row) {
                                  if (!row) return answer_error(answer, row.error());
                                  answer.result(std::move(row->as_map()));
                              });
}

void CommandSession::log(const rpc::Answer& answer, const Map& params) {
    std::optional<policy::Actor> of;
    if (const std::string name = string_param(params, "actor"); !name.empty()) {
        auto actor = policy::Actor::parse(name);
        if (!actor) return answer_error(answer, actor.error());
        of = std::move(*actor);
    }
    const std::int64_t most = number_param(params, "limit", kLogEntries);
    workspace_.kernel.log(
        caller(answer), std::move(of), static_cast<std::size_t>(std::max<std::int64_t>(most, 0)),
        [answer](Result<std::vector<kernel::LogEntry>> entries) {
            if (!entries) return answer_error(answer, entries.error());
            List out;
            for (kernel::LogEntry& each : *entries) {
                out.push_back(Map{{"block_id", std::move(each.block_id)},
                                  {"version_id", std::move(each.entry.version_id)},
                                  {"timestamp", each.entry.timestamp},
                                  {"actor", std::move(each.entry.actor)},
                                  {"description", std::move(each.entry.description)}});
            }
            answer.result(Map{{"entries", std::move(out)}});
        });
}

void CommandSession::audit(const rpc::Answer& answer, const Map& params) {
    kernel::AuditQuery query;
    query.actor = string_param(params, "actor");
    query.tool = string_param(params, "tool");
    query.reason = string_param(params, "reason");
    const Value* refused = params.find("refused");
    query.refused = refused != nullptr && *refused == Value(true);
    query.since_ms = number_param(params, "since", query.since_ms);
    if (const std::int64_t before = number_param(params, "before", 0); before > 0)
        query.before = static_cast<std::uint64_t>(before);
    const std::int64_t most = number_param(params, "limit", kLogEntries);
    query.limit = static_cast<std::size_t>(std::clamp<std::int64_t>(most, 1, kMostAuditEntries));
    kernel::AuditCalls(workspace_.kernel)
        .read(caller(answer), std::move(query), [answer](Result<kernel::AuditPage> page) {
            if (!page) return answer_error(answer, page.error());
            List out;
            for (kernel::AuditPage::Entry& each : page->entries) {
                // The body goes as text, for whoever checks its hash.
                out.push_back(Map{{"seq", static_cast<std::int64_t>(each.seq)},
                                  {"hash", std::move(each.hash)},
                                  {"body", std::move(each.body)}});
            }
            answer.result(
                Map{{"entries", std::move(out)}, {"next", static_cast<std::int64_t>(page->next)}});
        });
}

void CommandSession::verify_audit(const rpc::Answer& answer, const Map& params) {
    std::vector<std::string> heads;
    if (const Value* given = params.find("heads"); given != nullptr && given->is_list()) {
        for (const Value& head : given->as_list()) {
            if (head.is_string()) heads.push_back(head.as_string());
        }
    }
    kernel::AuditCalls(workspace_.kernel)
        .verify(caller(answer), std::move(heads), [answer](Result<kernel::AuditVerdict> verdict) {
            if (!verdict) return answer_error(answer, verdict.error());
            Map out{{"entries", static_cast<std::int64_t>(verdict->count)},
                    {"head", std::move(verdict->head)},
                    {"missing", List(verdict->missing.begin(), verdict->missing.end())}};
            if (auto& broken = verdict->broken) {
                out.append("broken", Map{{"seq", static_cast<std::int64_t>(broken->seq)},
                                         {"what", std::move(broken->what)}});
            }
            answer.result(std::move(out));
        });
}

void CommandSession::status(const rpc::Answer& answer) {
    const kernel::Status status = workspace_.kernel.status();
    answer.result(Map{{"version", version_},
                      {"documents", status.documents},
                      {"live_documents", status.live_documents},
                      {"sessions", status.sessions},
                      {"calls", status.calls},
                      {"commits", status.commits}});
}

}  // namespace quire::server
