#include "store/memory_store_for_test.h"

#include <algorithm>
#include <tuple>

#include "base/concat.h"
#include "store/audit_chain.h"
#include "store/record_map_for_test.h"
#include "store/text_scan_for_test.h"

namespace quire::store {

namespace {

AuditHash origin() {
    return store::audit_origin("memory");
}

bool name_is_taken(const std::map<DocumentKey, DocumentRecord>& documents,
                   const DocumentRecord& record) {
    return !record.deleted &&
           std::any_of(documents.begin(), documents.end(), [&](const auto& entry) {
               const DocumentRecord& other = entry.second;
               return other.key != record.key && !other.deleted && other.kind == record.kind &&
                      other.name == record.name && other.owner == record.owner;
           });
}

bool is_large(const std::vector<std::string>& audit) {
    std::size_t size = 0;
    for (const std::string& body : audit) size += body.size();
    return size > std::size_t{1} << 20;
}

// The part of a batch that can be refused, on a copy.
Result<void> write_documents(std::map<DocumentKey, DocumentRecord>& documents, const Batch& batch) {
    for (const DocumentRecord& record : batch.documents) {
        if (name_is_taken(documents, record)) {
            return fail(Errc::conflict, "constraint",
                        cat("nothing was kept: there is another ", record.kind, " ", record.name));
        }
        documents.insert_or_assign(record.key, record);
    }
    return {};
}

void write_rest(MemoryDisk::Contents& contents, const Batch& batch) {
    for (const PeerRecord& record : batch.peers)
        contents.peers.insert_or_assign({record.document, record.number}, record);
    for (const UpdateRecord& record : batch.compactions)
        contents.updates[record.document] = {record.bytes};
    for (const UpdateRecord& record : batch.updates)
        contents.updates[record.document].push_back(record.bytes);
    for (const BlockRecord& record : batch.blocks)
        contents.blocks.insert_or_assign({record.document, record.block}, record);
    ++contents.batches;
    for (const UnitRecord& record : batch.units) {
        contents.units.insert_or_assign({record.document, record.block, record.version}, record);
        contents.committed.try_emplace({record.document, record.block, record.version},
                                       contents.batches);
    }
    keep_records(contents.records, batch.records);
    keep_texts(contents.texts, batch.texts);
    append_audit(contents.audit, batch.audit, origin());
}

}  // namespace

void MemoryDisk::set_full(bool full) {
    state_.with([&](State& state) { state.full = full; });
}

void MemoryDisk::break_next_flush() {
    state_.with([](State& state) { state.breaks = true; });
}

MemoryStore::MemoryStore(std::shared_ptr<MemoryDisk> disk) : disk_(std::move(disk)) {
    const DocumentKey highest = disk_->state_.with([](const MemoryDisk::State& state) {
        return state.contents.documents.empty() ? DocumentKey{0}
                                                : state.contents.documents.rbegin()->first;
    });
    highest_key_.with([&](DocumentKey& key) { key = highest; });
    committer_.emplace(static_cast<Backend&>(*this));
}

MemoryStore::~MemoryStore() {
    committer_.reset();
}

void MemoryStore::commit(Batch batch, Reply<void> done) {
    committer_->commit(std::move(batch), std::move(done));
}

bool MemoryStore::note(std::string body) {
    return committer_->note(std::move(body));
}

Result<std::vector<AuditEntry>> MemoryStore::audit_before(std::uint64_t seq, std::size_t limit) {
    return disk_->state_.with([&](const MemoryDisk::State& state) {
        return entries_before(state.contents.audit, seq, limit);
    });
}

Result<std::vector<AuditEntry>> MemoryStore::audit_after(std::uint64_t seq, std::size_t limit) {
    return disk_->state_.with([&](const MemoryDisk::State& state) {
        return entries_after(state.contents.audit, seq, limit);
    });
}

Result<AuditHash> MemoryStore::audit_origin() {
    return origin();
}

Result<std::vector<DocumentRecord>> MemoryStore::documents() {
    return disk_->state_.with([](const MemoryDisk::State& state) {
        std::vector<DocumentRecord> documents;
        for (const auto& [key, record] : state.contents.documents) documents.push_back(record);
        return documents;
    });
}

Result<StoredDocument> MemoryStore::load(DocumentKey document) {
    return disk_->state_.with([&](const MemoryDisk::State& state) {
        StoredDocument stored;
        const MemoryDisk::Contents& all = state.contents;
        if (const auto found = all.updates.find(document); found != all.updates.end())
            stored.updates = found->second;
        for (const auto& [key, record] : all.peers) {
            if (record.document == document) stored.peers.push_back(record);
        }
        for (const auto& [key, record] : all.blocks) {
            if (record.document == document) stored.blocks.push_back(record);
        }
        for (const auto& [key, record] : all.units) {
            if (record.document == document) stored.units.push_back(record);
        }
        return stored;
    });
}

Result<std::vector<UnitRecord>> MemoryStore::recent_units(const std::string& actor,
                                                          std::size_t limit) {
    return disk_->state_.with([&](const MemoryDisk::State& state) {
        std::vector<UnitRecord> units;
        for (const auto& [key, record] : state.contents.units) {
            if (actor.empty() || record.actor == actor) units.push_back(record);
        }
        const auto place = [&](const UnitRecord& unit) {
            const std::uint64_t batch =
                state.contents.committed.at({unit.document, unit.block, unit.version});
            return std::make_tuple(batch, unit.at_ms, unit.document, unit.version);
        };
        std::sort(units.begin(), units.end(), [&](const UnitRecord& a, const UnitRecord& b) {
            return place(a) > place(b);
        });
        if (units.size() > limit) units.resize(limit);
        return units;
    });
}

Result<std::vector<KeyedRecord>> MemoryStore::records(Table table) {
    return disk_->state_.with(
        [&](const MemoryDisk::State& state) { return records_of(state.contents.records, table); });
}

Result<std::optional<Bytes>> MemoryStore::record(const RecordKey& key) {
    return disk_->state_.with(
        [&](const MemoryDisk::State& state) { return record_at(state.contents.records, key); });
}

Result<DocumentMark> MemoryStore::mark(DocumentKey document) {
    return mark_of(TRY(load(document)));
}

Result<std::vector<BlockRecord>> MemoryStore::whole_blocks(const std::string& kind) {
    return disk_->state_.with([&](const MemoryDisk::State& state) {
        std::vector<BlockRecord> blocks;
        for (const auto& [key, record] : state.contents.blocks) {
            const auto of = state.contents.documents.find(record.document);
            const bool wanted = record.block.empty() && of != state.contents.documents.end() &&
                                of->second.kind == kind && !of->second.deleted;
            if (wanted) blocks.push_back(record);
        }
        return blocks;
    });
}

Result<std::vector<TextHit>> MemoryStore::search(const TextQuery& query) {
    return disk_->state_.with(
        [&](const MemoryDisk::State& state) { return scan_texts(state.contents.texts, query); });
}

Result<std::vector<DocumentKey>> MemoryStore::stale_texts(const std::string& kind) {
    return disk_->state_.with([&](const MemoryDisk::State& state) {
        std::vector<DocumentKey> stale;
        for (const auto& [key, record] : state.contents.documents) {
            if (record.kind != kind) continue;
            const auto block = state.contents.blocks.find({key, ""});
            const auto text = state.contents.texts.find(key);
            const bool there = text != state.contents.texts.end();
            const bool right = there && block != state.contents.blocks.end() &&
                               text->second.version == block->second.version;
            if (record.deleted ? !there || !text->second.gone : !right) stale.push_back(key);
        }
        return stale;
    });
}

DocumentKey MemoryStore::reserve_document_key() {
    return highest_key_.with([](DocumentKey& key) { return ++key; });
}

void MemoryStore::unfence(DocumentKey document) {
    committer_->unfence(document);
}

Result<void> MemoryStore::write(std::span<const Batch* const> batches) {
    return disk_->state_.with([&](MemoryDisk::State& state) -> Result<void> {
        const bool adds = std::any_of(batches.begin(), batches.end(), [](const Batch* batch) {
            return !batch->updates.empty() || is_large(batch->audit);
        });
        if (state.full && adds) {
            return fail(Errc::unavailable, "disk_full",
                        "nothing was kept: the disk has no room left. Free some, then try again");
        }
        if (std::exchange(state.breaks, false)) {
            return fail(Errc::unavailable, "store_failed", "the disk could not be flushed");
        }
        std::map<DocumentKey, DocumentRecord> documents = state.contents.documents;
        for (const Batch* batch : batches) TRY(write_documents(documents, *batch));
        state.contents.documents = std::move(documents);
        for (const Batch* batch : batches) write_rest(state.contents, *batch);
        return {};
    });
}

bool MemoryStore::is_final(const Error& error) const {
    return error.reason() == "store_failed";
}

}  // namespace quire::store
