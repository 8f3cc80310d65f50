// block_fork: a conversation goes on in two. The copies are new blocks with the old ones' texts, so
// the answer pairs the ids: a caller that holds an old id finds its copy.
#include "base/concat.h"
#include "kernel/core/kernel.h"
#include "tools/render.h"
#include "tools/tools.h"
#include "tools/typed_tool.h"

namespace quire::json {

// A block's id, and that of its copy: [old, new].
template <>
struct Codec<std::pair<std::string, std::string>> {
    static Map schema() {
        return {{"type", "array"},
                {"items", Map{{"type", "string"}}},
                {"minItems", 2},
                {"maxItems", 2}};
    }
    static Read<std::pair<std::string, std::string>> read(const Value& value) {
        const bool fits = value.is_list() && value.as_list().size() == 2 &&
                          value.as_list()[0].is_string() && value.as_list()[1].is_string();
        if (!fits) return wrong_type("[old, new]", value);
        return std::pair(value.as_list()[0].as_string(), value.as_list()[1].as_string());
    }
    static Value encode(const std::pair<std::string, std::string>& pair) {
        return List{pair.first, pair.second};
    }
};

}  // namespace quire::json

namespace quire::tools {

namespace {

using kernel::Forked;

Answered<Forked> render_fork(Forked forked) {
    std::string text =
        cat("Conversation '", forked.conversation, "' has copies of ", forked.blocks.size(),
            forked.blocks.size() == 1 ? " block" : " blocks", ":\n");
    for (const auto& [old_id, new_id] : forked.blocks)
        cat_to(text, cat(old_id, " is ", new_id, "\n"));
    return {std::move(forked), std::move(text)};
}

}  // namespace

MadeTool make_block_fork(kernel::Kernel& kernel) {
    using kernel::ForkWhich;
    return make_tool<ForkWhich>(
        {.name = "block_fork",
         .title = "Fork a conversation",
         .description = "Copy a conversation, or an interval of it, to a new one. The copies have "
                        "ids of their own.",
         .annotations = {},
         .conversation = ForkWhich{}.conversation},
        Fields<ForkWhich>()
            .optional("conversation", &ForkWhich::conversation, "Default main.")
            .required("as", &ForkWhich::as, "The new conversation's name.")
            .optional("from", &ForkWhich::from, "The first block's id; absent: the first there is.")
            .optional("to", &ForkWhich::to, "The last block's id; absent: the last there is."),
        Fields<Forked>()
            .required("conversation", &Forked::conversation)
            .required("blocks", &Forked::blocks),
        [&kernel](const Session& session, ForkWhich which, Reply<Answered<Forked>> reply) {
            kernel.fork(session.caller, std::move(which),
                        answer_with(std::move(reply), render_fork));
        });
}

}  // namespace quire::tools
