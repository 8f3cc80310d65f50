// What a relay has to know of a JSON-RPC message: its id and method, found without building the
// whole value.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace quire::rpc {

struct MessageHead {
    std::string id;      // As compact JSON: 7, "a"; "" for none (a notification), "null" as itself.
    std::string method;  // "" for an answer.
    std::string
        cancels;  // For notifications/cancelled: the id of the request that it takes back, as `id`.
    // Of a tools/call: the tool, and the word of its argument `operation` or `command`. "" where
    // they are not plainly one each.
    std::string tool;
    std::string operation;
    bool stateless =
        false;  // The request carries its protocol version in params._meta, and that is 2026-07-28.
};

// The heads of the messages in `line`: one, or those of a batch. None for what is no JSON object or
// array of them: the kernel answers that, and nothing can be known of it here. O(bytes), no
// recursion on the input.
std::vector<MessageHead> scan_messages(std::string_view line);

}  // namespace quire::rpc
