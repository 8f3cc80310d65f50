// Repeatable: which requests may be sent again when their outcome is unknown, because they change
// nothing.
//
// The kernel describes its tools when a relay attaches; the relay, which holds the requests that a
// lost kernel left unanswered, decides by that description.
#pragma once

#include <vector>

#include "base/value.h"
#include "rpc/message_scan.h"
#include "tools/tool.h"

namespace quire::mcp {

class Repeatable {
public:
    // `reads` comes from a kernel: {tool: true, or a list of its operations that only read}. A tool
    // that is not named there is not repeatable, nor is a call that is not understood. Without
    // `reads` only methods other than tools/call are.
    explicit Repeatable(Map reads = {}) : reads_(std::move(reads)) {}
    static Map reads_of(const std::vector<tools::ToolInfo>& tools);

    bool covers(const rpc::MessageHead& request) const;

private:
    Map reads_;
};

}  // namespace quire::mcp
