// The session of one of our own commands (quire call, cat, edit, log, undo, status): JSON-RPC on
// the kernel's socket with five methods, none of which MCP has.
//
//   call   {tool, arguments}   -> {structured, text, is_error}
//   read   {uri}               -> {text, mime_type}              As resources/read.
//   revise {block_id, version_id, value}
//                              -> {label, block_id, version, changed, both: [place]}
//   log    {actor?, limit?}    -> {entries: [{block_id, version_id, timestamp, actor,
//   description}]} status {}                  -> {version, documents, live_documents, sessions,
//   calls, commits}
//
// An Error is answered as a JSON-RPC error whose data is {code, reason, message, details}.
#pragma once

#include <memory>
#include <string>

#include "kernel/kernel.h"
#include "kernel/memory_calls.h"
#include "server/connection.h"
#include "server/in_flight.h"
#include "server/service.h"

namespace quire::server {

class CommandSession final : public Session {
public:
    // What the commands use of a workspace; it outlives the session's replies.
    struct Workspace {
        kernel::Kernel& kernel;
        kernel::MemoryCalls& memory;
    };
    CommandSession(std::unique_ptr<Service> service, Workspace workspace, kernel::Caller caller,
                   std::shared_ptr<Connection> connection, std::string version);
    CommandSession(const CommandSession&) = delete;
    CommandSession& operator=(const CommandSession&) = delete;
    ~CommandSession() override;

    void on_line(std::string line) override;
    void on_oversize(std::size_t bound, const std::string& id) override;
    bool is_busy() const override { return in_flight_->is_busy(); }
    void on_close() override;

private:
    void call(const Answer& answer, Map params);
    void read(const Answer& answer, const Map& params);
    void revise(const Answer& answer, Map params);
    void log(const Answer& answer, const Map& params);
    void status(const Answer& answer);

    std::unique_ptr<Service> service_;
    Workspace workspace_;
    kernel::Caller caller_;
    std::shared_ptr<Connection> connection_;
    std::shared_ptr<InFlight> in_flight_;
    std::string version_;
};

}  // namespace quire::server
