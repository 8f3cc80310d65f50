// Calls that change a block: create, status, edit, delete.

#include <algorithm>

#include "base/bytes.h"
#include "edits/view.h"
#include "kernel/body.h"
#include "kernel/describe.h"
#include "memory/splices.h"

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

Result<void> check_text(std::string_view what, std::size_t size, std::size_t limit) {
    if (size > limit) return too_large(what, limit);
    return {};
}

}  // namespace

bool is_conversation_name(std::string_view name) {
    return !name.empty() && name.size() <= kLongestName;
}

Failure too_large(std::string_view what, std::size_t limit, std::string_view advice) {
    return fail(Errc::out_of_range, "too_large",
                cat(what, " would be over the limit of ", limit, " bytes. ", advice),
                {{"limit", limit}});
}

void Kernel::create(Caller by, BlockCreate what, Reply<BlockVersion> reply) {
    if (const auto fits = body_->check_new(what.content); !fits) {
        reply(Failure(fits.error()));
        return;
    }
    if (!is_conversation_name(what.conversation)) {
        reply(invalid("invalid_argument",
                      cat("a conversation's name has 1 to ", kLongestName, " bytes")));
        return;
    }
    if (what.client_token.size() > kLongestName) {
        reply(invalid("invalid_argument",
                      cat("a client_token has at most ", kLongestName, " bytes")));
        return;
    }
    if (what.client_token.empty()) return body_->create(by, std::move(what), std::move(reply));
    const Body::Token token(by.actor.str(), what.client_token);
    body_->take_turn(token, [body = body_, token, by, what = std::move(what),
                             reply = std::move(reply)]() mutable {
        body->create(by, std::move(what),
                     [body, token, reply = std::move(reply)](Result<BlockVersion> made) mutable {
                         reply(std::move(made));
                         body->end_turn(token);
                     });
    });
}

void Kernel::Body::create(const Caller& by, BlockCreate what, Reply<BlockVersion> reply) {
    const std::string conversation = what.conversation;
    on_named<BlockVersion>(
        by, {kConversationKind, conversation}, Access::append, std::move(reply),
        [body = shared_from_this(), by, what = std::move(what)](
            LiveDocument& live, Reply<BlockVersion> answer) mutable {
            const std::string actor = by.actor.str();
            if (!what.client_token.empty()) {
                const auto before = body->parts().store.record(
                    {.table = store::Table::tokens, .key = what.client_token, .owner = actor});
                const bool made = before && *before;
                if ((!before || made) && live.is_blank()) body->catalog().drop(live.key());
                if (!before) return answer(Failure(before.error()));
                if (made)
                    return body->answer_token(std::string(as_text(**before)), std::move(answer));
            }
            Result<conversation::NewBlock> block = place(live, what);
            if (!block) {
                if (live.is_blank()) body->catalog().drop(live.key());
                return answer(Failure(block.error()));
            }
            block->role = name_of(what.role);
            block->kind = name_of(what.kind);
            block->status = name_of(what.status.value_or(conversation::Status::pending));
            block->author = actor;
            block->created_ms = body->parts().clock.wall_ms();
            block->metadata = std::move(what.metadata);
            block->content = std::move(what.content);

            live.begin(by.actor);
            const crdt::OpId id = live.conversation()->create(*block);
            Unit unit;
            unit.actor = actor;
            unit.description = "create";
            unit.kind = UnitKind::create;
            unit.spans = {live.commit(by.actor, "create")};
            const BlockRef ref = live.ref_of(*live.conversation()->find(id));
            live.record(ref, std::move(unit));

            BlockVersion made{live.id_of(ref).str(), ref.state->version};
            if (!what.client_token.empty())
                live.batch().keep(
                    {.table = store::Table::tokens, .key = what.client_token, .owner = actor},
                    made.block_id);
            body->submit(live, std::move(made), std::move(answer));
        });
}

Result<void> Kernel::Body::check_savable(const LiveDocument& document, std::string_view text) {
    if (document.kind() != kFileKind || text.find('\0') == std::string_view::npos) return {};
    return invalid("binary_file",
                   cat("a text file has no NUL in it, and ", document.name(),
                       " could not be saved with one. Write it without"),
                   {{"path", document.name()}});
}

void Kernel::Body::set_running(LiveDocument& document, const BlockRef& block) {
    block.state->interrupted = false;
    if (block.fields != nullptr && block.fields->status == "pending")
        document.conversation()->set_status(block.id, "running");
}

void Kernel::Body::take_turn(const Token& token, Function<void()> call) {
    const bool mine = tokens_.with([&](Tokens& tokens) {
        const auto [at, free] = tokens.try_emplace(token);
        if (!free) at->second.push_back(std::move(call));
        return free;
    });
    if (mine) call();
}

void Kernel::Body::end_turn(const Token& token) {
    Function<void()> next = tokens_.with([&](Tokens& tokens) -> Function<void()> {
        const auto at = tokens.find(token);
        if (!at->second.empty()) {
            Function<void()> call = std::move(at->second.front());
            at->second.pop_front();
            return call;
        }
        tokens.erase(at);
        return {};
    });
    if (next) next();
}

// The first one's block as it is now, also where it has been deleted since.
void Kernel::Body::answer_token(const std::string& block_id, Reply<BlockVersion> reply) {
    on_block<BlockVersion>(
        {}, {block_id, true}, Access::read, std::move(reply),
        [self = shared_from_this(), block_id](LiveDocument& live, BlockRef block,
                                              Reply<BlockVersion> answer) {
            self->answer(live, BlockVersion{block_id, block.state->version}, std::move(answer));
        });
}

void Kernel::set_status(Caller by, std::string block_id, conversation::Status status,
                        Reply<BlockVersion> reply) {
    body_->on_block<BlockVersion>(
        by, block_id, Access::overwrite, std::move(reply),
        [body = body_, by, status](LiveDocument& document, BlockRef block,
                                   Reply<BlockVersion> answer) {
            const std::string id = document.id_of(block).str();
            if (block.fields == nullptr) {
                return answer(invalid("invalid_argument",
                                      cat("'", id, "' is a file: it has no status to set")));
            }
            body->flush(document, block);
            const conversation::Status before =
                parse_enum<conversation::Status>("status", block.fields->status)
                    .value_or(conversation::Status::done);
            const Result<void> allowed = conversation::check_transition(before, status);
            if (!allowed) return answer(Failure(allowed.error()));
            Body::end_append_runs(*block.state);
            if (before == status && !block.state->interrupted) {
                return body->answer(document, BlockVersion{id, block.state->version},
                                    std::move(answer));
            }
            document.begin(by.actor);
            document.conversation()->set_status(block.id, name_of(status));
            Unit unit;
            unit.actor = by.actor.str();
            unit.description = cat("status ", name_of(status));
            unit.kind = UnitKind::status;
            unit.status = {before, status};
            block.state->interrupted = false;
            unit.spans = {document.commit(by.actor, "status")};
            document.record(block, std::move(unit));
            body->submit(document, BlockVersion{id, block.state->version}, std::move(answer));
        });
}

void Kernel::edit(Caller by, std::string block_id, std::string operation, edits::Plan plan,
                  Reply<Edited> reply) {
    body_->on_block<Edited>(
        by, block_id, Access::overwrite, std::move(reply),
        [body = body_, by, operation = std::move(operation), plan = std::move(plan)](
            LiveDocument& document, BlockRef block, Reply<Edited> answer) mutable {
            body->flush(document, block);
            crdt::Doc& doc = document.doc();
            Result<edits::Planned> planned =
                plan(doc.text(block.content).rope(), block.state->version);
            if (!planned) {
                // What the refusal says of the text is a read: it waits until that text is durable.
                return body->refuse(document, std::move(planned).error(), std::move(answer));
            }
            Result<void> fits = body->check_size(doc.text(block.content).rope(), planned->splices);
            for (const text::Splice& splice : planned->splices)
                if (fits) fits = Body::check_savable(document, splice.insert);
            if (!fits) return answer(Failure(fits.error()));
            if (!planned->splices.empty()) {
                document.begin(by.actor);
                memory::apply(doc, block.content, planned->splices);
                Body::set_running(document, block);
                Unit unit;
                unit.actor = by.actor.str();
                unit.description = operation;
                unit.spans = {document.commit(by.actor, operation)};
                block.state->appends.groups.erase(unit.actor);
                document.record(block, std::move(unit));
            }
            Edited result = edited_as(document, block, std::move(*planned), body->limits());
            if (result.no_op) return body->answer(document, std::move(result), std::move(answer));
            body->submit(document, std::move(result), std::move(answer));
        });
}

Result<void> Kernel::Body::check_new(std::string_view content) const {
    TRY(check_text("the content", content.size(), limits().operation_bytes));
    if (content.size() > limits().block_bytes)
        return too_large("the block", limits().block_bytes, kGoOnElsewhere);
    return {};
}

Result<void> Kernel::Body::check_size(const seq::Rope& text,
                                      std::span<const text::Splice> splices) const {
    std::size_t size = text.bytes().n;
    std::size_t inserted = 0;
    for (const text::Splice& splice : splices) {
        size += splice.insert.size();
        size -= splice.erase.n;
        inserted += splice.insert.size();
    }
    // Newlines that an operation adds are not its caller's.
    const std::size_t added = 2 * splices.size();
    TRY(check_text("the text of the operation", inserted - std::min(inserted, added),
                   limits().operation_bytes));
    if (size > limits().block_bytes)
        return too_large("the block", limits().block_bytes, kGoOnElsewhere);
    return {};
}

void Kernel::erase(Caller by, std::string block_id, Reply<BlockVersion> reply) {
    body_->on_block<BlockVersion>(
        by, block_id, Access::erase, std::move(reply),
        [body = body_, by](LiveDocument& document, BlockRef block, Reply<BlockVersion> answer) {
            const std::string id = document.id_of(block).str();
            if (block.fields == nullptr) {
                return answer(invalid(
                    "invalid_argument",
                    cat("'", id, "' is a file; delete it with the tool file, operation delete")));
            }
            body->flush(document, block);
            document.begin(by.actor);
            document.conversation()->set_deleted(block.id, true);
            Unit unit;
            unit.actor = by.actor.str();
            unit.description = "delete";
            unit.kind = UnitKind::erase;
            unit.spans = {document.commit(by.actor, "delete")};
            Body::end_append_runs(*block.state);
            document.record(block, std::move(unit));
            body->submit(document, BlockVersion{id, block.state->version}, std::move(answer));
        });
}

}  // namespace quire::kernel
