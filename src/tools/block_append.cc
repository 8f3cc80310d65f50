#include "base/concat.h"
#include "tools/render.h"
#include "tools/tools.h"
#include "tools/typed_tool.h"

namespace quire::json {

template <>
struct Words<kernel::Ack> {
    static constexpr std::size_t count = 2;
    static std::string_view word(kernel::Ack ack) {
        return ack == kernel::Ack::durable ? "durable" : "accepted";
    }
};

}  // namespace quire::json

namespace quire::tools {

namespace {

struct Args {
    std::string block_id;
    std::string text;
    kernel::Ack ack = kernel::Ack::durable;
};

Fields<Args> fields(Profile profile) {
    const std::string_view why =
        profile == Profile::full
            ? "accepted: answer at once and gather small appends into one change."
            : "";
    return Fields<Args>()
        .required("block_id", &Args::block_id)
        .required("text", &Args::text)
        .optional("ack", &Args::ack, why);
}

struct Answer {
    std::uint64_t version = 0;
    bool durable = false;
    std::optional<std::string> snippet = {};
};

Fields<Answer> answer(Profile profile) {
    Fields<Answer> out;
    out.required("version", &Answer::version).required("durable", &Answer::durable);
    if (profile != Profile::full) out.optional("snippet", &Answer::snippet);
    return out;
}

Answered<Answer> render(const kernel::Appended& appended, Profile profile) {
    Answer out{appended.version, appended.durable};
    const std::string_view how = appended.durable ? "Done" : "Accepted";
    if (!appended.change) return {std::move(out), cat(how, ": version ", appended.version, ".\n")};
    out.snippet = snippet_of(*appended.change, profile);
    return {std::move(out), cat(how, ": now ", version_line(appended.version, appended.line_count),
                                ".\n", snippet_text(*appended.change, profile))};
}

}  // namespace

MadeTool make_block_append(kernel::Kernel& kernel, Profile profile) {
    return make_tool<Args>(
        {.name = "block_append",
         .title = "Append to a block",
         .description = "Add text at the end of a block, exactly as given.",
         .annotations = {}},
        fields(profile), answer(profile),
        [&kernel](const Session& session, Args args, Reply<Answered<Answer>> reply) {
            kernel.append(
                session.caller, std::move(args.block_id), std::move(args.text), args.ack,
                answer_with(std::move(reply), [profile = session.profile](const auto& appended) {
                    return render(appended, profile);
                }));
        });
}

}  // namespace quire::tools
