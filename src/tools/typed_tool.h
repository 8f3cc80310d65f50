// TypedTool: a tool whose arguments arrive as a struct, and whose answer may leave as one. A tool
// of several operations is an OperationTool (operation_tool.h).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "json/fields.h"
#include "tools/render.h"
#include "tools/tool.h"

namespace quire::tools {

// The description of a tool, by its maker; its input schema comes from its fields. The names are
// those that are published, with underscores. Each word is read by a model at every start.
struct Described {
    std::string name;
    std::string title;
    std::string description;
    Annotations annotations;
    Map answer = {};          // The schema of its answer, unless that is a struct with fields.
    bool for_people = false;  // See ToolInfo.
    std::string conversation = {};  // See ToolInfo.
};

// The description as the registry keeps it. The output schema then admits a refusal as well as the
// answer.
inline ToolInfo info_of(Described words, Value input_schema) {
    return {.name = std::move(words.name),
            .title = std::move(words.title),
            .description = std::move(words.description),
            .input_schema = std::move(input_schema),
            .output_schema = or_refusal(std::move(words.answer)),
            .annotations = words.annotations,
            .for_people = words.for_people,
            .conversation = std::move(words.conversation)};
}

// `reply`, which answers an Error as a refusal. The tools of this room reply through it, so they
// never fail: they answer or refuse.
inline Reply<ToolResult> or_refused(Reply<ToolResult> reply) {
    return [reply = std::move(reply)](Result<ToolResult> result) mutable {
        reply(result ? std::move(*result) : refused(std::move(result).error()));
    };
}

// Decodes the arguments, which the registry has checked, and runs. `run` is called on the caller's
// thread and from several at once, so it may only read what it captured.
template <class Args>
class TypedTool final : public Tool {
public:
    using Run = std::function<void(const Session&, Args, Reply<ToolResult>)>;

    TypedTool(Described words, Fields<Args> fields, Run run)
        : Tool(info_of(std::move(words), fields.schema())),
          fields_(std::move(fields)),
          run_(std::move(run)) {}

    void call(const Session& session, Value arguments, Reply<ToolResult> reply) const override {
        run_(session, fields_.decode(arguments), or_refused(std::move(reply)));
    }

private:
    Fields<Args> fields_;
    Run run_;
};

// A tool that makes its own ToolResult. Its answer's schema is `words.answer`, which a tool with
// several forms of answers joins by one_of().
template <class Args, class Run>
std::unique_ptr<const Tool> make_tool(Described words, Fields<Args> fields, Run run) {
    return std::make_unique<TypedTool<Args>>(std::move(words), std::move(fields), std::move(run));
}

// A tool that answers with one struct: `run` replies with an Answered<Answer>. The fields say what
// this profile publishes and encodes; the audit log finds the changed block by touched_by().
template <class Args, class Answer, class Run>
std::unique_ptr<const Tool> make_tool(Described words, Fields<Args> fields, Fields<Answer> answer,
                                      Run run) {
    words.answer = answer.schema();
    return make_tool<Args>(
        std::move(words), std::move(fields),
        [answer = std::make_shared<const Fields<Answer>>(std::move(answer)), run = std::move(run)](
            const Session& session, Args args, Reply<ToolResult> reply) {
            run(session, std::move(args),
                answer_with(std::move(reply), [answer](Answered<Answer> said) {
                    ToolAnswer out{answer->encode(said.answer), std::move(said.text)};
                    out.lean = [answer](Map& structured, const Map& arguments) {
                        answer->lean(structured, arguments);
                    };
                    return ToolResult{std::move(out), touched_by(said.answer)};
                }));
        });
}

}  // namespace quire::tools
