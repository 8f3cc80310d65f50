// McpSession: one client's session: reads its messages and serves its requests, in both eras of the
// protocol.
//
// It belongs to the transport's thread, as rpc::Session says, and is destroyed there. Calls that
// are open may outlive it and answer from any thread; they share the service, the connection and
// the table of open requests.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_words.h"
#include "mcp/mcp.h"
#include "mcp/resource_news.h"
#include "mcp/service.h"
#include "mcp/tool_calls.h"
#include "rpc/connection.h"
#include "rpc/in_flight.h"

namespace quire::mcp {

struct ElicitationContext;

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
    void on_settings_change() override;
    void on_close() override;

private:
    // Tells the client if its list of tools differs from the one that it may know.
    void tell_tools_changed();
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
    enum class LogLevel { debug, info, notice, warning, error, critical, alert, emergency };
    friend constexpr auto words_of(LogLevel) {
        return word_table("debug", "info", "notice", "warning", "error", "critical", "alert",
                          "emergency");
    }
    // A method: the eras that have it, its name, its params and the function that serves it.
    struct Method;
    static const Method kMethods[];
    // Returns null when the era has no such method.
    static const Method* find_method(std::string_view name, Era era);

    // Takes one message of a line. `batch` is null outside of batches; in one it gathers the
    // answers until the last is there.
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
    void initialize(const Responder& responder, std::string protocol_version,
                    std::optional<Value> capabilities);
    void ping(const Responder& responder);
    void set_level(const Responder& responder, LogLevel level);
    void discover(const Responder& responder);
    void list_tools(const Responder& responder, std::optional<Value> cursor);
    void call_tool(const Responder& responder, std::string name, std::optional<Value> arguments);
    // A call that may carry what continues an earlier one: its state, and people's answers.
    void call_tool_modern(const Responder& responder, std::string name,
                          std::optional<Value> arguments, Map meta,
                          std::optional<std::string> state, std::optional<Map> answers);
    void list_resources(const Responder& responder, std::optional<std::string> cursor);
    void list_templates(const Responder& responder, std::optional<Value> cursor);
    void read_resource(const Responder& responder, std::string uri);
    void subscribe(const Responder& responder, std::string uri);
    void unsubscribe(const Responder& responder, std::string uri);
    void list_prompts(const Responder& responder, std::optional<Value> cursor);
    void get_prompt(const Responder& responder, std::string name, std::optional<Map> arguments);
    void complete(const Responder& responder, Map ref, Map argument);
    void listen(const Responder& responder, Map notifications);

    // Runs a call, and answers with its result or with a question.
    void run(const Responder& responder, ToolCalls::Call call, std::optional<Value> arguments);

    // Set while a message is served that has a number which a double cannot hold exactly: calls in
    // it are refused with this.
    std::optional<Error> inexact_;
    tools::ToolList listed_;            // The list that the client may know; null for none.
    std::vector<Value> subscriptions_;  // To changes of that list, by the ids of their requests.
    std::size_t line_bytes_ = 0;  // The size of the line, until a request of it is open.
    // Shared with the calls that are open, which may outlive the session.
    std::shared_ptr<Service> service_;
    std::shared_ptr<rpc::Connection> connection_;
    std::shared_ptr<rpc::InFlight> in_flight_;
    std::shared_ptr<ToolCalls> calls_;
    std::shared_ptr<ResourceNews> news_;
    std::shared_ptr<const Implementation> server_;
    std::string_view legacy_version_;  // "" until the client has sent initialize.
    bool takes_forms_ = false;         // Its initialize said that it can show forms.
    bool debug_ = false;               // A legacy client wants our log messages.
};

}  // namespace quire::mcp
