// Calls that search: one block, or every block of some kinds.

#include <algorithm>

#include "crdt/doc/text.h"
#include "kernel/core/block_reads.h"
#include "kernel/core/core.h"
#include "kernel/core/walk.h"

namespace quire::kernel {

namespace {

struct Searching {
    std::shared_ptr<Core> core;
    SearchAll query;
    FoundAll found;
};

edits::FindOptions options_of(const SearchQuery& query, const Limits& limits) {
    return {query.context_lines, query.max_matches, limits.read_columns};
}

bool of_kind(const SearchAll& query, std::string_view kind) {
    return std::any_of(query.kinds.begin(), query.kinds.end(),
                       [&](conversation::Kind each) { return name_of(each) == kind; });
}

std::string path_of(LiveDocument& document, const BlockRef& block) {
    if (block.fields == nullptr) return document.name();
    const Value* path = block.fields->metadata.find("path");
    return path != nullptr && path->is_string() ? path->as_string() : "";
}

// False when there are enough blocks.
bool search_block(Searching& search, LiveDocument& document, const BlockRef& block) {
    const std::string path = path_of(document, block);
    if (!path.starts_with(search.query.path_prefix)) return true;
    search.core->flush(document, block);
    ++search.found.searched;
    edits::Finding finding =
        edits::find(document.doc().text(block.content).rope(), search.query.search.query,
                    options_of(search.query.search, search.core->limits()));
    search.found.truncated = search.found.truncated || finding.truncated;
    if (finding.hits.empty()) return true;
    if (search.found.blocks.size() == search.query.max_blocks) {
        search.found.truncated = true;
        return false;
    }
    search.found.blocks.push_back({document.id_of(block).str(), path, std::move(finding.hits)});
    return true;
}

bool search_document(Searching& search, LiveDocument& document) {
    if (document.conversation() == nullptr) {
        return document.record().deleted || !of_kind(search.query, document.kind()) ||
               search_block(search, document, document.whole());
    }
    for (const auto& visit : document.conversation()->walk({}, 0)) {
        if (!of_kind(search.query, visit.block->kind)) continue;
        if (!search_block(search, document, document.ref_of(*visit.block))) return false;
    }
    return true;
}

}  // namespace

void Kernel::search(Caller by, std::string block_id, SearchQuery query,
                    Reply<edits::Finding> reply) {
    core_->run_on_block<edits::Finding>(
        std::move(by), block_id, Access::read, std::move(reply),
        [core = core_, query = std::move(query)](LiveDocument& document, const BlockRef& block,
                                                 const Caller& caller) -> Result<edits::Finding> {
            core->flush(document, block);
            return edits::find(TRY(core->shown_text(document, block, caller)), query.query,
                               options_of(query, core->limits()));
        });
}

void Kernel::search_all(Caller by, SearchAll query, Reply<FoundAll> reply) {
    auto search = std::make_shared<Searching>(Searching{core_, std::move(query), {}});
    std::make_shared<Walk>(
        core_, std::move(by), core_->catalog().keys(),
        Walk::Round{[search](LiveDocument& live) { return search_document(*search, live); },
                    [search, reply = std::move(reply)](Result<void> result) mutable {
                        if (!result) return reply(Failure(std::move(result).error()));
                        reply(std::move(search->found));
                    },
                    Access::read, Walk::passing_over,
                    [search](store::DocumentKey) { search->found.truncated = true; }})
        ->next();
}

}  // namespace quire::kernel
