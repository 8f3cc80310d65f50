// block_append: text at the end of a block, exactly as given.
//
// With `ack: "accepted"` the kernel answers at once and gathers small appends into one change; with
// "durable" it answers when the text is on disk. Only then is the change known, so only then does
// the answer show a snippet.
#include "base/concat.h"
#include "kernel/core/kernel.h"
#include "tools/argument_words.h"
#include "tools/block_calls.h"
#include "tools/render.h"
#include "tools/tools.h"
#include "tools/typed_tool.h"

namespace quire::tools {

namespace {

struct BlockAppendArgs {
    std::string block_id;
    std::string text;
    std::optional<kernel::Ack> ack;
};

Fields<BlockAppendArgs> block_append_fields() {
    return Fields<BlockAppendArgs>()
        .required("block_id", &BlockAppendArgs::block_id, kBlockIdSays)
        .required("text", &BlockAppendArgs::text, "Added exactly so.")
        .optional("ack", &BlockAppendArgs::ack, "Absent: durable (on disk).");
}

struct BlockAppendAnswer {
    std::uint64_t version = 0;
    bool durable = false;
    std::optional<std::string> snippet = {};
};

// In profile `full` the answer has no snippet: programs know what they appended.
Fields<BlockAppendAnswer> block_append_answer(Profile profile) {
    Fields<BlockAppendAnswer> out;
    out.required("version", &BlockAppendAnswer::version)
        .required("durable", &BlockAppendAnswer::durable);
    if (profile != Profile::full) out.optional("snippet", &BlockAppendAnswer::snippet);
    return out;
}

// "Accepted" promises less than "Done": text that is not durable yet may be lost with the kernel,
// and the answer says which it is.
Answered<BlockAppendAnswer> render_append(const kernel::Appended& appended, Profile profile) {
    BlockAppendAnswer out{appended.version, appended.durable};
    const std::string_view how = appended.durable ? "Done" : "Accepted";
    if (!appended.change) return {std::move(out), cat(how, ": version ", appended.version, ".\n")};
    out.snippet = snippet_of(*appended.change, profile);
    return {std::move(out), cat(how, ": now ", version_line(appended.version, appended.line_count),
                                ".\n", snippet_text(*appended.change, profile))};
}

}  // namespace

MadeTool make_block_append(kernel::Kernel& kernel, kernel::FileCalls* files, Profile profile) {
    return make_tool<BlockAppendArgs>(
        {.name = "block_append",
         .title = "Append",
         .description = "Add text at the end.",
         .annotations = {}},
        block_append_fields(), block_append_answer(profile),
        [&kernel, files](const Session& session, BlockAppendArgs args,
                  Reply<Answered<BlockAppendAnswer>> reply) {
            append_to_block(
                {kernel, files}, session.caller, std::move(args.block_id), std::move(args.text),
                args.ack.value_or(kernel::Ack::durable),
                answer_with(std::move(reply), [profile = session.profile](const auto& appended) {
                    return render_append(appended, profile);
                }));
        });
}

}  // namespace quire::tools
