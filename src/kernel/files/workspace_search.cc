// A search is a list of steps: the files by path, then documents. It runs on one strand of the worker, in
// slices, between which others get their turn; a document is visited on its own strand. The steps stand
// before the first is taken, so a search ends however much is written meanwhile.
#include "kernel/files/workspace_search.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "conversation/conversation.h"
#include "edits/find.h"
#include "files/disk_state.h"
#include "kernel/core/block_reads.h"
#include "kernel/core/core.h"
#include "kernel/core/kinds.h"
#include "kernel/core/walk.h"
#include "kernel/files/disk_watch.h"
#include "kernel/files/file_gate.h"
#include "kernel/files/workspace_search_body.h"
#include "text/needs.h"

namespace quire::kernel {
namespace {

// How often a search that left something lets the files be indexed anew.
constexpr std::int64_t kIndexAgainMs = 60'000;
constexpr SearchKind kFileSearch = search_kind(conversation::Kind::file);

std::string name_in_index(store::DocumentKey key, SearchKind kind) {
    return cat(key, "/", name_of(kind));
}

// The kinds of texts that documents of a kind have.
std::vector<SearchKind> kinds_in(const std::string& document_kind) {
    if (document_kind == kFileKind) return {kFileSearch};
    if (document_kind == kMemoryKind) return {SearchKind::memory};
    std::vector<SearchKind> kinds;
    for (const conversation::Kind kind : kEvery<conversation::Kind>)
        kinds.push_back(search_kind(kind));
    return kinds;
}

// Returns none for a block of a kind that this program does not know.
std::optional<SearchKind> kind_of(const LiveDocument& document, const BlockRef& block) {
    if (block.fields != nullptr) return enum_named<SearchKind>(block.fields->kind());
    return document.kind() == kMemoryKind ? SearchKind::memory : kFileSearch;
}

// The block as an answer names it, without its matches.
FoundAll::InBlock named(const LiveDocument& document, const BlockRef& block) {
    FoundAll::InBlock out;
    out.block_id = document.id_of(block).str();
    if (block.fields != nullptr) {
        const Value* const path = block.fields->metadata.find("path");
        if (path != nullptr && path->is_string()) out.path = path->as_string();
    } else if (document.kind() == kMemoryKind) {
        out.label = document.name();
        out.owner = document.record().owner;
    } else {
        out.path = document.name();
    }
    return out;
}

// The findings in one document.
struct Visited {
    std::vector<FoundAll::InBlock> blocks;
    bool is_ruled_out = false;  // The index speaks of its text now, and nothing can match.
    bool is_looked_at = false;  // It has blocks of the wanted kinds.
    bool is_truncated = false;
    // For the index, where that is wanted: the texts by kind, and what they are the texts of.
    std::map<SearchKind, std::string> texts;
    std::optional<TextProof> proof;
};

}  // namespace

class WorkspaceSearch::Run : public std::enable_shared_from_this<WorkspaceSearch::Run> {
public:
    Run(std::shared_ptr<Body> body, Caller by, SearchAll what, Reply<FoundAll> reply)
        : body_(std::move(body)),
          by_(std::move(by)),
          what_(std::move(what)),
          reply_(std::move(reply)),
          needs_(what_.search.query) {
        by_.call = nullptr;  // Nobody is asked about what is passed over.
    }

    // On the strand of searches, as everything here.
    void begin() {
        ++body_->runs;
        if (body_->gate == nullptr || !what_.wants(kFileSearch)) return begin_with({});
        // A watch has the list of files already; without a good one, the directory is walked.
        if (body_->watch == nullptr) return walk();
        body_->watch->files(
            [self = shared_from_this()](Result<std::optional<std::vector<fs::Entry>>> files) {
                self->body_->strand.post([self, files = std::move(*files)]() mutable {
                    files ? self->begin_with(std::move(*files)) : self->walk();
                });
            });
    }

private:
    // A file of the disk, a document, or both: a file that was opened.
    struct Step {
        std::optional<std::size_t> file, document;  // Places in files_ and documents_.
    };

    void walk();
    void begin_with(std::vector<fs::Entry> files);
    void add_files();
    void add_documents(const char* kind);
    void go_on();
    bool may_see(const Step& step) const;
    void look_into(const Step& step);
    bool may_read(const std::string& path) const;
    // The index's word on a document: what its entries are the signatures of, if they are of one text.
    struct Knowledge {
        std::optional<TextProof> proof;
        bool may_match = false;
        bool is_counted = false;  // It has blocks of the wanted kinds.
        bool rules_out() const { return proof && !may_match; }
    };
    Knowledge known_of(const store::DocumentRecord& record) const;
    bool is_as_stored(const Step& step) const;
    bool is_ruled_out(const Step& step, const Knowledge& known);
    void visit(store::DocumentKey key, const Knowledge& known);
    Result<Visited> look_into(LiveDocument& document, const Caller& by, std::size_t room,
                              bool is_indexing) const;
    void take(Result<Visited> visited);
    void add(FoundAll::InBlock block) {
        if (found_.blocks.size() == what_.max_blocks) {
            found_.truncated = is_full_ = true;
        } else {
            found_.blocks.push_back(std::move(block));
        }
    }
    void end(Result<FoundAll> result) {
        reply_(std::move(result));
        body_->end_run();
    }

    const std::shared_ptr<Body> body_;
    Caller by_;
    const SearchAll what_;
    Reply<FoundAll> reply_;
    mutable text::Needs needs_;
    std::vector<fs::Entry> files_;
    std::vector<Catalog::Known> documents_;
    std::vector<Step> steps_;
    std::size_t next_ = 0;
    bool is_full_ = false;  // There are more blocks with matches than were asked for.
    FoundAll found_;
};

// --- one search ---

void WorkspaceSearch::Run::walk() {
    Result<fs::Listing> all = body_->walk();
    if (!all) return end(Failure(std::move(all).error()));
    found_.truncated = all->truncated;
    begin_with(std::move(all->entries));
}

void WorkspaceSearch::Run::begin_with(std::vector<fs::Entry> files) {
    files_ = std::move(files);
    if (body_->gate != nullptr && what_.wants(kFileSearch)) add_files();
    const bool wants_blocks = std::ranges::any_of(
        what_.kinds, [](SearchKind kind) { return kind != SearchKind::memory; });
    if (wants_blocks) add_documents(kConversationKind);
    if (what_.wants(SearchKind::memory) && what_.path_prefix.empty()) add_documents(kMemoryKind);
    go_on();
}

// Merges two lists that are sorted by path. A file on the disk and the document of its path become
// one step: the document is searched, which has what was not saved. A document without a file comes
// where its path would stand.
void WorkspaceSearch::Run::add_files() {
    const auto with_prefix = [&](const fs::Entry& file) {
        return !file.is_link && file.path.starts_with(what_.path_prefix);
    };
    add_documents(kFileKind);
    const std::vector<Step> opened = std::exchange(steps_, {});
    steps_.reserve(files_.size());
    auto next = opened.begin();
    for (std::size_t i = 0; i < files_.size(); ++i) {
        if (!with_prefix(files_[i])) continue;
        const auto path = [&](const Step& step) -> const std::string& {
            return documents_[*step.document].record.name;
        };
        while (next != opened.end() && path(*next) < files_[i].path) steps_.push_back(*next++);
        Step step{i, std::nullopt};
        if (next != opened.end() && path(*next) == files_[i].path) step.document = next++->document;
        steps_.push_back(step);
    }
    steps_.insert(steps_.end(), next, opened.end());
}

void WorkspaceSearch::Run::add_documents(const char* kind) {
    const std::string& prefix = kind == kFileKind ? what_.path_prefix : "";
    for (Catalog::Known& known : body_->core->catalog().known(kind, prefix)) {
        steps_.push_back({std::nullopt, documents_.size()});
        documents_.push_back(std::move(known));
    }
}

void WorkspaceSearch::Run::go_on() {
    const std::int64_t until = body_->now_ms() + kSliceMs;
    while (!is_full_ && next_ < steps_.size()) {
        if (body_->is_over()) return end(Failure(kernel_ending()));
        const Step& step = steps_[next_++];
        if (!step.document) {
            look_into(step);
        } else if (may_see(step)) {
            const Knowledge known = known_of(documents_[*step.document].record);
            // The document is searched on its own strand; take() goes on from here.
            if (!is_ruled_out(step, known))
                return visit(documents_[*step.document].record.key, known);
        }
        if (body_->now_ms() >= until)
            return body_->strand.post([self = shared_from_this()] { self->go_on(); });
    }
    const bool is_index_due =
        next_ < steps_.size() && body_->now_ms() - body_->indexed_ms > kIndexAgainMs;
    // Steps that the caller may not see are not even counted.
    for (; next_ < steps_.size(); ++next_) found_.searched.left += may_see(steps_[next_]) ? 1 : 0;
    end(std::move(found_));
    if (is_index_due) body_->begin_indexing();
}

bool WorkspaceSearch::Run::may_see(const Step& step) const {
    if (step.document) return body_->core->may_see(by_.actor, documents_[*step.document].record);
    return body_->gate->may_see(files_[*step.file].path, by_.actor);
}

// The rules are asked for every name of a file that has several.
bool WorkspaceSearch::Run::may_read(const std::string& path) const {
    const Result<fs::Place> place = body_->gate->files().resolve(path);
    return place && body_->gate->decide(*place, policy::Operation::read, by_.actor).verdict ==
                        policy::Verdict::allow;
}

// Other names are looked for where there is something to tell: that may cost a walk over the directory.
void WorkspaceSearch::Run::look_into(const Step& step) {
    const fs::Entry& file = files_[*step.file];
    const std::optional<SearchIndex::Entry> known = body_->known(file);
    if (known && !known->is_text) return;
    if (!may_see(step)) return;
    if (known && !needs_.may_match(known->signature)) {
        ++found_.searched.indexed;
        return;
    }
    const Result<Body::ReadFile> read = body_->read(file.path);
    if (!read) {
        if (read.error().code() != Errc::not_found) ++found_.searched.left;
        return;
    }
    if (!read->is_text) return;
    ++found_.searched.scanned;
    // The file was read because the index did not know it, and can still be ruled out without a
    // line being looked at.
    if (!needs_.may_match(read->signature)) return;
    edits::Finding finding = edits::find(seq::Rope(read->text), what_.search.query,
                                         what_.search.options(body_->core->limits().read_columns));
    if (finding.hits.empty() || !may_read(file.path)) return;
    found_.truncated = found_.truncated || finding.truncated;
    add({file_address(file.path), file.path, "", "", std::move(finding.hits)});
}

// The index speaks of what is stored. The disk may have more of an opened file than its document.
bool WorkspaceSearch::Run::is_as_stored(const Step& step) const {
    const store::DocumentRecord& record = documents_[*step.document].record;
    // A document in memory may hold what is not stored yet.
    if (documents_[*step.document].is_live) return false;
    if (record.kind != kFileKind) return true;
    const auto seen = files::DiskState::decode(record.header);
    if (!seen) return false;
    if (!step.file) return seen->missing;
    return !seen->missing && seen->stamp.same_as(files_[*step.file].stamp);
}

WorkspaceSearch::Run::Knowledge WorkspaceSearch::Run::known_of(
    const store::DocumentRecord& record) const {
    Knowledge out;
    for (const SearchKind kind : kinds_in(record.kind)) {
        const auto entry = body_->index.find(name_in_index(record.key, kind));
        if (!entry || (out.proof && *out.proof != entry->proof)) return {};
        out.proof = entry->proof;
        if (!what_.wants(kind) || !entry->is_text) continue;
        // Few blocks of a conversation name a path.
        out.is_counted = record.kind == kFileKind || what_.path_prefix.empty();
        out.may_match = out.may_match || needs_.may_match(entry->signature);
    }
    return out;
}

bool WorkspaceSearch::Run::is_ruled_out(const Step& step, const Knowledge& known) {
    if (!known.rules_out() || !is_as_stored(step)) return false;
    // The mark of the stored document is the proof: it changes with every version.
    const auto mark = body_->core->parts().store.mark(documents_[*step.document].record.key);
    if (!mark || proof_of(*mark) != *known.proof) return false;
    if (known.is_counted) ++found_.searched.indexed;
    return true;
}

// A document in memory may be as it was indexed, too; on its strand that is certain.
void WorkspaceSearch::Run::visit(store::DocumentKey key, const Knowledge& known) {
    std::shared_ptr<LiveDocument> document = body_->core->catalog().find(key);
    if (document == nullptr)
        return body_->strand.post([self = shared_from_this()] { self->go_on(); });
    const std::size_t room = what_.max_blocks - found_.blocks.size();
    body_->core->look_once<Visited>(
        by_, ThisDocument{std::move(document)}, Access::read,
        [self = shared_from_this()](Result<Visited> visited) {
            self->body_->strand.post(
                [self, visited = std::move(visited)]() mutable { self->take(std::move(visited)); });
        },
        [self = shared_from_this(), room, known](LiveDocument& live,
                                                 const Caller& by) -> Result<Visited> {
            // The gate may just have taken in a change on the disk.
            const bool is_stored = live.is_stored() && live.in_flight().idle() &&
                                   !live.transaction().is_due() && !live.has_waiting_appends();
            std::optional<TextProof> proof;
            if (is_stored) proof = proof_of(TRY(self->body_->core->parts().store.mark(live.key())));
            const bool is_known = proof && proof == known.proof;
            Visited out;
            out.is_ruled_out = is_known && known.rules_out();
            out.is_looked_at = known.is_counted;
            if (out.is_ruled_out) return out;
            out = TRY(self->look_into(live, by, room, !is_known));
            if (!is_known) out.proof = proof;
            return out;
        });
}

// On the document's strand: it reads what is constant in the search, and no more. One block more than
// there is room for tells that there are more.
Result<Visited> WorkspaceSearch::Run::look_into(LiveDocument& document, const Caller& by,
                                                std::size_t room, bool is_indexing) const {
    Visited out;
    const edits::FindOptions options = what_.search.options(body_->core->limits().read_columns);
    TRY(body_->core->for_each_text(document, by, [&](const BlockRef& block, const seq::Rope& text) {
        const std::optional<SearchKind> kind = kind_of(document, block);
        if (!kind) return;
        if (is_indexing) out.texts[*kind].append(text.str()).append("\n");
        if (!what_.wants(*kind) || out.blocks.size() > room) return;
        FoundAll::InBlock found = named(document, block);
        if (!found.path.starts_with(what_.path_prefix)) return;
        out.is_looked_at = true;
        edits::Finding finding = edits::find(text, what_.search.query, options);
        out.is_truncated = out.is_truncated || finding.truncated;
        found.matches = std::move(finding.hits);
        if (!found.matches.empty()) out.blocks.push_back(std::move(found));
    }));
    return out;
}

void WorkspaceSearch::Run::take(Result<Visited> visited) {
    const store::DocumentRecord& record = documents_[*steps_[next_ - 1].document].record;
    if (!visited) {
        const Error& error = visited.error();
        // A file that cannot be read, or a damaged document, is counted as left; any other error
        // ends the search.
        const bool is_hidden = is_refusal(error) || error.code() == Errc::not_found;
        const bool is_its_own = record.kind == kFileKind || error.code() == Errc::corrupt;
        if (!is_hidden && !is_its_own) return end(Failure(error));
        if (!is_hidden) ++found_.searched.left;
        if (error.code() == Errc::corrupt) found_.truncated = true;
        return go_on();
    }
    if (visited->proof) {
        for (const SearchKind kind : kinds_in(record.kind)) {
            const auto text = visited->texts.find(kind);
            const bool has_any = text != visited->texts.end();
            if (has_any) body_->maker.add(text->second);
            body_->index.put(name_in_index(record.key, kind), *visited->proof, has_any,
                             body_->maker.finish());
        }
    }
    if (visited->is_looked_at)
        ++(visited->is_ruled_out ? found_.searched.indexed : found_.searched.scanned);
    found_.truncated = found_.truncated || visited->is_truncated;
    for (FoundAll::InBlock& block : visited->blocks) add(std::move(block));
    go_on();
}

// --- the door ---

WorkspaceSearch::Body::Body(Parts of)
    : core(of.kernel.core()),
      has_document([core = core](store::DocumentKey key) {
          const auto record = core->catalog().record(key);
          return record && !record->deleted;
      }),
      clock(core->parts().clock),
      gate(of.gate),
      watch(of.watch),
      index_file(std::move(of.index_file)),
      strand(of.worker) {}

WorkspaceSearch::WorkspaceSearch(Parts parts) : body_(std::make_shared<Body>(std::move(parts))) {}

WorkspaceSearch::WorkspaceSearch(Kernel& kernel)
    : WorkspaceSearch({kernel, nullptr, nullptr, kernel.core()->parts().scheduler, ""}) {}

WorkspaceSearch::~WorkspaceSearch() = default;

void WorkspaceSearch::start() {
    body_->strand.post([body = body_] {
        if (!body->index_file.empty()) body->index.load(body->index_file);
        body->begin_indexing();
    });
}

void WorkspaceSearch::stop(Reply<void> reply) {
    body_->over.with([](bool& over) { over = true; });
    body_->strand.post([body = body_, reply = std::move(reply)]() mutable {
        body->stopped = std::move(reply);
        body->finish_if_over();
    });
}

void WorkspaceSearch::search(Caller by, SearchAll what, Reply<FoundAll> reply) {
    body_->strand.post([body = body_, by = std::move(by), what = std::move(what),
                        reply = std::move(reply)]() mutable {
        if (body->is_over()) return reply(Failure(kernel_ending()));
        std::make_shared<Run>(body, std::move(by), std::move(what), std::move(reply))->begin();
    });
}

}  // namespace quire::kernel
