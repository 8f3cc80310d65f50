// The store checks rows (Store::faults()); this adds what only a replay can tell. A document that
// the store has found a fault with is replayed all the same, so that its own message is there too.
//
// The search index is the one thing that is derived from the rest. It is made anew as a whole, since
// what is wrong with one text may be wrong with its words, which no search would show.
//
// The steps are: the store's own faults, a replay of each document, the chain of the audit log, and
// the mending. A fault becomes a finding and the check goes on; only a store that does not answer
// ends it, as an error. One document is in memory at a time, and each is loaded once, and memory
// blocks twice where the index is mended.
#include "kernel/recovery/store_check.h"

#include <algorithm>
#include <future>
#include <optional>
#include <utility>

#include "base/concat.h"
#include "base/hex.h"
#include "kernel/core/kinds.h"
#include "kernel/core/replay.h"
#include "kernel/memory/memory_header.h"
#include "kernel/memory/search_text.h"
#include "store/audit_chain.h"
#include "store/store.h"

namespace quire::kernel {
namespace {

constexpr crdt::PeerId kChecker = 1;  // It writes nothing.
// Entries of the audit log in one read, and texts of the index in one batch: enough that the
// store's own cost for each is lost in the work, and few enough that other calls wait for one of
// them only briefly.
constexpr std::size_t kCheckedAtOnce = 1000;
constexpr std::size_t kTextsAtOnce = 200;

std::string title_of(const store::DocumentRecord& record) {
    return cat(record.kind.empty() ? "document" : record.kind, " '", record.name, "'",
               record.owner.empty() ? "" : cat(" of ", record.owner),
               record.deleted ? ", deleted" : "");
}

class Check {
public:
    Check(store::Store& store, bool mends) : store_(store), mends_(mends) {}

    Result<StoreCheck> run() {
        documents_ = TRY(store_.documents());
        out_.documents = documents_.size();
        for (const store::StoreFault& fault : TRY(store_.faults())) {
            if (fault.in_index) {
                index_fault(0, fault.what);
            } else {
                add(fault.document, fault.what);
            }
        }
        for (const store::DocumentRecord& record : documents_) TRY(check(record));
        TRY(check_audit());
        if (mends_ && has_bad_index_) TRY(mend_index());
        return std::move(out_);
    }

private:
    void add(store::DocumentKey key, std::string what) {
        CheckFinding finding{.what = std::move(what)};
        if (key != 0) finding.document = cat("b", key);
        const auto record = std::find_if(documents_.begin(), documents_.end(),
                                         [&](const auto& each) { return each.key == key; });
        if (record != documents_.end()) finding.title = title_of(*record);
        out_.findings.push_back(std::move(finding));
    }
    // Remembers the finding's place, since it counts as mended only when the whole index has been
    // made anew.
    void index_fault(store::DocumentKey key, std::string what) {
        has_bad_index_ = true;
        index_findings_.push_back(out_.findings.size());
        add(key, std::move(what));
    }

    // The document in memory; nothing where it cannot be had.
    Result<std::optional<ReplayedDocument>> replayed(const store::DocumentRecord& record) {
        Result<store::StoredDocument> stored = store_.load(record.key);
        if (!stored && stored.error().code() != Errc::corrupt) return Failure(stored.error());
        Result<ReplayedDocument> document =
            stored ? replay(record, std::move(*stored), kChecker)
                   : damaged_document(record, "some of its records are not what was written");
        if (record.damaged) document = damaged_document(record, "its row is damaged or lost");
        if (document) return std::optional(std::move(*document));
        add(record.key, document.error().message());
        return std::optional<ReplayedDocument>();
    }

    Result<void> check(const store::DocumentRecord& record) {
        const std::size_t before = out_.findings.size();
        std::optional<ReplayedDocument> document = TRY(replayed(record));
        if (document && record.kind == kMemoryKind) {
            const Result<MemoryHeader> header = decode_memory_header(record.name, record.header);
            if (!header) add(record.key, header.error().message());
        }
        // The index is no part of a document, so a fault of its text does not make the document
        // damaged.
        out_.damaged += out_.findings.size() > before;
        if (document && record.kind == kMemoryKind) TRY(check_text(record, *document));
        return {};
    }

    // A text of another version may lag behind; one of this version says what the block says.
    Result<void> check_text(const store::DocumentRecord& record, ReplayedDocument& document) {
        // The index will be made anew anyway, and it would be found wrong once for each text.
        if (has_bad_index_) return {};
        const Result<std::optional<store::TextRecord>> kept = store_.text(record.key);
        if (!kept && kept.error().code() != Errc::corrupt) return Failure(kept.error());
        if (!kept) {
            index_fault(record.key, "its text in the search index cannot be read");
            return {};
        }
        if (!*kept || (*kept)->gone) return {};
        const store::TextRecord now =
            search_text(record, *document.doc, document.blocks[""].version);
        const store::TextRecord& then = **kept;
        const bool same = then.name == now.name && then.description == now.description &&
                          then.content == now.content && then.tags == now.tags;
        if (then.version == now.version && !same)
            index_fault(record.key, "the search index has another text than the block");
        return {};
    }

    Result<void> check_audit() {
        const Result<store::AuditHash> origin = store_.audit_origin();
        if (!origin && origin.error().code() != Errc::corrupt) return Failure(origin.error());
        if (!origin) {
            add(0, "the beginning of the audit log cannot be read");
            return {};
        }
        // Each entry has the hash of the one before it, so the walk ends at the first that does not
        // fit: all behind it would follow from a wrong one.
        store::AuditWalk walk(*origin);
        while (true) {
            const auto entries = store_.audit_after(walk.count(), kCheckedAtOnce);
            if (!entries && entries.error().code() != Errc::corrupt)
                return Failure(entries.error());
            if (!entries) {
                add(0, cat("the audit log behind entry ", walk.count(), " cannot be read"));
                break;
            }
            if (entries->empty() || !take(walk, *entries)) break;
        }
        out_.audit_entries = walk.count();
        out_.audit_head = to_hex(walk.head());
        return {};
    }
    bool take(store::AuditWalk& walk, const std::vector<store::AuditEntry>& entries) {
        for (const store::AuditEntry& entry : entries) {
            const std::optional<std::string> fault = walk.take(entry);
            if (!fault) continue;
            add(0, cat("entry ", entry.seq, " of the audit log is broken: ", *fault));
            return false;
        }
        return true;
    }

    Result<void> mend_index() {
        // Documents that cannot be replayed have no text in the new index. A kernel that is killed
        // in between leaves an index that lacks texts, and stale_texts() names those to the next
        // one.
        TRY(store_.reset_texts());
        store::Batch batch;
        for (const store::DocumentRecord& record : documents_) {
            if (record.kind != kMemoryKind || record.damaged) continue;
            Result<store::StoredDocument> stored = store_.load(record.key);
            if (!stored) continue;
            Result<ReplayedDocument> document = replay(record, std::move(*stored), kChecker);
            if (!document) continue;
            batch.texts.push_back(
                search_text(record, *document->doc, document->blocks[""].version));
            if (batch.texts.size() == kTextsAtOnce) TRY(commit(std::exchange(batch, {})));
        }
        TRY(commit(std::move(batch)));
        for (const std::size_t index : index_findings_) out_.findings[index].mended = true;
        return {};
    }
    Result<void> commit(store::Batch batch) {
        std::promise<Result<void>> stored;
        store_.commit(std::move(batch),
                      [&](Result<void> result) { stored.set_value(std::move(result)); });
        return stored.get_future().get();
    }

    store::Store& store_;
    const bool mends_;
    std::vector<store::DocumentRecord> documents_;
    bool has_bad_index_ = false;
    std::vector<std::size_t> index_findings_;
    StoreCheck out_;
};

}  // namespace

json::Fields<CheckFinding> CheckFinding::fields() {
    return json::Fields<CheckFinding>()
        .optional("document", &CheckFinding::document)
        .optional("title", &CheckFinding::title)
        .required("what", &CheckFinding::what)
        .required("mended", &CheckFinding::mended);
}

json::Fields<StoreCheck> StoreCheck::fields() {
    return json::Fields<StoreCheck>()
        .required("documents", &StoreCheck::documents)
        .required("damaged", &StoreCheck::damaged)
        .required("audit_entries", &StoreCheck::audit_entries)
        .required("audit_head", &StoreCheck::audit_head)
        .required("findings", &StoreCheck::findings);
}

bool StoreCheck::is_clean() const {
    return std::all_of(findings.begin(), findings.end(),
                       [](const CheckFinding& finding) { return finding.mended; });
}

Result<StoreCheck> check_store(store::Store& store, bool mends) {
    return Check(store, mends).run();
}

}  // namespace quire::kernel
