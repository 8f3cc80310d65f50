// The store's twin in memory, for tests: the same promises, on a disk that can be told to fail.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sched/guarded.h"
#include "store/committer.h"
#include "store/record_map_for_test.h"
#include "store/store.h"

namespace quire::store {

// The disk that outlives a MemoryStore: open another store on it for a restart.
class MemoryDisk {
public:
    struct Contents {
        std::map<DocumentKey, DocumentRecord> documents;
        std::map<DocumentKey, std::vector<Bytes>> updates;
        std::map<std::pair<DocumentKey, std::int64_t>, PeerRecord> peers;
        std::map<std::pair<DocumentKey, std::string>, BlockRecord> blocks;
        using UnitKey = std::tuple<DocumentKey, std::string, std::uint64_t>;
        std::map<UnitKey, UnitRecord> units;
        std::map<UnitKey, std::uint64_t> committed;  // The batch that brought the unit.
        std::uint64_t batches = 0;
        RecordMap records;
        std::map<DocumentKey, TextRecord> texts;
        std::vector<AuditEntry> audit;
    };

    // While full, a batch that adds an update, or much to the audit log, fails as unavailable
    // "disk_full".
    void set_full(bool full);
    // The next flush fails, and with it the store that is open on this disk.
    void break_next_flush();

private:
    friend class MemoryStore;
    struct State {
        Contents contents;
        bool full = false;
        bool breaks = false;
    };
    sched::Guarded<State> state_;
};

class MemoryStore final : public Store, private Backend {
public:
    explicit MemoryStore(std::shared_ptr<MemoryDisk> disk = std::make_shared<MemoryDisk>());
    MemoryStore(const MemoryStore&) = delete;
    MemoryStore& operator=(const MemoryStore&) = delete;
    ~MemoryStore() override;

    void commit(Batch batch, Reply<void> done) override;
    bool note(std::string body) override;
    Result<std::vector<DocumentRecord>> documents() override;
    Result<StoredDocument> load(DocumentKey document) override;
    Result<std::vector<UnitRecord>> recent_units(const std::string& actor,
                                                 std::size_t limit) override;
    Result<std::vector<KeyedRecord>> records(Table table) override;
    Result<std::optional<Bytes>> record(const RecordKey& key) override;
    Result<std::vector<AuditEntry>> audit_before(std::uint64_t seq, std::size_t limit) override;
    Result<std::vector<AuditEntry>> audit_after(std::uint64_t seq, std::size_t limit) override;
    Result<AuditHash> audit_origin() override;
    Result<DocumentMark> mark(DocumentKey document) override;
    Result<std::vector<BlockRecord>> whole_blocks(const std::string& kind) override;
    Result<std::vector<TextHit>> search(const TextQuery& query) override;
    Result<std::vector<DocumentKey>> stale_texts(const std::string& kind) override;
    DocumentKey reserve_document_key() override;
    void unfence(DocumentKey document) override;

private:
    Result<void> write(std::span<const Batch* const> batches) override;
    bool is_final(const Error& error) const override;
    void tend() override {}

    std::shared_ptr<MemoryDisk> disk_;
    sched::Guarded<DocumentKey> highest_key_;
    std::optional<Committer> committer_;  // Last: it writes through the rest.
};

}  // namespace quire::store
