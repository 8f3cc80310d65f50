// block_create: a new block in a conversation. A block of kind file whose metadata names a path of the
// workspace is that file, and not another block beside it.
//
// A `client_token` makes the call safe to repeat: the second call with a token gets the block that
// the first one made, be it a file or a block of a conversation. A file that was only opened is not
// made by the token. The kernel does not say which of the two it was, so the answer to a call with
// a token shows the block as it is now, not what the call carried.
//
//   kind file, path and content  -> the file is made, or refused where there is one
//   kind file, path alone        -> the file is opened; where there is none, a block that names it
//   anything else                -> a block of the conversation
#include <algorithm>

#include "base/concat.h"
#include "edits/numbering.h"
#include "json/json.h"
#include "kernel/core/kernel.h"
#include "kernel/core/parts.h"
#include "kernel/files/file_calls.h"
#include "text/escape_hidden.h"
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
    // A program says role and kind; a model may leave them out and means its own text.
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
    std::string path = {};  // A file's.
};

// Like block_append, only profile `full` answers without a snippet.
Fields<BlockCreateAnswer> block_create_answer(Profile profile) {
    Fields<BlockCreateAnswer> out;
    out.required("block_id", &BlockCreateAnswer::block_id)
        .required("version", &BlockCreateAnswer::version)
        .optional("path", &BlockCreateAnswer::path);
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
            const auto id = conversation::BlockId::parse(made.block_id);
            const bool is_file = id && id->is_document();
            Answered<BlockCreateAnswer> answer =
                render_create(std::move(made), "The token's block is", std::move(snippet));
            if (block && is_file) answer.answer.path = std::move(block->info.path);
            reply(std::move(answer));
        });
}

void create_in_conversation(kernel::Kernel& kernel, const Session& session, BlockCreateArgs args,
                            std::string shown, Reply<Answered<BlockCreateAnswer>> reply) {
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
                      if (has_token)
                          return reply_as_it_is(kernel, session, std::move(*made),
                                                std::move(reply));
                      reply(render_create(std::move(*made), "Created", std::move(shown)));
                  });
}

// The path that a block of kind file has in its metadata; "" for none.
std::string path_in(const BlockCreateArgs& args) {
    const Value* const path =
        args.kind == conversation::Kind::file ? args.metadata.find("path") : nullptr;
    return path != nullptr && path->is_string() ? path->as_string() : std::string();
}

// Answers with the file that was created or opened, as `what` says.
Reply<kernel::FileVersion> shows_file(std::string_view what, std::string shown,
                                      Reply<Answered<BlockCreateAnswer>> reply) {
    return [what, shown = std::move(shown),
            reply = std::move(reply)](Result<kernel::FileVersion> file) mutable {
        if (!file) return reply(Failure(std::move(file).error()));
        Answered<BlockCreateAnswer> answer =
            render_create({file->block_id, file->version},
                          cat(what, " ", text::escape_hidden(file->path), ","), std::move(shown));
        answer.answer.path = std::move(file->path);
        reply(std::move(answer));
    };
}

void create_file(kernel::Kernel& kernel, kernel::FileCalls& files, const Session& session,
                 kernel::FileCreate what, std::string shown,
                 Reply<Answered<BlockCreateAnswer>> reply) {
    if (what.client_token.empty()) {
        return files.create(session.caller, std::move(what),
                            shows_file("Created", std::move(shown), std::move(reply)));
    }
    files.create_once(
        session.caller, std::move(what),
        [&kernel, session, reply = std::move(reply)](Result<kernel::BlockVersion> made) mutable {
            if (!made) return reply(Failure(std::move(made).error()));
            reply_as_it_is(kernel, session, std::move(*made), std::move(reply));
        });
}

// Opens the file of the path; if there is none, `otherwise` goes on.
void open_file(kernel::Kernel& kernel, kernel::FileCalls& files, const Session& session,
               std::string path, std::string token, std::string shown,
               Reply<Answered<BlockCreateAnswer>> reply,
               Function<void(Reply<Answered<BlockCreateAnswer>>)> otherwise) {
    if (!token.empty()) {
        return files.open_once(
            session.caller, std::move(path), std::move(token),
            [&kernel, session, reply = std::move(reply),
             otherwise = std::move(otherwise)](Result<kernel::BlockVersion> file) mutable {
                if (!file && file.error().code() == Errc::not_found)
                    return otherwise(std::move(reply));
                if (!file) return reply(Failure(std::move(file).error()));
                reply_as_it_is(kernel, session, std::move(*file), std::move(reply));
            });
    }
    files.open(session.caller, std::move(path),
               [shown = std::move(shown), reply = std::move(reply),
                otherwise = std::move(otherwise)](Result<kernel::FileVersion> file) mutable {
                   if (!file && file.error().code() == Errc::not_found)
                       return otherwise(std::move(reply));
                   shows_file("Opened", std::move(shown), std::move(reply))(std::move(file));
               });
}

}  // namespace

MadeTool make_block_create(kernel::Kernel& kernel, kernel::FileCalls* files, Profile profile) {
    return make_tool<BlockCreateArgs>(
        {.name = "block_create",
         .title = "Create block",
         .description = "Add a block to a conversation.",
         .annotations = {},
         .conversation = BlockCreateArgs{}.conversation},
        block_create_fields(profile), block_create_answer(profile),
        [&kernel, files](const Session& session, BlockCreateArgs args,
                         Reply<Answered<BlockCreateAnswer>> reply) {
            const std::size_t most = kernel.limits().operation_bytes;
            // The content has a limit in the kernel. Metadata is one value of a Map, so its size is
            // known only as JSON.
            if (json::write(args.metadata).size() > most) {
                return reply(fail(Errc::out_of_range, "too_large",
                                  cat("metadata is over the limit of ", most,
                                      " bytes of JSON. Keep large text in the content"),
                                  {{"limit", most}}));
            }
            std::string shown = beginning_of(args.content, session.profile);
            std::string path = files == nullptr ? std::string() : path_in(args);
            if (!path.empty() && !args.content.empty()) {
                return create_file(kernel, *files, session,
                                   {.path = std::move(path),
                                    .content = std::move(args.content),
                                    .client_token = std::move(args.client_token)},
                                   std::move(shown), std::move(reply));
            }
            std::string token = args.client_token;
            // The block in a conversation is both the usual case and the way out for a path without
            // a file.
            auto in_conversation = [&kernel, session, args = std::move(args),
                                    shown](Reply<Answered<BlockCreateAnswer>> to) mutable {
                create_in_conversation(kernel, session, std::move(args), std::move(shown),
                                       std::move(to));
            };
            if (path.empty()) return in_conversation(std::move(reply));
            open_file(kernel, *files, session, std::move(path), std::move(token), std::move(shown),
                      std::move(reply), std::move(in_conversation));
        });
}

}  // namespace quire::tools
