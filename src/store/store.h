// Store: durable records. It keeps bytes and never opens a blob.
//
// A Batch is one transaction: all of it is there after a crash, or none. Batches are made durable
// in the order they were handed over, many in one flush (group commit). A batch is acknowledged
// when it is on disk. After the first failed flush nothing is acknowledged any more until the store
// is opened anew.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/function.h"
#include "base/result.h"
#include "base/value.h"

namespace quire::store {

using DocumentKey = std::int64_t;  // Small, never reused.

struct DocumentRecord {
    DocumentKey key = 0;
    std::string kind = {};  // "conversation", "file", "memory".
    // A conversation's name, a file's path: unique within a kind among those not deleted.
    std::string name = {};
    bool deleted = false;
    Bytes header = {};  // The kernel's own, opaque here (what is known of the disk, and the like).
};

// One actor's peer in one document. `number` is small and dense within the document: what ids
// print.
struct PeerRecord {
    DocumentKey document = 0;
    std::int64_t number = 0;
    std::string actor = {};
    std::uint64_t peer = 0;
};

// One commit's update bytes, as they are sent to others.
struct UpdateRecord {
    DocumentKey document = 0;
    Bytes bytes = {};
};

// A block's header. `block` is its id within the document.
struct BlockRecord {
    DocumentKey document = 0;
    std::string block = {};
    std::uint64_t version = 0;
    Bytes header = {};
};

// One entry of a block's history and, where `undoable`, of its actor's undo stack.
struct UnitRecord {
    DocumentKey document = 0;
    std::string block = {};
    std::uint64_t version = 0;  // The block's version that this unit made. Key with the two above.
    std::string actor = {};
    std::int64_t at_ms = 0;
    std::string description = {};
    std::string state = {};  // The kernel's word: "done", "undone", "gone", …
    Bytes body = {};         // The kernel's own: id spans and the like.
};

// The records that are kept by key, and that the store never looks into.
enum class Table : std::uint8_t {
    tokens,      // Key: client token; owner: actor. The id of the block that the token made.
    approvals,   // Key: approval. The request to a person, and the answer.
    rule_facts,  // Key: fact; owner: agent. A count that rules keep over sessions.
    mount_pins,  // Key: mount. The approved tools of another program's server.
};
struct RecordKey {
    Table table = Table::tokens;
    std::string key = {};
    std::string owner = {};  // The actor of a token, the agent of a fact; else "".
    friend bool operator==(const RecordKey&, const RecordKey&) = default;
};
struct KeyedRecord {
    RecordKey key = {};
    Bytes body = {};
    bool gone = false;  // In a batch: it is removed, and the body does not matter.
};

// The searchable text of a document. It is derived from the document and may lag behind:
// `version` says which version it shows. A record that is no newer than the stored one changes
// nothing.
struct TextRecord {
    DocumentKey document = 0;
    std::uint64_t version = 0;  // The version of the block that is the document.
    bool gone = false;          // Nothing will find it ever again; the rest does not matter.
    std::string name = {};
    std::string description = {};
    std::string content = {};
    // Words of lower-case letters and digits, with blanks between, that no reader sees: who asks
    // may demand them.
    std::string tags = {};
};

// An entry of the audit log: a chain, in which each hash covers the one before it
// (audit_chain.h). What a body says is its writer's.
using AuditHash = std::array<std::uint8_t, 32>;
struct AuditEntry {
    std::uint64_t seq = 0;  // From 1 on, none left out.
    std::string body = {};
    AuditHash hash = {};
};

// All of it must hold. Words and phrases, compared without regard to case and accents; a phrase is
// found where its words stand side by side. None of it is anybody's syntax.
struct TextQuery {
    std::vector<std::string> all = {};
    std::vector<std::string> none = {};
    std::vector<std::string> in_name = {};
    std::vector<std::string> not_in_name = {};
    std::vector<std::vector<std::string>> tags = {};  // One of each group, at least; not empty.
    std::size_t limit = 20;
};
struct TextHit {
    DocumentKey document = 0;
    double score = 0;     // The higher the better.
    std::string snippet;  // The best passage, kHit and kHitEnd around what was found.
};
inline constexpr char kHit = '\x02';
inline constexpr char kHitEnd = '\x03';

// Records are inserted, or replaced where their key is there. Updates are appended.
struct Batch {
    std::vector<DocumentRecord> documents = {};
    std::vector<PeerRecord> peers = {};
    std::vector<UpdateRecord> updates = {};
    std::vector<BlockRecord> blocks = {};
    std::vector<UnitRecord> units = {};
    std::vector<KeyedRecord> records = {};
    std::vector<TextRecord> texts = {};
    // Replaces all updates of a document by one blob that holds the same history.
    std::vector<UpdateRecord> compactions = {};
    // Bodies of audit entries that say what this batch does: they are there exactly if it is.
    std::vector<std::string> audit = {};

    void keep(RecordKey key, std::string_view body) {
        records.push_back({std::move(key), Bytes(body.begin(), body.end())});
    }
    void drop(RecordKey key) { records.push_back({std::move(key), {}, true}); }
};

struct StoredDocument {
    std::vector<Bytes> updates = {};  // In the order they were made durable.
    std::vector<PeerRecord> peers = {};
    std::vector<BlockRecord> blocks = {};
    std::vector<UnitRecord> units = {};  // Sorted by block, then version.
};

class Store {
public:
    virtual ~Store() = default;

    // Hands a batch over; `done` is called once, on the store's own thread, when it is durable or
    // has failed. Errors: unavailable "disk_full" (nothing of it was kept; later batches may
    // succeed), unavailable "store_failed" (nothing more will be), unavailable "document_fenced"
    // (see unfence()), conflict "constraint" (two documents of one kind and name).
    virtual void commit(Batch batch, Reply<void> done) = 0;

    // The body of an audit entry that says what happened, or is about to. It is in the log before
    // whatever batch is handed over later is durable, and with the first that is; failing that, it
    // is tried again with the next. Where none comes it is written within 200 ms or so, and at the
    // end of the store. False, and it was not taken, when kMostNoted bytes wait, as on a full disk.
    // Cheap: nothing is hashed or written here. Any thread.
    static constexpr std::size_t kMostNoted = std::size_t{32} << 20;
    virtual bool note(std::string body) = 0;

    // Blocking reads; they see every batch that was acknowledged, and wait for one flush at most.
    // Errors: corrupt "corrupt", unavailable "store_failed".
    virtual Result<std::vector<DocumentRecord>> documents() = 0;
    virtual Result<StoredDocument> load(DocumentKey document) = 0;
    // All records of a table, by owner and key; and the body of one, if it is there.
    virtual Result<std::vector<KeyedRecord>> records(Table table) = 0;
    virtual Result<std::optional<Bytes>> record(const RecordKey& key) = 0;
    // Entries of the audit log, at most `limit`: those before `seq`, newest first; those after it,
    // oldest first. And the hash that stands before the first. They are given as they are there,
    // and not checked. What was noted is seen once a batch that was handed over later is durable.
    virtual Result<std::vector<AuditEntry>> audit_before(std::uint64_t seq, std::size_t limit) = 0;
    virtual Result<std::vector<AuditEntry>> audit_after(std::uint64_t seq, std::size_t limit) = 0;
    virtual Result<AuditHash> audit_origin() = 0;
    // The newest units over all documents, of one actor ("" for all), newest first. O(units).
    virtual Result<std::vector<UnitRecord>> recent_units(const std::string& actor,
                                                         std::size_t limit) = 0;
    // The versions of blocks that are whole documents, of those of a kind that are not deleted.
    virtual Result<std::vector<BlockRecord>> whole_blocks(const std::string& kind) = 0;
    // Best first. O(matches log matches).
    virtual Result<std::vector<TextHit>> search(const TextQuery& query) = 0;
    // The documents of a kind whose text is of another version than their block, is missing, or is
    // not gone although they are deleted. O(documents).
    virtual Result<std::vector<DocumentKey>> stale_texts(const std::string& kind) = 0;
    // The next key for a new document: reserved at once, in memory.
    virtual DocumentKey reserve_document_key() = 0;

    // When a batch fails, every batch queued behind it that touches one of its documents fails too,
    // as do later ones, until the kernel has reloaded the document from here and calls this: memory
    // that was ahead of the disk can thus never leave a hole in it. Batches handed over before the
    // call stay refused.
    virtual void unfence(DocumentKey document) = 0;
};

struct Opened {
    std::unique_ptr<Store> store;
    bool created = false;
};

// The database file `path`, made with mode 0600 where there is none, migrated to the present schema
// where it is older. Errors: unavailable "workspace_locked" {pid} when another process holds it;
// corrupt "corrupt" naming the file and what to do; unsupported "newer_store" for one written by a
// later version; unavailable for the disk's own.
Result<Opened> open_sqlite(const std::string& path);

}  // namespace quire::store
