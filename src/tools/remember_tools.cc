// Nothing is kept of these tools but their names: a block's schema and its permissions may change
// between two calls, so each list and each call makes them anew from the block as it is. That is a
// look-up of the label for each tool, which is why an actor with such tools pays for its lists.
#include "tools/remember_tools.h"

#include <optional>
#include <utility>

#include "base/concat.h"
#include "kernel/memory/memory_calls.h"
#include "kernel/memory/memory_tool.h"
#include "tools/context_render.h"
#include "tools/render.h"
#include "tools/typed_tool.h"

namespace quire::tools {
namespace {

ToolInfo info_for(std::string name, kernel::MemoryTool tool) {
    const std::string purpose = tool.description.empty() ? "" : cat(": ", tool.description);
    return info_of({.name = std::move(name),
                    .title = cat("Remember in ", tool.label),
                    .description = cat("Writes to the memory block ", tool.label, purpose),
                    .annotations = {},
                    .answer = memory_answer(false)},
                   std::move(tool.arguments));
}

class RememberTool final : public Tool {
public:
    RememberTool(kernel::MemoryCalls& memory, std::string label, ToolInfo info)
        : Tool(std::move(info)), memory_(memory), label_(std::move(label)) {}

    void call(const Session& session, Value arguments, Reply<ToolResult> reply) const override {
        memory_.remember(
            session.caller, label_, std::move(arguments.as_map()),
            answer_with(or_refused(std::move(reply)), [](const kernel::MemoryWritten& written) {
                return render_memory_written(written, WriteMade::nothing);
            }));
    }

private:
    kernel::MemoryCalls& memory_;
    const std::string label_;
};

}  // namespace

RememberTools::RememberTools(kernel::MemoryCalls& memory, std::vector<Named> labels)
    : memory_(&memory), labels_(std::move(labels)) {}

std::vector<std::string> RememberTools::names() const {
    std::vector<std::string> names;
    for (const Named& each : labels_) names.push_back(each.name);
    return names;
}

MadeTool RememberTools::made(const Named& which, const policy::Actor& by) const {
    // There is no tool where the label names no block, or several, or one of which the actor may write
    // nothing.
    std::optional<kernel::MemoryTool> tool = memory_->tool(by, which.label);
    if (!tool) return nullptr;
    return std::make_unique<RememberTool>(*memory_, which.label,
                                          info_for(which.name, std::move(*tool)));
}

MadeTool RememberTools::find(std::string_view name, const policy::Actor& by) const {
    for (const Named& each : labels_) {
        if (each.name == name) return made(each, by);
    }
    return nullptr;
}

std::vector<ToolInfo> RememberTools::list(const policy::Actor& to) const {
    std::vector<ToolInfo> out;
    for (const Named& each : labels_) {
        if (const MadeTool tool = made(each, to)) out.push_back(tool->info());
    }
    return out;
}

}  // namespace quire::tools
