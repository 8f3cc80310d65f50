// A command attaches in one of three ways:
//
//     changes something             the kernel's socket; a kernel is started if none runs
//     looks, and may write          the same
//     looks, and may not write,     a running kernel if there is one; else a kernel of its own on a
//     or there is no state yet      copy (looking_kernel.h), which leaves the workspace as it is
#include "cli/commands/command_client.h"

#include <filesystem>
#include <string>

#include "cli/commands/looking_kernel.h"
#include "json/members.h"
#include "rpc/jsonrpc.h"
#include "server/local_client.h"

namespace quire::cli {
namespace {

// A person waits: an answer that takes longer is not coming.
constexpr int kPatienceMs = 120'000;
// A tool call takes as long as its tool, at most an hour for a mounted server's; the person who
// waits can end it.
constexpr int kPatienceForToolsMs = 3'700'000;

server::AttachOptions options_for(const Globals& globals, bool start) {
    server::AttachOptions options;
    options.workspace = globals.workspace;
    options.hello = {globals.actor, globals.profile, "cli"};
    options.start = start;
    return options;
}

}  // namespace

CommandClient::CommandClient(server::LocalClient client, std::unique_ptr<LookingKernel> kernel)
    : kernel_(std::move(kernel)),
      client_(std::make_unique<server::LocalClient>(std::move(client))) {}
CommandClient::CommandClient(CommandClient&&) noexcept = default;
CommandClient& CommandClient::operator=(CommandClient&&) noexcept = default;
CommandClient::~CommandClient() = default;

int CommandClient::kernel_pid() const {
    return client_->kernel_pid();
}

// A sixty-fourth is left for the request around the value.
std::size_t CommandClient::most_in_request() const {
    return client_->message_bytes() - client_->message_bytes() / 64;
}

Result<CommandClient> CommandClient::attach(const Globals& globals, bool start) {
    const bool looks = start && globals.touches == Touches::looks;
    const bool is_new = looks && is_without_state(globals.workspace);
    if (!is_new) {
        // A kernel that runs was started by somebody with the rights, and is asked before a copy is
        // made.
        const bool leaves = looks && is_read_only(globals.workspace);
        Result<server::LocalClient> client =
            server::LocalClient::attach(options_for(globals, start && !leaves));
        if (client || !leaves) return CommandClient(TRY(std::move(client)), nullptr);
    }
    std::unique_ptr<LookingKernel> kernel = TRY(LookingKernel::start(globals));
    server::AttachOptions options = options_for(globals, false);
    options.state = kernel->state();
    return CommandClient(TRY(server::LocalClient::attach(options)), std::move(kernel));
}

Result<Value> CommandClient::request(std::string_view method, Map params) {
    return client_->request(std::string(method), std::move(params), kPatienceMs);
}

Result<Value> CommandClient::call(std::string_view tool, Value arguments) {
    return TRY(call_for_reader(tool, std::move(arguments))).structured;
}

// An answer without the members of a tool's result is an error of the session itself.
Result<CommandClient::Called> CommandClient::call_for_reader(std::string_view tool,
                                                             Value arguments) {
    Value answer = TRY(client_->request(
        "call", Map{{"tool", tool}, {"arguments", std::move(arguments)}}, kPatienceForToolsMs));
    Value* structured = answer.is_map() ? answer.as_map().find("structured") : nullptr;
    const Value* is_error = answer.get("is_error");
    if (structured == nullptr || is_error == nullptr) return Failure(rpc::error_from(answer));
    if (*is_error != Value(true))
        return Called{std::move(*structured), json::text_in(answer, "text")};
    const Value* error = structured->get("error");
    return Failure(rpc::error_from(error != nullptr ? *error : *structured));
}

Result<Value> request_once(const Globals& globals, std::string_view method, Map params) {
    CommandClient client = TRY(CommandClient::attach(globals));
    return client.request(method, std::move(params));
}

Result<Value> call_once(const Globals& globals, std::string_view tool, Value arguments) {
    CommandClient client = TRY(CommandClient::attach(globals));
    return client.call(tool, std::move(arguments));
}

std::optional<Result<CommandClient>> running_kernel(const Globals& globals) {
    std::error_code missing;
    const auto state = std::filesystem::path(globals.workspace) / ".quire";
    if (!std::filesystem::exists(state, missing)) return std::nullopt;
    auto client = CommandClient::attach(globals, false);
    // One that is about to end is waited for when the store is opened.
    if (!client && client.error().reason() == "no_kernel") return std::nullopt;
    return client;
}

}  // namespace quire::cli
