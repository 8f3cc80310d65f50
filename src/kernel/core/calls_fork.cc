// A fork copies blocks of a conversation to a new one.
//
// The blocks are read on the strand of the old conversation and written on that of the new one, which
// is made by its first block, so that two forks under one name cannot both succeed. Each copy is a
// block with a history of its own. O(blocks of the conversation + their text).
#include <algorithm>
#include <map>

#include "base/concat.h"
#include "conversation/conversation.h"
#include "crdt/doc/text.h"
#include "kernel/core/core.h"
#include "kernel/core/kinds.h"

namespace quire::kernel {

namespace {

using conversation::ConversationBlock;
using conversation::NewBlock;

// A block to copy. Its parent is the place in the list of the block that has its parent's copy.
struct Copied {
    std::string id;
    NewBlock block;
    std::optional<std::size_t> parent = {};
};

Failure splits_pair(LiveDocument& document, const ConversationBlock& half,
                    const ConversationBlock& other) {
    const auto id_of = [&](const ConversationBlock& block) {
        return document.id_of(document.ref_of(block)).str();
    };
    const std::string outside = id_of(other);
    return fail(Errc::conflict, "splits_pair",
                cat("the interval has ", id_of(half), ", a ", half.kind(), ", and not its ",
                    other.kind(), " ", outside, "; take both or none"),
                {{"block_id", outside}});
}

// The blocks from `from` to `to`. Errors: not_found "invalid_reference".
Result<std::vector<const ConversationBlock*>> interval(LiveDocument& document,
                                                       const ForkWhich& which) {
    const std::vector<conversation::Conversation::Visit> all =
        document.conversation()->walk(std::nullopt, 0);
    const auto place = [&](const std::optional<std::string>& id, std::size_t absent,
                           std::string_view as) -> Result<std::size_t> {
        if (!id) return absent;
        const conversation::BlockId parsed = TRY(conversation::BlockId::parse(*id));
        const auto at = std::find_if(all.begin(), all.end(), [&](const auto& visit) {
            return document.id_of(document.ref_of(*visit.block)) == parsed;
        });
        if (at != all.end()) return static_cast<std::size_t>(at - all.begin());
        return fail(Errc::not_found, "invalid_reference",
                    cat(as, " '", *id, "' is not a block of conversation '", which.conversation,
                        "'; block_list shows its blocks"),
                    {{std::string(as), *id}});
    };
    const std::size_t first = TRY(place(which.from, 0, "from"));
    const std::size_t last = TRY(place(which.to, all.size() - 1, "to"));
    std::vector<const ConversationBlock*> blocks;
    if (all.empty()) return blocks;
    if (last < first) {
        return invalid("invalid_range", cat("to '", which.to.value_or("the last block"),
                                            "' stands before from '", *which.from, "'"));
    }
    for (std::size_t i = first; i <= last; ++i) blocks.push_back(all[i].block);
    return blocks;
}

// The copies that the fork will have. Errors: those of interval(); conflict "splits_pair".
Result<std::vector<Copied>> copy(Core& core, LiveDocument& document, const ForkWhich& which) {
    core.flush_all(document);
    const std::vector<const ConversationBlock*> blocks = TRY(interval(document, which));
    const conversation::Conversation& conversation = *document.conversation();
    std::map<crdt::OpId, std::size_t> places;
    for (std::size_t i = 0; i < blocks.size(); ++i) places.emplace(blocks[i]->id, i);
    std::vector<Copied> out;
    for (const ConversationBlock* const block : blocks) {
        // A tool_call and its tool_result are copied both or not at all. A result whose call was
        // deleted may go without it.
        const ConversationBlock* const call =
            block->parent ? conversation.find(*block->parent) : nullptr;
        if (block->kind() == name_of(conversation::Kind::tool_result) && call != nullptr &&
            !call->deleted && !places.contains(call->id))
            return splits_pair(document, *block, *call);
        const ConversationBlock* const answer =
            block->kind() == name_of(conversation::Kind::tool_call)
                ? conversation.answer_to(block->id)
                : nullptr;
        if (answer != nullptr && !places.contains(answer->id))
            return splits_pair(document, *block, *answer);

        Copied copied{document.id_of(document.ref_of(*block)).str(), {}};
        copied.block.role = block->role();
        copied.block.kind = block->kind();
        copied.block.status = block->status();
        copied.block.author = block->author();
        copied.block.created_ms = block->created_ms;
        copied.block.metadata = block->metadata;
        copied.block.marks = block->marks;
        copied.block.content = document.doc().text(block->content).rope().str();
        // A deleted block leaves its children to its own parent.
        for (const ConversationBlock* above = block; above != nullptr && above->parent;) {
            if (const auto at = places.find(*above->parent); at != places.end()) {
                copied.parent = at->second;
                break;
            }
            above = conversation.find(*above->parent);
        }
        out.push_back(std::move(copied));
    }
    return out;
}

Result<Forked> write(LiveDocument& document, const Caller& by, const std::string& as,
                     std::vector<Copied> copies) {
    // Another call may have made the conversation since the blocks were read. Only a document that
    // nobody has written is the fork's own.
    if (document.is_stored() || !document.is_blank()) {
        return fail(Errc::conflict, "conversation_exists",
                    cat("there is a conversation '", as, "' already; fork under another name"),
                    {{"conversation", as}});
    }
    Forked forked{as, {}};
    std::vector<crdt::OpId> ids;
    for (Copied& each : copies) {
        // In document order parents come before their children, so the parent's copy has its id
        // already.
        if (each.parent) each.block.parent = ids[*each.parent];
        BlockVersion made = add_block(document, by.actor, each.block, cat("fork of ", each.id));
        ids.push_back(document.conversation()->at(document.conversation()->size() - 1).id);
        forked.blocks.emplace_back(std::move(each.id), std::move(made.block_id));
    }
    return forked;
}

}  // namespace

void Kernel::fork(Caller by, ForkWhich which, Reply<Forked> reply) {
    if (const auto named = check_conversation_name(*core_, which.as); !named)
        return reply(Failure(named.error()));
    const auto from = core_->catalog().find(Name{kConversationKind, which.conversation});
    if (from == nullptr) {
        return reply(fail(Errc::not_found, "invalid_reference",
                          cat("there is no conversation '", which.conversation, "'"),
                          {{"conversation", which.conversation}}));
    }
    std::string as = which.as;
    core_->look<std::vector<Copied>>(
        by, ThisDocument{from}, Access::read,
        [core = core_, by, as = std::move(as),
         reply = std::move(reply)](Result<std::vector<Copied>> copies) mutable {
            if (!copies) return reply(Failure(std::move(copies).error()));
            if (copies->empty()) {
                return reply(fail(Errc::not_found, "invalid_reference",
                                  "there is no block to fork in that conversation"));
            }
            DocumentName to{{kConversationKind, as}};
            core->run<Forked>(by, std::move(to), Access::append, std::move(reply),
                              [as, copies = std::move(*copies)](LiveDocument& document,
                                                                const Caller& caller) mutable {
                                  return write(document, caller, as, std::move(copies));
                              });
        },
        [core = core_, which = std::move(which)](LiveDocument& document, const Caller&) {
            return copy(*core, document, which);
        });
}

}  // namespace quire::kernel
