// block_create: a new block in a conversation, or for a file of the workspace.
//
// A `client_token` makes the call safe to repeat: the second call with a token gets the block that
// the first one made. The kernel does not say which of the two it was, so the answer to a call with
// a token shows the block as it is now, not what the call carried.
#include <algorithm>

#include "base/concat.h"
#include "edits/numbering.h"
#include "json/json.h"
#include "kernel/core/kernel.h"
#include "kernel/core/parts.h"
#include "tools/render.h"
#include "tools/tools.h"
#include "tools/typed_tool.h"

namespace quire::tools {

namespace {

struct BlockCreateArgs {
    std::string conversation = kernel::BlockCreate{}.conversation;
    std::optional<std::string> parent_id;
    std::optional<std::string> after;
    conversation::Role role = conversation::Role::model;
    conversation::Kind kind = conversation::Kind::text;
    std::string content;
    Map metadata;
    std::optional<conversation::Status> status;
    std::string client_token;
};

Fields<BlockCreateArgs> block_create_fields(Profile profile) {
    constexpr std::string_view kRoleSays = "Its author.";
    constexpr std::string_view kKindSays = "What it is.";
    Fields<BlockCreateArgs> out;
    out.optional("conversation", &BlockCreateArgs::conversation, "Default main.")
        .optional("parent_id", &BlockCreateArgs::parent_id, "Its parent's id.")
        .optional("after", &BlockCreateArgs::after, "A sibling's id; absent: last.");
    if (profile == Profile::full) {
        out.required("role", &BlockCreateArgs::role, kRoleSays)
            .required("kind", &BlockCreateArgs::kind, kKindSays);
    } else {
        out.optional("role", &BlockCreateArgs::role, kRoleSays)
            .optional("kind", &BlockCreateArgs::kind, kKindSays);
    }
    out.optional("content", &BlockCreateArgs::content, "Its text.")
        .optional("metadata", &BlockCreateArgs::metadata, "Kept whole.")
        .optional("status", &BlockCreateArgs::status, "Default pending.")
        .optional("client_token", &BlockCreateArgs::client_token, "Makes a retry safe.");
    return out;
}

struct BlockCreateAnswer : kernel::BlockVersion {
    std::string snippet;
};

// Like block_append, only profile `full` answers without a snippet.
Fields<BlockCreateAnswer> block_create_answer(Profile profile) {
    Fields<BlockCreateAnswer> out;
    out.required("block_id", &BlockCreateAnswer::block_id)
        .required("version", &BlockCreateAnswer::version);
    if (profile != Profile::full) out.required("snippet", &BlockCreateAnswer::snippet);
    return out;
}

Answered<BlockCreateAnswer> render_create(kernel::BlockVersion made, std::string_view what,
                                          std::string snippet) {
    std::string text = cat(what, " ", made.block_id, ", version ", made.version, ".\n", snippet);
    return {{std::move(made), std::move(snippet)}, std::move(text)};
}

// Answers a call with a token: an earlier call may have made the block, so it is read as it is now.
void reply_as_it_is(kernel::Kernel& kernel, const Session& session, kernel::BlockVersion made,
                    Reply<Answered<BlockCreateAnswer>> reply) {
    const std::string block_id = made.block_id;
    kernel.read(
        session.caller, block_id, text::LineRange{{0}, {kShownLines}},
        [made = std::move(made), profile = session.profile,
         reply = std::move(reply)](Result<kernel::BlockText> block) mutable {
            // It may have been deleted since.
            std::string snippet =
                block ? edits::numbered(block->lines, {0}, numbering_of(profile), true)
                      : std::string();
            reply(render_create(std::move(made), "The token's block is", std::move(snippet)));
        });
}

}  // namespace

MadeTool make_block_create(kernel::Kernel& kernel, Profile profile) {
    return make_tool<BlockCreateArgs>(
        {.name = "block_create",
         .title = "Create block",
         .description = "Add a block to a conversation.",
         .annotations = {},
         .conversation = BlockCreateArgs{}.conversation},
        block_create_fields(profile), block_create_answer(profile),
        [&kernel](const Session& session, BlockCreateArgs args,
                  Reply<Answered<BlockCreateAnswer>> reply) {
            const std::size_t most = kernel.limits().operation_bytes;
            if (json::write(args.metadata).size() > most) {
                return reply(fail(Errc::out_of_range, "too_large",
                                  cat("metadata is over the limit of ", most,
                                      " bytes of JSON. Keep large text in the content"),
                                  {{"limit", most}}));
            }
            std::string shown = beginning_of(args.content, session.profile);
            const bool has_token = !args.client_token.empty();
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
            kernel.create(session.caller, std::move(what),
                          [&kernel, session, has_token, shown = std::move(shown),
                           reply = std::move(reply)](Result<kernel::BlockVersion> made) mutable {
                              if (!made) return reply(Failure(std::move(made).error()));
                              if (has_token) {
                                  return reply_as_it_is(kernel, session, std::move(*made),
                                                        std::move(reply));
                              }
                              reply(render_create(std::move(*made), "Created", std::move(shown)));
                          });
        });
}

}  // namespace quire::tools
