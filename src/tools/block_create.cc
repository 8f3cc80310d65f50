#include <algorithm>

#include "base/cat.h"
#include "json/json.h"
#include "text/diff.h"
#include "tools/blocks.h"
#include "tools/render.h"
#include "tools/typed_tool.h"

namespace quire::tools {

namespace {

constexpr std::size_t kShownLines = 5;

struct Args {
    std::string conversation = "main";
    std::optional<std::string> parent_id;
    std::optional<std::string> after;
    blocks::Role role = blocks::Role::model;
    blocks::Kind kind = blocks::Kind::text;
    std::string content;
    Map metadata;
    std::optional<blocks::Status> status;
    std::string client_token;
};

Fields<Args> fields(Profile profile) {
    // A model reads them at every start, and rarely needs what it is not told of here.
    const bool full = profile == Profile::full;
    Fields<Args> out;
    out.optional("conversation", &Args::conversation, full ? "Default \"main\"." : "")
        .optional("parent_id", &Args::parent_id)
        .optional("after", &Args::after, full ? "The sibling it follows; absent: last." : "");
    if (full) {
        out.required("role", &Args::role).required("kind", &Args::kind);
    } else {
        out.optional("role", &Args::role).optional("kind", &Args::kind);
    }
    out.optional("content", &Args::content)
        .optional("metadata", &Args::metadata)
        .optional("status", &Args::status)
        .optional("client_token", &Args::client_token,
                  full ? "A repeated call gives the first one's block." : "");
    return out;
}

// The beginning of what was written, as a reply shows it.
std::string beginning(std::string_view content, Profile profile) {
    std::vector<std::string> lines;
    for (const std::string_view line : text::split_lines(content)) {
        if (lines.size() == kShownLines) break;
        lines.emplace_back(line);
    }
    return blocks::numbered(lines, {0}, numbering_of(profile), true);
}

Map output(Profile profile) {
    if (profile == Profile::full)
        return object_schema({{"block_id", "string"}, {"version", "integer"}});
    return object_schema({{"block_id", "string"}, {"version", "integer"}, {"snippet", "string"}});
}

}  // namespace

MadeTool make_block_create(kernel::Kernel& kernel, Profile profile) {
    return make_tool<Args>(
        {.name = "block_create",
         .title = "Create a block",
         .description = "Add a block to a conversation.",
         .annotations = {},
         .output_schema = output(profile)},
        fields(profile), [&kernel](const Session& session, Args args, Reply<ToolResult> reply) {
            const std::size_t most = kernel.limits().operation_bytes;
            if (json::write(args.metadata).size() > most) {
                return reply(refused(Error(Errc::out_of_range, "too_large",
                                           cat("metadata is over the limit of ", most,
                                               " bytes of JSON. Keep large text in the content"),
                                           {{"limit", most}})));
            }
            std::string shown = beginning(args.content, session.profile);
            kernel::BlockCreate what;
            what.conversation = std::move(args.conversation);
            what.parent_id = std::move(args.parent_id);
            what.after = std::move(args.after);
            what.role = args.role;
            what.kind = args.kind;
            what.content = std::move(args.content);
            what.metadata = std::move(args.metadata);
            what.status = args.status;
            what.client_token = std::move(args.client_token);
            const bool full = session.profile == Profile::full;
            const auto render =
                [full, shown = std::move(shown)](kernel::BlockVersion made) -> ToolResult {
                std::string text =
                    cat("Created ", made.block_id, ", version ", made.version, ".\n", shown);
                Map out{{"block_id", std::move(made.block_id)}, {"version", made.version}};
                if (!full) out.append("snippet", shown);
                return {std::move(out), std::move(text)};
            };
            kernel.create(session.caller, std::move(what),
                          answer_with<kernel::BlockVersion>(std::move(reply), render));
        });
}

}  // namespace quire::tools
