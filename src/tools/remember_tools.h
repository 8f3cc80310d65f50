// RememberTools: a tool for each label of [memory.tools], which writes to the block that the label
// names for its caller. Its arguments are the block's own (memory/remember.h), so they change with the
// block's schema, and only those who may write the block have the tool.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/tools.h"

namespace quire::tools {

class RememberTools {
public:
    // A label, and the name of its tool: memory::remember_name().
    struct Named {
        std::string name;
        std::string label;
    };
    // The names are different. `memory` outlives the tools, and the tools that are made by them.
    RememberTools(kernel::MemoryCalls& memory, std::vector<Named> labels);

    // The names of all of them, whoever may have them.
    std::vector<std::string> names() const;
    // The tool of that name as the actor has it now; null if it has none. It is made for this call,
    // with the arguments that the block's schema has at this moment. O(log blocks).
    MadeTool find(std::string_view name, const policy::Actor& by) const;
    // The descriptions of all that the actor has now, in the labels' order. O(labels * log blocks),
    // and the schemas.
    std::vector<ToolInfo> list(const policy::Actor& to) const;

private:
    MadeTool made(const Named& which, const policy::Actor& by) const;

    kernel::MemoryCalls* memory_;
    std::vector<Named> labels_;
};

}  // namespace quire::tools
