// TypedTool: a tool whose arguments arrive as a struct.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/fields.h"
#include "tools/render.h"
#include "tools/tool.h"

namespace quire::tools {

// The words of a tool; its input schema comes from its fields.
struct Described {
    std::string name;
    std::string title;
    std::string description;
    Annotations annotations;
    Value output_schema;
    Operations operations = {};     // What they say comes after the description.
    bool for_people = false;        // As ToolInfo's,
    std::string conversation = {};  // and this.
};

template <class Args>
class TypedTool final : public Tool {
public:
    using Run = std::function<void(const Session&, Args, Reply<ToolResult>)>;

    TypedTool(Described words, Fields<Args> fields, Run run)
        : Tool({std::move(words.name), std::move(words.title), std::move(words.description),
                fields.schema(), or_refusal(std::move(words.output_schema)), words.annotations,
                std::move(words.operations), words.for_people, std::move(words.conversation)}),
          fields_(std::move(fields)),
          run_(std::move(run)) {}

    void call(const Session& session, Value arguments, Reply<ToolResult> reply) const override {
        run_(session, fields_.decode(arguments), std::move(reply));
    }

private:
    Fields<Args> fields_;
    Run run_;
};

template <class Args, class Run>
std::unique_ptr<const Tool> make_tool(Described words, Fields<Args> fields, Run run) {
    return std::make_unique<TypedTool<Args>>(std::move(words), std::move(fields), std::move(run));
}

}  // namespace quire::tools
