// TypedTool: a tool whose arguments arrive as a struct, and whose answer may leave as one.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "json/fields.h"
#include "tools/render.h"
#include "tools/tool.h"

namespace quire::tools {

// The words of a tool; its input schema comes from its fields.
struct Described {
    std::string name;
    std::string title;
    std::string description;
    Annotations annotations;
    Map answer = {};                // The schema of what it answers, where that is no one struct.
    Operations operations = {};     // What they say comes after the description.
    bool for_people = false;        // As ToolInfo's,
    std::string conversation = {};  // and this.
};

// What it replies with as an Error is answered as a refusal.
template <class Args>
class TypedTool final : public Tool {
public:
    using Run = std::function<void(const Session&, Args, Reply<ToolResult>)>;

    TypedTool(Described words, Fields<Args> fields, Run run)
        : Tool({std::move(words.name), std::move(words.title), std::move(words.description),
                fields.schema(), or_refusal(std::move(words.answer)), words.annotations,
                std::move(words.operations), words.for_people, std::move(words.conversation)}),
          fields_(std::move(fields)),
          run_(std::move(run)) {}

    void call(const Session& session, Value arguments, Reply<ToolResult> reply) const override {
        run_(session, fields_.decode(arguments),
             [reply = std::move(reply)](Result<ToolResult> result) mutable {
                 reply(result ? std::move(*result) : refused(result.error()));
             });
    }

private:
    Fields<Args> fields_;
    Run run_;
};

template <class Args, class Run>
std::unique_ptr<const Tool> make_tool(Described words, Fields<Args> fields, Run run) {
    return std::make_unique<TypedTool<Args>>(std::move(words), std::move(fields), std::move(run));
}

// Of a tool that answers with one struct: `run` replies with an Answered<Answer>.
template <class Args, class Answer, class Run>
std::unique_ptr<const Tool> make_tool(Described words, Fields<Args> fields, Fields<Answer> answer,
                                      Run run) {
    words.answer = answer.schema();
    return make_tool<Args>(
        std::move(words), std::move(fields),
        [answer = std::make_shared<const Fields<Answer>>(std::move(answer)), run = std::move(run)](
            const Session& session, Args args, Reply<ToolResult> reply) {
            run(session, std::move(args),
                answer_with<Answered<Answer>>(std::move(reply), [answer](Answered<Answer> said) {
                    return ToolResult{answer->encode(said.answer), std::move(said.text)};
                }));
        });
}

}  // namespace quire::tools
