// A read that is repeated shows the client nothing wrong, while a write that is repeated may happen
// twice. So only what is known to read counts: a fixed list of methods, tools that are declared
// read-only, and operations that are.
#include "mcp/repeatable.h"

#include <algorithm>
#include <array>

namespace quire::mcp {

namespace {

constexpr std::array<std::string_view, 9> kReadingMethods = {"ping",
                                                             "server/discover",
                                                             "tools/list",
                                                             "resources/list",
                                                             "resources/templates/list",
                                                             "resources/read",
                                                             "prompts/list",
                                                             "prompts/get",
                                                             "completion/complete"};

}  // namespace

Map Repeatable::reads_of(const std::vector<tools::ToolInfo>& tools) {
    Map reads;
    for (const tools::ToolInfo& tool : tools) {
        // Another program's own promise is no ground to call it twice.
        if (tool.foreign) continue;
        if (tool.annotations.read_only) {
            reads.append(tool.name, true);
            continue;
        }
        List words;
        for (const tools::Operation& each : tool.operations.all) {
            if (each.reads) words.emplace_back(each.name);
        }
        if (!words.empty()) reads.append(tool.name, std::move(words));
    }
    return reads;
}

bool Repeatable::covers(const rpc::MessageHead& request) const {
    if (request.method != "tools/call") {
        return std::find(kReadingMethods.begin(), kReadingMethods.end(), request.method) !=
               kReadingMethods.end();
    }
    // A call may spell a tool "block.edit"; the kernel's description has "block_edit".
    const Value* tool = reads_.find(tools::published_name(request.tool));
    if (tool == nullptr || !tool->is_list()) return tool != nullptr && *tool == Value(true);
    const List& words = tool->as_list();
    return std::find(words.begin(), words.end(), Value(request.operation)) != words.end();
}

}  // namespace quire::mcp
