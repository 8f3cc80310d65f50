#include "base/cat.h"
#include "tools/blocks.h"
#include "tools/render.h"
#include "tools/typed_tool.h"

namespace quire::tools {

template <>
struct Words<kernel::Ack> {
    static constexpr std::size_t count = 2;
    static std::string_view word(kernel::Ack ack) {
        return ack == kernel::Ack::durable ? "durable" : "accepted";
    }
};

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

Map output(Profile profile) {
    if (profile == Profile::full)
        return object_schema({{"version", "integer"}, {"durable", "boolean"}});
    return object_schema({{"version", "integer"}, {"durable", "boolean"}, {"snippet", "string?"}});
}

}  // namespace

MadeTool make_block_append(kernel::Kernel& kernel, Profile profile) {
    return make_tool<Args>(
        {.name = "block_append",
         .title = "Append to a block",
         .description = "Add text at the end of a block, exactly as given.",
         .annotations = {},
         .output_schema = output(profile)},
        fields(profile), [&kernel](const Session& session, Args args, Reply<ToolResult> reply) {
            const Profile shown_as = session.profile;
            kernel.append(
                session.caller, std::move(args.block_id), std::move(args.text), args.ack,
                answer_with<kernel::Appended>(
                    std::move(reply), [shown_as](const kernel::Appended& appended) -> ToolResult {
                        Map out{{"version", appended.version}, {"durable", appended.durable}};
                        const std::string_view how = appended.durable ? "Done" : "Accepted";
                        if (!appended.change) {
                            return {std::move(out),
                                    cat(how, ": version ", appended.version, ".\n")};
                        }
                        const std::string snippet = snippet_text(*appended.change, shown_as);
                        if (shown_as != Profile::full)
                            out.append("snippet", snippet_of(*appended.change, shown_as));
                        return {
                            std::move(out),
                            cat(how, ": now ", version_line(appended.version, appended.line_count),
                                ".\n", snippet)};
                    }));
        });
}

}  // namespace quire::tools
