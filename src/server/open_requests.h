// OpenRequests: a client's requests that have no answer yet, so that each gets one when the kernel
// is lost.
//
// An entry is removed by its answer, by its cancellation, or with the kernel; in the last case
// give_up() makes the answer, so a relay's client is not left waiting.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "rpc/message_scan.h"

namespace quire::server {

// One thread.
class OpenRequests {
public:
    // Adds the requests of one line: one, or those of a batch.
    void add(const std::vector<rpc::MessageHead>& heads, bool is_batch);
    // The open request `id`, which was sent as `line`, may be sent again.
    void may_repeat(const std::string& id, std::string line);
    // Removes the requests that may be sent again, and returns their lines in order.
    std::vector<std::string> take_repeatable();
    // Removes the request that is answered. An answer with the id "null" refuses the oldest batch.
    void remove(const std::string& id);
    // Returns true if an answer is still to come. Subscriptions do not count: they stay unanswered.
    bool any_awaited() const;

    // Removes all requests and returns an answer for each, in no particular order: for a tools/call
    // a result with an unavailable "fate_unknown", otherwise a JSON-RPC error with the same words.
    std::vector<std::string> give_up();

private:
    struct Open {
        rpc::MessageHead head;
        std::size_t batch;      // 0 for a request outside of batches.
        std::size_t order = 0;  // Among the requests that may be sent again; 0 for others.
        std::string line = {};  // The line that was sent, if it may be sent again.
    };
    std::map<std::string, Open> requests_;
    std::size_t batches_ = 0;
    std::size_t repeatable_ = 0;
};

}  // namespace quire::server
