// A command sends one request and waits. It must know afterwards whether its request may have been
// executed: a request that was not sent whole was not, and one without an answer may have been.
#include "server/local_client.h"

#include <cstdint>
#include <optional>
#include <string>

#include "base/concat.h"
#include "rpc/jsonrpc.h"

namespace quire::server {

namespace {

Failure unanswered(std::string_view why) {
    return fail(Errc::unavailable, "fate_unknown",
                cat("it is not known whether this was done: ", why,
                    ". Read the current state before you repeat it"));
}

}  // namespace

Result<LocalClient> LocalClient::attach(const AttachOptions& options) {
    return LocalClient(TRY(server::attach(options)));
}

Result<Value> LocalClient::request(std::string_view method, Map params, int timeout_ms) {
    const Result<std::int64_t> id = client_.request(method, std::move(params));
    if (!id) {
        return fail(Errc::unavailable, "no_kernel",
                    "nothing was done: the kernel is gone. Try again");
    }
    Result<std::optional<rpc::Client::Response>> response = client_.next(timeout_ms);
    if (!response) return unanswered("the kernel was lost before it answered");
    if (!*response) {
        client_.forget(*id);
        return unanswered(cat("the kernel has not answered for ", timeout_ms, " ms"));
    }
    if ((*response)->error) return Failure(rpc::response_error(*(*response)->error));
    return std::move((*response)->result);
}

}  // namespace quire::server
