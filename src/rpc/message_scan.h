// scan_messages(): the head of a JSON-RPC message, its id and its method, found without building
// the value. A relay needs no more (server/shim.h).
//
// It wants the whole line. The id of a line that is too long to be kept is found by IdScan
// (line_splitter.h), which keeps nothing and is slower.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace quire::rpc {

struct MessageHead {
    std::string id;      // Compact JSON: 7, "a"; "" for none (a notification), "null" for a null.
    std::string method;  // "" for an answer.
    // For notifications/cancelled: the id of the request that it cancels, in the form of `id`.
    std::string cancels;
    // For a tools/call: the tool, and the word of its argument `operation` or `command`. "" unless
    // there is plainly one of each.
    std::string tool;
    std::string operation;
    // The request names its protocol version in params._meta, and that is 2026-07-28.
    bool stateless = false;
};

// The heads of the messages in `line`: one, or those of a batch. None when it is no JSON object or
// array of objects: the kernel refuses such a line. O(bytes), no recursion on the input.
std::vector<MessageHead> scan_messages(std::string_view line);

}  // namespace quire::rpc
