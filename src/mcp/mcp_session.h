// McpSession: one client's session: reads its messages and serves its requests, in both eras of the
// protocol.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "mcp/mcp.h"
#include "mcp/service.h"
#include "rpc/connection.h"
#include "rpc/in_flight.h"

namespace quire::mcp {

struct ElicitationContext;
class ToolCalls;

class McpSession final : public rpc::Session {
public:
    // With a null `elicitation`, which otherwise outlives the session, nobody is asked here.
    McpSession(std::unique_ptr<Service> service, std::shared_ptr<rpc::Connection> connection,
               Implementation server, const ElicitationContext* elicitation = nullptr);
    McpSession(const McpSession&) = delete;
    McpSession& operator=(const McpSession&) = delete;
    ~McpSession() override;

    void on_line(std::string line) override;
    void on_oversize(std::size_t bound, const std::string& id) override;
    Map reads() const override;
    bool is_busy() const override { return in_flight_->is_busy(); }
    void on_ending() override;
    void on_close() override;

private:
    // Answers one request in the form of its era. Outlives the session.
    struct Responder {
        rpc::Answer answer;
        Era era = Era::legacy;
        std::string_view version;
        std::shared_ptr<const Implementation> server;

        void result(Map result, Caching caching) const;
        void error(rpc::Fault fault) const { answer.error(std::move(fault)); }
        void refuse(std::string_view what) const;  // invalid_params: `what` is wrong in them.
    };
    // A request that is being served.
    struct Request {
        Responder responder;
        Map params;
    };
    // A method: its name, the eras that have it, and the function that serves it.
    struct Method;
    static const Method kMethods[];
    // Null when the era has no such method.
    static const Method* find_method(std::string_view name, Era era);

    // Takes one message of a line. `batch` is null outside of batches.
    void receive(Value message, const std::shared_ptr<rpc::Batch>& batch);
    // Serves a request, or answers why it cannot be served.
    void serve(rpc::Message message, const std::shared_ptr<rpc::Batch>& batch);
    // Takes a notification. None has an answer.
    void notice(const rpc::Message& message);
    // Answers a message that is no request.
    void refuse(rpc::Rejected rejected, const std::shared_ptr<rpc::Batch>& batch);
    // Sends a log message, if the client wants them.
    void log_debug(std::string_view what);

    // The methods. Each answers its request, at once or later.
    void initialize(Request request);
    void ping(Request request);
    void set_level(Request request);
    void discover(Request request);
    void list_tools(Request request);
    void call_tool(Request request);
    void list_resources(Request request);
    void list_templates(Request request);
    void read_resource(Request request);
    void listen(Request request);

    // Set while a message is served that has a number which a double cannot hold exactly: calls in
    // it are refused with this.
    std::optional<Error> inexact_;
    // Shared with the calls that are open, which may outlive the session.
    std::shared_ptr<Service> service_;
    std::shared_ptr<rpc::Connection> connection_;
    std::shared_ptr<rpc::InFlight> in_flight_;
    std::shared_ptr<ToolCalls> calls_;
    std::shared_ptr<const Implementation> server_;
    std::string_view legacy_version_;  // "" until the client has sent initialize.
    bool takes_forms_ = false;         // Its initialize said that it can show forms.
    bool debug_ = false;               // A legacy client wants our log messages.
};

}  // namespace quire::mcp
