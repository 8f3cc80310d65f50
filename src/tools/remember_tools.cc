#include "tools/remember_tools.h"

#include <optional>
#include <utility>

#include "base/concat.h"
#include "kernel/memory/memory_calls.h"
#include "kernel/memory/memory_shape.h"
#include "memory/remember.h"
#include "tools/context_render.h"
#include "tools/render.h"
#include "tools/typed_tool.h"

namespace quire::tools {
namespace {

Described words_for(const std::string& label, const kernel::MemoryShape& shape) {
    const std::string purpose = shape.description.empty() ? "" : cat(": ", shape.description);
    return {.name = memory::remember_name(label),
            .title = cat("Remember in ", shape.label),
            .description = cat("Writes to the memory block ", shape.label, purpose),
            .annotations = {},
            .answer = memory_answer(false)};
}

class RememberTool final : public Tool {
public:
    RememberTool(kernel::MemoryCalls& memory, std::string label, kernel::MemoryShape shape,
                 Map arguments)
        : Tool(info_of(words_for(label, shape), std::move(arguments))),
          memory_(memory),
          label_(std::move(label)),
          schema_(std::move(shape.schema)) {}

    void call(const Session& session, Value arguments, Reply<ToolResult> reply) const override {
        kernel::Remember what;
        for (memory::RememberedPart& each : memory::remembered_parts(schema_, arguments.as_map())) {
            if (each.appends) {
                what.parts.emplace_back(
                    kernel::AppendContent{std::move(each.path.section), std::move(each.value)});
            } else {
                what.parts.emplace_back(
                    kernel::SetField{std::move(each.path), std::move(each.value)});
            }
        }
        memory_.write(
            session.caller, label_, std::move(what),
            answer_with(or_refused(std::move(reply)), [](const kernel::MemoryWritten& written) {
                return render_memory_written(written, WriteMade::nothing);
            }));
    }

private:
    kernel::MemoryCalls& memory_;
    const std::string label_;
    const memory::BlockSchema schema_;
};

}  // namespace

RememberTools::RememberTools(kernel::MemoryCalls& memory, std::vector<std::string> labels)
    : memory_(&memory), labels_(std::move(labels)) {}

std::vector<std::string> RememberTools::names() const {
    std::vector<std::string> names;
    for (const std::string& label : labels_) names.push_back(memory::remember_name(label));
    return names;
}

MadeTool RememberTools::made(const std::string& label, const policy::Actor& by) const {
    std::optional<kernel::MemoryShape> shape = memory_->shape(by, label);
    if (!shape) return nullptr;
    Map arguments = memory::remember_schema(shape->schema, shape->rights);
    if (arguments.find("properties")->as_map().empty()) return nullptr;
    return std::make_unique<RememberTool>(*memory_, label, std::move(*shape), std::move(arguments));
}

MadeTool RememberTools::find(std::string_view name, const policy::Actor& by) const {
    for (const std::string& label : labels_) {
        if (memory::remember_name(label) == name) return made(label, by);
    }
    return nullptr;
}

std::vector<ToolInfo> RememberTools::list(const policy::Actor& to) const {
    std::vector<ToolInfo> out;
    for (const std::string& label : labels_) {
        if (const MadeTool tool = made(label, to)) out.push_back(tool->info());
    }
    return out;
}

}  // namespace quire::tools
