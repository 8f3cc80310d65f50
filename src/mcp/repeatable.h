// Repeatable: which requests may be asked again when nobody knows what became of them, because they
// change nothing.
//
// The kernel knows its tools and tells of them when it is attached to; the relay, which holds the
// requests that a lost kernel left unanswered, knows them from there.
#pragma once

#include <vector>

#include "base/value.h"
#include "rpc/message_scan.h"
#include "tools/tool.h"

namespace quire::mcp {

class Repeatable {
public:
    // As a kernel tells it: {tool: true, or a list of the words of its operation}. A tool that is
    // not named there, and whatever is not understood, is not repeatable.
    explicit Repeatable(Map reads = {}) : reads_(std::move(reads)) {}
    static Map reads_of(const std::vector<tools::ToolInfo>& tools);

    bool covers(const rpc::MessageHead& request) const;

private:
    Map reads_;
};

}  // namespace quire::mcp
