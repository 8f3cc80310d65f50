// OpenRequests: what a client has asked and not been answered, so that nothing is left without an
// answer when the kernel is lost.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/message_scan.h"

namespace quire::server {

class OpenRequests {
public:
    void asked(const MessageHead& head);
    void answered(const std::string& id) { requests_.erase(id); }
    bool empty() const { return requests_.empty(); }

    // An answer for each request that is open, in no special order; none is open afterwards. A
    // tools/call gets a result that says unavailable "fate_unknown", any other method a JSON-RPC
    // error with the same words.
    std::vector<std::string> give_up();

    // A line that answers `head` with `error`: as a tool's result, or as a JSON-RPC error.
    static std::string answer(const MessageHead& head, const Error& error);

private:
    std::map<std::string, MessageHead> requests_;
};

}  // namespace quire::server
