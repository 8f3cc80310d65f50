// Calls that change a block of a conversation: create, set its status, edit its text, delete it.
// Each is one function that runs on the document's strand, makes one commit and records one unit
// of undo. Pending appends are flushed first, so that every change sees the whole text. Creating
// with a client token is idempotent: calls with one token take turns, and a later one is answered
// with the first one's block.

#include <algorithm>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/concat.h"
#include "conversation/conversation.h"
#include "crdt/doc/text.h"
#include "edits/splice_diff.h"
#include "edits/view.h"
#include "kernel/core/appends.h"
#include "kernel/core/core.h"
#include "kernel/core/cursors.h"
#include "kernel/core/describe.h"
#include "kernel/core/kinds.h"
#include "kernel/core/versions.h"
#include "memory/splices.h"
#include "text/escape_hidden.h"

namespace quire::kernel {

namespace {

constexpr std::size_t kLongestName = 200;

// The block that `id` names in this document, as a parent or a neighbour. Errors: not_found
// "invalid_reference".
Result<std::optional<crdt::OpId>> neighbour(LiveDocument& document,
                                            const std::optional<std::string>& id,
                                            std::string_view as) {
    if (!id) return std::optional<crdt::OpId>();
    const conversation::BlockId parsed = TRY(conversation::BlockId::parse(*id));
    if (parsed.document != document.key() || parsed.is_document()) {
        return fail(Errc::not_found, "invalid_reference",
                    cat(as, " '", *id, "' is not a block of conversation '", document.name(), "'"),
                    {{as == "parent_id" ? "parent_id" : "after", *id}});
    }
    const BlockRef block = TRY(document.find(parsed));
    return std::optional<crdt::OpId>(block.id);
}

// A new block's place. One that comes `after` another has the same parent.
Result<conversation::NewBlock> place(LiveDocument& document, const BlockCreate& what) {
    conversation::NewBlock block;
    block.parent = TRY(neighbour(document, what.parent_id, "parent_id"));
    block.after = TRY(neighbour(document, what.after, "after"));
    if (block.after) {
        const std::optional<crdt::OpId>& parent =
            document.conversation()->find(*block.after)->parent;
        if (block.parent && parent != block.parent) {
            return fail(Errc::not_found, "invalid_reference",
                        cat("after '", *what.after, "' is not a child of '", *what.parent_id,
                            "'; leave out one of the two"));
        }
        block.parent = parent;
    }
    return block;
}

// A tool_result belongs to a tool_call, which has one. Errors: not_found "invalid_reference"; conflict
// "already_answered" {block_id}.
Result<void> check_answers(LiveDocument& document, const conversation::NewBlock& block) {
    if (block.kind != name_of(conversation::Kind::tool_result)) return {};
    const conversation::ConversationBlock* const call =
        block.parent ? document.conversation()->find(*block.parent) : nullptr;
    if (call == nullptr || call->kind() != name_of(conversation::Kind::tool_call)) {
        return fail(Errc::not_found, "invalid_reference",
                    "a tool_result answers a tool_call: give the call's id as parent_id");
    }
    const conversation::ConversationBlock* const before =
        document.conversation()->answer_to(call->id);
    if (before == nullptr) return {};
    const std::string id = document.id_of(document.ref_of(*before)).str();
    return fail(Errc::conflict, "already_answered",
                cat("this tool_call has its tool_result, ", id, ". Append to that one or edit it"),
                {{"block_id", id}});
}

Result<void> check_text(std::string_view what, std::size_t size, std::size_t limit) {
    if (size > limit) return too_large(what, limit);
    return {};
}

}  // namespace

bool is_conversation_name(std::string_view name) {
    return !name.empty() && name.size() <= kLongestName;
}

BlockVersion add_block(LiveDocument& document, const policy::Actor& by,
                       const conversation::NewBlock& block, std::string_view operation) {
    document.begin(by);
    const crdt::OpId id = document.conversation()->create(block);
    Unit unit;
    unit.actor = by.str();
    unit.description = operation;
    unit.kind = UnitKind::create;
    unit.spans = {document.commit(by, operation)};
    const BlockRef ref = document.ref_of(*document.conversation()->find(id));
    document.record(ref, std::move(unit));
    return {document.id_of(ref).str(), ref.state->version};
}

Result<void> check_conversation_name(Core& core, std::string_view name) {
    if (!is_conversation_name(name)) {
        return invalid("invalid_argument",
                       cat("a conversation's name has 1 to ", kLongestName, " bytes"));
    }
    // A conversation that an earlier version made goes on under its name.
    if (text::has_forbidden_in_name(name) &&
        !core.catalog().is_taken({kConversationKind, std::string(name)})) {
        return invalid("invalid_label",
                       "a conversation's name has no control, direction or line-separating "
                       "characters");
    }
    return {};
}

Failure too_large(std::string_view what, std::size_t limit, std::string_view advice) {
    return fail(Errc::out_of_range, "too_large",
                cat(what, " would be over the limit of ", limit, " bytes. ", advice),
                {{"limit", limit}});
}

namespace {

// Ends the transaction that changed a block's fields beside its text.
BlockVersion commit_fields(LiveDocument& document, const BlockRef& block, const policy::Actor& by,
                           Unit unit, std::string_view operation) {
    unit.actor = by.str();
    unit.spans = {document.commit(by, operation)};
    // An undo must not reach across a change of status or marks, so every actor's next append
    // begins a unit of its own.
    block.state->end_append_runs();
    document.record(block, std::move(unit));
    return {document.id_of(block).str(), block.state->version};
}

// Creates the block in the document of its conversation.
Result<BlockVersion> create_in(LiveDocument& document, const Caller& by, BlockCreate& what,
                               std::int64_t now_ms) {
    const std::string actor = by.actor.str();
    conversation::NewBlock block = TRY(place(document, what));
    block.role = name_of(what.role);
    block.kind = name_of(what.kind);
    block.status = name_of(what.status.value_or(conversation::Status::pending));
    block.author = actor;
    block.created_ms = now_ms;
    block.metadata = std::move(what.metadata);
    block.content = std::move(what.content);
    TRY(check_answers(document, block));

    BlockVersion made = add_block(document, by.actor, block, "create");
    keep_token(document, by.actor, what.client_token, made.block_id);
    return made;
}

void create_block(Core& core, const Caller& by, BlockCreate what, Reply<BlockVersion> reply) {
    DocumentName name{{kConversationKind, what.conversation}};
    core.run<BlockVersion>(by, std::move(name), Access::append, std::move(reply),
                           [clock = &core.parts().clock, what = std::move(what)](
                               LiveDocument& document, const Caller& caller) mutable {
                               return create_in(document, caller, what, clock->wall_ms());
                           });
}

}  // namespace

void Kernel::create(Caller by, BlockCreate what, Reply<BlockVersion> reply) {
    if (const auto fits = core_->check_new(what.content); !fits) {
        reply(Failure(fits.error()));
        return;
    }
    if (const auto named = check_conversation_name(*core_, what.conversation); !named)
        return reply(Failure(named.error()));
    if (what.client_token.empty())
        return create_block(*core_, by, std::move(what), std::move(reply));
    const std::string token = what.client_token;
    core_->once(
        by, token,
        [core = core_, by, what = std::move(what)](Reply<BlockVersion> made) mutable {
            create_block(*core, by, std::move(what), std::move(made));
        },
        std::move(reply));
}

void keep_token(LiveDocument& document, const policy::Actor& by, const std::string& token,
                const std::string& block_id) {
    if (token.empty()) return;
    document.transaction().keep({.table = store::Table::tokens, .key = token, .owner = by.str()},
                                block_id);
}

void Core::once(const Caller& by, const std::string& token,
                Function<void(Reply<BlockVersion>)> make, Reply<BlockVersion> reply) {
    if (token.size() > kLongestName) {
        return reply(invalid("invalid_argument",
                             cat("a client_token has at most ", kLongestName, " bytes")));
    }
    const Turns::Token turn(by.actor.str(), token);
    // A retry may come while the first call is under way. It waits for its turn, which ends with
    // the first call's answer; the token is durable then, so the look into the store finds it.
    turns_.take(turn, [core = shared_from_this(), turn, make = std::move(make),
                       reply = std::move(reply)]() mutable {
        Reply<BlockVersion> ended = [core, turn,
                                     reply = std::move(reply)](Result<BlockVersion> made) mutable {
            reply(std::move(made));
            core->turns_.end(turn);
        };
        const auto before = core->parts().store.record(
            {.table = store::Table::tokens, .key = turn.second, .owner = turn.first});
        if (!before) return ended(Failure(before.error()));
        if (!*before) return make(std::move(ended));
        // A token belongs to its first block for good, so the answer is that block's present version.
        core->run_on_block<BlockVersion>(
            {}, {std::string(as_text(**before)), true}, Access::read, std::move(ended),
            [id = std::string(as_text(**before))](LiveDocument& document, const BlockRef& block,
                                                  const Caller&) -> Result<BlockVersion> {
                const bool is_deleted =
                    block.fields == nullptr ? document.record().deleted : block.fields->deleted;
                if (is_deleted) {
                    return fail(Errc::conflict, "token_used",
                                cat("this client_token made block ", id,
                                    ", which was deleted; block_undo brings it back, and another "
                                    "token makes another block"),
                                {{"block_id", id}});
                }
                return BlockVersion{id, block.state->version};
            });
    });
}

Result<void> check_savable(const LiveDocument& document, std::string_view text) {
    if (!is_file_text(document.kind()) || text.find('\0') == std::string_view::npos) return {};
    return invalid("binary_file",
                   cat("a text file has no NUL in it, and ", document.name(),
                       " could not be saved with one. Write it without"),
                   {{"path", document.name()}});
}

void set_running(LiveDocument& document, const BlockRef& block) {
    block.state->interrupted = false;
    if (block.fields != nullptr && block.fields->status() == "pending")
        document.conversation()->set_status(block.id, "running");
}

void Kernel::set_status(Caller by, std::string block_id, conversation::Status status,
                        Reply<BlockVersion> reply) {
    core_->run_on_block<BlockVersion>(
        std::move(by), block_id, Access::overwrite, std::move(reply),
        [core = core_, status](LiveDocument& document, const BlockRef& block,
                               const Caller& caller) -> Result<BlockVersion> {
            std::string id = document.id_of(block).str();
            if (block.fields == nullptr) {
                return invalid("invalid_argument",
                               cat("'", id, "' is a file: it has no status to set"));
            }
            core->flush(document, block);
            // A status that this program does not know counts as done.
            const conversation::Status before =
                parse_enum<conversation::Status>("status", block.fields->status())
                    .value_or(conversation::Status::done);
            TRY(conversation::check_transition(before, status));
            block.state->end_append_runs();
            // An interrupted block shows as error although its field still says running: setting
            // that again makes a version, which ends the interruption.
            if (before == status && !block.state->interrupted)
                return BlockVersion{std::move(id), block.state->version};
            document.begin(caller.actor);
            document.conversation()->set_status(block.id, name_of(status));
            Unit unit;
            unit.description = cat("status ", name_of(status));
            unit.kind = UnitKind::status;
            unit.status = {before, status};
            block.state->interrupted = false;
            return commit_fields(document, block, caller.actor, std::move(unit), "status");
        });
}

void Kernel::mark(Caller by, std::string block_id, MarkChange change, Reply<BlockVersion> reply) {
    core_->run_on_block<BlockVersion>(
        std::move(by), block_id, Access::overwrite, std::move(reply),
        [core = core_, change](LiveDocument& document, const BlockRef& block,
                               const Caller& caller) -> Result<BlockVersion> {
            std::string id = document.id_of(block).str();
            if (block.fields == nullptr)
                return invalid("invalid_argument", cat("'", id, "' is a file: it has no marks"));
            core->flush(document, block);
            conversation::Marks marks = block.fields->marks;
            marks.excluded = change.excluded.value_or(marks.excluded);
            marks.collapsed = change.collapsed.value_or(marks.collapsed);
            marks.ephemeral = change.ephemeral.value_or(marks.ephemeral);
            if (marks == block.fields->marks)
                return BlockVersion{std::move(id), block.state->version};
            std::string words;
            for (const auto& [key, flag] : conversation::kMarkFields) {
                if (marks.*flag == block.fields->marks.*flag) continue;
                cat_to(words, cat(words.empty() ? "mark " : ", ", marks.*flag ? "" : "not ", key));
            }
            document.begin(caller.actor);
            document.conversation()->set_marks(block.id, marks);
            Unit unit;
            unit.description = std::move(words);
            unit.kind = UnitKind::status;
            return commit_fields(document, block, caller.actor, std::move(unit), "mark");
        });
}

void Kernel::edit(Caller by, std::string block_id, std::string operation, edits::Plan plan,
                  Reply<Edited> reply) {
    core_->run_on_block<Edited>(
        std::move(by), block_id, Access::overwrite, std::move(reply),
        [core = core_, what = TextEdit{std::move(operation), std::move(plan)}](
            LiveDocument& document, const BlockRef& block, const Caller& caller) mutable {
            return core->edit(document, block, caller, what);
        });
}

Edited Core::described(LiveDocument& document, const BlockRef& block,
                       edits::Planned planned) const {
    return edited_as(document, block, std::move(planned), limits());
}

Result<Edited> Core::edit(LiveDocument& document, const BlockRef& block, const Caller& by,
                          TextEdit& what) {
    flush(document, block);
    crdt::Doc& doc = document.doc();
    const seq::Rope& text = doc.text(block.content).rope();
    // The caller's permission was checked where the call entered the document. Here come the plan,
    // which says if the edit fits the text, then its size, then a NUL in a file. A person's
    // approval comes last, because nobody is asked for an edit that would fail.
    const auto admit = [&](const Result<edits::Planned>& planned) -> Result<void> {
        if (!planned) return {};
        TRY(check_size(text, *planned));
        for (const text::Splice& splice : planned->splices)
            TRY(check_savable(document, splice.insert));
        return by.check_approved([&] {
            const std::string name = diff_name(document, block);
            return edits::splice_diff(text, planned->splices,
                                      {.from = cat("a/", name), .to = cat("b/", name)});
        });
    };
    const auto write = [&](const edits::Planned& planned) -> Result<void> {
        if (what.before) TRY(what.before(planned.splices));
        if (what.instead) return what.instead();
        document.begin(by.actor);
        memory::apply(doc, block.content, planned.splices);
        if (block.state->cursors != nullptr)
            block.state->cursors->follow(doc, block.content, by.actor.str(), planned.splices);
        set_running(document, block);
        Unit unit;
        unit.actor = by.actor.str();
        unit.description = what.operation;
        unit.spans = {document.commit(by.actor, what.operation)};
        // Appends of one actor in a row are one step of undo, and so are edits that only append.
        // Any other edit ends the run of its own actor; another actor's run goes on.
        if (what.appends) {
            unit.group = block.state->appends_made().group_of(unit.actor, block.state->version + 1);
        } else {
            block.state->end_append_run(unit.actor);
        }
        document.record(block, std::move(unit));
        return {};
    };
    return edit(document, block, text, what.plan, admit, write);
}

Result<void> Core::check_new(std::string_view content) const {
    TRY(check_text("the content", content.size(), limits().operation_bytes));
    if (content.size() > limits().block_bytes)
        return too_large("the block", limits().block_bytes, kGoOnElsewhere);
    return {};
}

Result<void> Core::check_size(const seq::Rope& text, const edits::Planned& planned) const {
    // Splices of a plan do not overlap, so they erase at most the text and the size never wraps.
    std::size_t size = text.bytes().n;
    std::size_t inserted = 0;
    for (const text::Splice& splice : planned.splices) {
        size += splice.insert.size();
        size -= splice.erase.n;
        inserted += splice.insert.size();
    }
    // Newlines that an operation adds are not its caller's.
    const std::size_t added = 2 * planned.splices.size();
    if (!planned.is_own_text) {
        TRY(check_text("the text of the operation", inserted - std::min(inserted, added),
                       limits().operation_bytes));
    }
    if (size > limits().block_bytes)
        return too_large("the block", limits().block_bytes, kGoOnElsewhere);
    return {};
}

void Kernel::erase(Caller by, std::string block_id, Reply<BlockVersion> reply) {
    core_->run_on_block<BlockVersion>(
        std::move(by), block_id, Access::erase, std::move(reply),
        [core = core_](LiveDocument& document, const BlockRef& block,
                       const Caller& caller) -> Result<BlockVersion> {
            std::string id = document.id_of(block).str();
            if (block.fields == nullptr) {
                return invalid(
                    "invalid_argument",
                    cat("'", id, "' is a file; delete it with the tool file, operation delete"));
            }
            core->flush(document, block);
            document.begin(caller.actor);
            // A flag hides the block. Its text and its history stay, so an undo can bring it back
            // with the same id.
            document.conversation()->set_deleted(block.id, true);
            Unit unit;
            unit.description = "delete";
            unit.kind = UnitKind::erase;
            return commit_fields(document, block, caller.actor, std::move(unit), "delete");
        });
}

}  // namespace quire::kernel
