// TypedTool: a tool whose arguments arrive as a struct.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "json/schema.h"
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
    std::vector<std::string> reads = {};  // As ToolInfo's.
    bool for_people = false;              // The same.
};

template <class Args>
class TypedTool final : public Tool {
public:
    using Run = std::function<void(const Session&, Args, Reply<ToolResult>)>;

    TypedTool(Described words, Fields<Args> fields, Run run)
        : Tool({std::move(words.name), std::move(words.title), std::move(words.description),
                fields.schema(), or_refusal(std::move(words.output_schema)), words.annotations,
                std::move(words.reads), words.for_people}),
          fields_(std::move(fields)),
          accepts_(compiled(info().input_schema)),
          run_(std::move(run)) {}

    void call(const Session& session, Value arguments, Reply<ToolResult> reply) const override {
        if (arguments.is_null()) arguments = Map{};
        const Result<Value> accepted = accepts_.accept(std::move(arguments));
        if (!accepted) {
            reply(refused(accepted.error()));
            return;
        }
        run_(session, fields_.decode(*accepted), std::move(reply));
    }

private:
    static json::Schema compiled(const Value& schema) {
        Result<json::Schema> made = json::Schema::compile(schema, {.strict = true});
        CHECK(made.has_value());
        return std::move(*made);
    }

    Fields<Args> fields_;
    json::Schema accepts_;
    Run run_;
};

template <class Args, class Run>
std::unique_ptr<const Tool> make_tool(Described words, Fields<Args> fields, Run run) {
    return std::make_unique<TypedTool<Args>>(std::move(words), std::move(fields), std::move(run));
}

}  // namespace quire::tools
