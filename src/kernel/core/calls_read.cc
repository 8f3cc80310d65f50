// Calls that read: a block's text, a search in it, a list of blocks, a block's history, the log of all
// documents.
// A read first flushes the block's pending appends. A list visits documents by key, one strand
// after another; its cursor is the id of the last block shown, so it stays valid while blocks
// come and go. The log is read from the store alone.

#include <algorithm>
#include <charconv>

#include "base/utf8.h"
#include "conversation/conversation.h"
#include "crdt/doc/text.h"
#include "kernel/core/core.h"
#include "kernel/core/describe.h"
#include "kernel/core/kinds.h"
#include "kernel/core/walk.h"

namespace quire::kernel {

namespace {

// How much of what a caller gave an error says back, in code points.
constexpr std::size_t kQuoted = 80;

Failure bad_cursor(const std::string& cursor) {
    return invalid("invalid_argument",
                   cat("'", utf8::prefix(cursor, kQuoted),
                       "' is not a cursor that this list gave; start again without one"));
}

// A list under way.
struct Listing {
    std::shared_ptr<Core> core;
    ListQuery query;
    std::optional<conversation::BlockId> parent;
    std::optional<conversation::BlockId>
        resume;                         // The last block of the page before, deleted or not.
    std::optional<Error> refused = {};  // Why the list cannot begin.
    ListPage page;
};

bool wanted(const ListQuery& query, const BlockInfo& info) {
    if (query.kind && info.kind != name_of(*query.kind)) return false;
    if (query.status && info.status != name_of(*query.status)) return false;
    return query.path_prefix.empty() || info.path.starts_with(query.path_prefix);
}

// Lists one document's blocks into the page. False when the page is full, or cannot begin.
bool list_into(Listing& listing, LiveDocument& document) {
    // Its document was not visited: the caller may not see it any more.
    if (listing.resume && listing.resume->document != document.key()) listing.resume.reset();
    if (listing.resume && !document.find(*listing.resume, true)) {
        listing.refused = bad_cursor(listing.query.cursor).value();
        return false;
    }
    const auto take = [&](const BlockRef& block, std::size_t depth) {
        const conversation::BlockId id = document.id_of(block);
        // Blocks up to the last one of the page before are passed over.
        if (listing.resume) {
            if (*listing.resume == id) listing.resume.reset();
            return true;
        }
        listing.core->flush(document, block);
        BlockInfo info = info_of(document, block, document.doc().text(block.content).rope(),
                                 listing.core->gate());
        if (!wanted(listing.query, info)) return true;
        if (listing.page.blocks.size() == listing.query.limit) {
            listing.page.next_cursor = listing.page.blocks.back().block_id;
            return false;
        }
        info.depth = depth;
        listing.page.blocks.push_back(std::move(info));
        return true;
    };
    if (document.conversation() == nullptr) {
        // Memory is listed, by those who may see it, with the tool context; private copies are named
        // by file status.
        const bool hidden = document.kind() == kMemoryKind || document.kind() == kStageKind ||
                            document.record().deleted;
        return listing.parent || hidden || take(document.whole(), 0);
    }

    std::optional<crdt::OpId> parent;
    if (listing.parent) {
        const Result<BlockRef> block = document.find(*listing.parent, true);
        if (!block) {
            listing.refused = block.error();
            return false;
        }
        parent = block->id;
    }
    const auto visits =
        document.conversation()->walk(parent, listing.query.depth, listing.resume.has_value());
    for (const auto& visit : visits) {
        // The last block of the page before may have been deleted since: it is where to go on.
        if (visit.block->deleted && !listing.resume) continue;
        if (!take(document.ref_of(*visit.block), visit.depth)) return false;
    }
    return true;
}

// Lists a damaged document, of which nothing is known for certain but its id. Memory is not listed.
void list_damaged(Listing& listing, store::DocumentKey key) {
    const auto document = listing.core->catalog().find(key);
    if (document == nullptr || document->kind() == kMemoryKind) return;
    if (listing.page.blocks.size() >= listing.query.limit) return;
    BlockInfo info;
    info.block_id = cat("b", key);
    info.role = name_of(conversation::Role::system);
    info.kind = name_of(conversation::Kind::error);
    info.status = name_of(conversation::Status::error);
    info.summary = "damaged in the store and not readable: quire fsck says more";
    if (wanted(listing.query, info)) listing.page.blocks.push_back(std::move(info));
}

// The documents that the query looks at. Errors: not_found "invalid_reference".
Result<std::vector<store::DocumentKey>> documents_of(Core& core, const Listing& listing) {
    const ListQuery& query = listing.query;
    if (listing.parent) {
        const auto document = core.catalog().find(listing.parent->document);
        const bool elsewhere =
            document != nullptr && query.conversation && document->name() != *query.conversation;
        if (document == nullptr || elsewhere) {
            return fail(Errc::not_found, "invalid_reference",
                        cat("there is no block '", *query.parent_id, "'",
                            elsewhere ? " in that conversation" : ""));
        }
        return std::vector{listing.parent->document};
    }
    if (!query.conversation) return core.catalog().keys();
    const auto document = core.catalog().find(Name{kConversationKind, *query.conversation});
    if (document != nullptr) return std::vector{document->key()};
    if (*query.conversation == "main")
        return std::vector<store::DocumentKey>();  // Nothing said yet.
    return fail(Errc::not_found, "invalid_reference",
                cat("there is no conversation '", utf8::prefix(*query.conversation, kQuoted), "'"));
}

}  // namespace

std::string Core::conversation_of(std::string_view block_id) {
    const Result<conversation::BlockId> id = conversation::BlockId::parse(block_id);
    const auto document = id ? catalog_.find(id->document) : nullptr;
    return document != nullptr && document->kind() == kConversationKind ? document->name() : "";
}

BlockPlace Kernel::place_of(std::string_view block_id) const {
    const Result<conversation::BlockId> id = conversation::BlockId::parse(block_id);
    const auto document = id ? core_->catalog().find(id->document) : nullptr;
    if (document == nullptr) return {};
    // These documents never get another name; that of a memory block may be changing.
    const bool is_file = is_file_text(document->kind());
    const bool is_conversation = document->kind() == kConversationKind;
    return {document->kind(), is_file ? document->name() : std::string(),
            is_conversation ? document->name() : std::string()};
}

Result<BlockAddress> Core::address_of(const std::string& block_id, const policy::Actor& by) {
    conversation::BlockId id = TRY(conversation::BlockId::parse(block_id));
    if (auto stage = catalog_.stage_of(id.document, by.str())) {
        id.document = stage->key();
        return BlockAddress{id, {std::move(stage)}};
    }
    std::shared_ptr<LiveDocument> document = catalog_.find(id.document);
    if (document != nullptr) return BlockAddress{id, {std::move(document)}};
    return no_such_block(block_id);
}

Result<BlockRef> Core::find_block(LiveDocument& document, const conversation::BlockId& id,
                                  const policy::Actor& by, Access access, bool deleted_too) {
    const bool is_memory_block = document.kind() == kMemoryKind;
    // The answer is that for an unknown id, so that nobody learns of memory that they may not see.
    if (is_memory_block && !oversight_->may_see(by, document.record()))
        return no_such_block(id.str());
    if (is_memory_block && access != Access::read) return is_memory(document);
    return document.find(id, deleted_too);
}

Result<seq::Rope> Core::shown_text(LiveDocument& document, const BlockRef& block,
                                   const Caller& by) {
    if (document.kind() != kMemoryKind) return document.doc().text(block.content).rope();
    return seq::Rope(TRY(oversight_->plain_text(by, document)));
}

void Kernel::read(Caller by, std::string block_id, edits::Window window, Reply<BlockText> reply) {
    core_->run_on_block<BlockText>(
        std::move(by), block_id, Access::read, std::move(reply),
        [core = core_, window](LiveDocument& document, const BlockRef& block,
                               const Caller& caller) {
            return core->read(document, block, caller, window);
        });
}

Result<BlockText> Core::read(LiveDocument& document, const BlockRef& block, const Caller& by,
                             const edits::Window& window) {
    flush(document, block);
    return text_of(document, block, TRY(shown_text(document, block, by)), window, limits(), gate());
}

void Kernel::text(Caller by, std::string block_id, Reply<WholeText> reply) {
    core_->run_on_block<WholeText>(
        std::move(by), block_id, Access::read, std::move(reply),
        [core = core_](LiveDocument& document, const BlockRef& block, const Caller& caller) {
            return core->text(document, block, caller);
        });
}

Result<WholeText> Core::text(LiveDocument& document, const BlockRef& block, const Caller& by) {
    flush(document, block);
    const seq::Rope text = TRY(shown_text(document, block, by));
    return WholeText{info_of(document, block, text, gate()), text.str()};
}

void Kernel::search(Caller by, std::string block_id, SearchQuery query,
                    Reply<edits::Finding> reply) {
    core_->run_on_block<edits::Finding>(
        std::move(by), block_id, Access::read, std::move(reply),
        [core = core_, query = std::move(query)](LiveDocument& document, const BlockRef& block,
                                                 const Caller& caller) -> Result<edits::Finding> {
            core->flush(document, block);
            return edits::find(TRY(core->shown_text(document, block, caller)), query.query,
                               query.options(core->limits().read_columns));
        });
}

Result<void> Core::for_each_text(LiveDocument& document, const Caller& by, TakeText take) {
    if (document.conversation() == nullptr) {
        if (document.record().deleted) return {};
        const BlockRef whole = document.whole();
        flush(document, whole);
        take(whole, TRY(shown_text(document, whole, by)));
        return {};
    }
    for (const auto& visit : document.conversation()->walk({}, 0)) {
        const BlockRef block = document.ref_of(*visit.block);
        flush(document, block);
        take(block, document.doc().text(block.content).rope());
    }
    return {};
}

void Kernel::list(Caller by, ListQuery query, Reply<ListPage> reply) {
    auto listing = std::make_shared<Listing>();
    listing->core = core_;
    listing->query = std::move(query);
    if (listing->query.parent_id) {
        Result<conversation::BlockId> parent =
            conversation::BlockId::parse(*listing->query.parent_id);
        if (!parent) return reply(Failure(std::move(parent).error()));
        listing->parent = *parent;
    }
    Result<std::vector<store::DocumentKey>> documents = documents_of(*core_, *listing);
    if (!documents) return reply(Failure(std::move(documents).error()));
    if (!listing->query.cursor.empty()) {
        const Result<conversation::BlockId> after =
            conversation::BlockId::parse(listing->query.cursor);
        const bool elsewhere =
            after && listing->query.conversation &&
            std::find(documents->begin(), documents->end(), after->document) == documents->end();
        if (!after || elsewhere) return reply(bad_cursor(listing->query.cursor));
        // Documents come by key; one that was deleted since is passed over.
        const auto at = std::lower_bound(documents->begin(), documents->end(), after->document);
        if (at != documents->end() && *at == after->document) listing->resume = *after;
        documents->erase(documents->begin(), at);
    }
    std::make_shared<Walk>(
        core_, std::move(by), std::move(*documents),
        Walk::Round{[listing](LiveDocument& live) { return list_into(*listing, live); },
                    [listing, reply = std::move(reply)](Result<void> result) mutable {
                        if (!result) return reply(Failure(std::move(result).error()));
                        if (listing->refused) return reply(Failure(std::move(*listing->refused)));
                        reply(std::move(listing->page));
                    },
                    Access::read, Walk::passing_over,
                    [listing](store::DocumentKey key) { list_damaged(*listing, key); }})
        ->next();
}

void Kernel::history(Caller by, std::string block_id, std::size_t limit, std::string cursor,
                     Reply<HistoryPage> reply) {
    core_->run_on_block<HistoryPage>(
        std::move(by), {block_id, true}, Access::read, std::move(reply),
        [core = core_, limit, cursor = std::move(cursor)](LiveDocument& document,
                                                          const BlockRef& block, const Caller&) {
            core->flush(document, block);
            return history_of(block, limit, cursor);
        });
}

// A cursor is the version of the last entry shown: entries are added at the other end, so pages
// neither repeat nor skip any. O(entries), for the history is opened.
Result<HistoryPage> history_of(const BlockRef& block, std::size_t limit,
                               const std::string& cursor) {
    std::uint64_t before = ~std::uint64_t{0};
    if (!cursor.empty()) {
        const char* end = cursor.data() + cursor.size();
        const auto parsed = std::from_chars(cursor.data(), end, before);
        if (parsed.ec != std::errc() || parsed.ptr != end) return bad_cursor(cursor);
    }
    HistoryPage page;
    std::string next_cursor = cat(block.state->version + 1);
    const std::vector<Unit>& units = block.state->history.units();
    if (block.state->interrupted && cursor.empty() && !units.empty()) {
        // No call made it, so that it has no version of its own; and of its writer the last that
        // was heard is when.
        page.versions.push_back(
            {cat(block.state->version), units.back().at_ms, "system:kernel", "interrupted"});
    }
    for (std::size_t i = units.size(); i-- > 0;) {
        const Unit& unit = units[i];
        if (unit.version >= before) continue;
        if (page.versions.size() >= limit) {
            page.next_cursor = next_cursor;
            break;
        }
        page.versions.push_back({cat(unit.version), unit.at_ms, unit.actor, unit.description});
        next_cursor = page.versions.back().version_id;
    }
    return page;
}

namespace {

LogEntry log_entry(store::UnitRecord unit, const store::DocumentRecord& document) {
    LogEntry entry;
    entry.block_id = cat("b", unit.document);
    if (!unit.block.empty()) cat_to(entry.block_id, cat("_", unit.block));
    entry.entry = {cat(unit.version), unit.at_ms, std::move(unit.actor),
                   std::move(unit.description)};
    if (is_file_text(document.kind)) entry.path = document.name;
    if (document.kind == kConversationKind) entry.conversation = document.name;
    if (document.kind == kMemoryKind) {
        entry.label = document.name;
        entry.owner = document.owner;
    }
    return entry;
}

}  // namespace

// The store counts units and knows no rights. So it is asked for more of them until the caller may
// see enough. Each time it reads anew, but for many more, so that there are few rounds.
void Kernel::log(Caller by, std::optional<policy::Actor> of, std::size_t limit,
                 Reply<std::vector<LogEntry>> reply) {
    constexpr std::size_t kTimes = 8;
    const std::size_t most = std::max(limit, kMostLogged);
    std::vector<LogEntry> entries;
    for (std::size_t asked = limit;; asked = std::min(asked * kTimes, most)) {
        Result<std::vector<store::UnitRecord>> units =
            core_->parts().store.recent_units(of ? of->str() : "", asked);
        if (!units) return reply(Failure(std::move(units).error()));
        const bool is_all = units->size() < asked || asked == most;
        entries.clear();
        for (store::UnitRecord& unit : *units) {
            if (entries.size() == limit) break;
            const auto document = core_->catalog().record(unit.document);
            if (document && core_->may_see(by.actor, *document))
                entries.push_back(log_entry(std::move(unit), *document));
        }
        if (is_all || entries.size() == limit) return reply(std::move(entries));
    }
}

bool Core::may_see(const policy::Actor& by, const store::DocumentRecord& document) {
    if (document.kind == kMemoryKind) return oversight_->may_see(by, document);
    if (document.kind == kStageKind && document.owner != by.str()) return false;
    return !is_file_text(document.kind) || gate() == nullptr || gate()->may_see(document.name, by);
}

}  // namespace quire::kernel
