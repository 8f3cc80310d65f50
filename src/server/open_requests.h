// OpenRequests: what a client has asked and not been answered, so that nothing is left without an
// answer when the kernel is lost.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "rpc/message_scan.h"

namespace quire::server {

class OpenRequests {
public:
    // `heads` came in one line: one request, or those of a batch.
    void asked(const std::vector<rpc::MessageHead>& heads, bool is_batch);
    // The request `id`, asked just now in `line`, may be asked again.
    void may_repeat(const std::string& id, std::string line);
    // The lines of those that may, in the order they were asked. They are open no longer.
    std::vector<std::string> take_repeatable();
    // An answer without an id ("null") is that of the batch asked first, refused as a whole.
    void answered(const std::string& id);
    // Whether an answer is still to come. A subscription has none before it is cancelled.
    bool awaited() const;

    // An answer for each request that is open, in no special order; none is open afterwards. A
    // tools/call gets a result that says unavailable "fate_unknown", any other method a JSON-RPC
    // error with the same words.
    std::vector<std::string> give_up();

    // A line that answers `head` with `error`: as a tool's result, or as a JSON-RPC error.
    static std::string answer(const rpc::MessageHead& head, const Error& error);

private:
    struct Open {
        rpc::MessageHead head;
        std::size_t batch;      // 0: asked alone.
        std::size_t order = 0;  // Of those that may be asked again; 0 for others.
        std::string line = {};  // The same: how it was asked.
    };
    std::map<std::string, Open> requests_;
    std::size_t batches_ = 0;
    std::size_t repeatable_ = 0;
};

}  // namespace quire::server
