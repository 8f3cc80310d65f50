// The records of a store, as values: what a batch writes and what reads return. Bodies and headers
// are their writers' own, and the store never looks into them.
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/value.h"

namespace quire::store {

using DocumentKey = std::int64_t;  // Small, never reused.

// A document: its kind, its name and the kernel's header for it.
struct DocumentRecord {
    DocumentKey key = 0;
    std::string kind = {};  // "conversation", "file", "memory".
    // A conversation's name, a file's path, a memory block's label. Among the documents that are not
    // deleted it is unique within a kind and an owner.
    std::string name = {};
    bool deleted = false;
    Bytes header = {};  // The kernel's own, opaque here (what is known of the disk, and the like).
    // The actor whose names these are; "" for kinds whose names belong to the workspace.
    std::string owner = {};
    // Its row is not what was written: the key alone is certain, and the rest is what the row or an
    // index still says. It is read from a store and never written to one.
    bool damaged = false;
};

// The peer with which one actor writes to one document. `number` is small and dense within the
// document; ids that tools print contain it.
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

// Tells a document's stored text from every later one: how many blocks it has, and the sum of their
// versions, which only grow.
struct DocumentMark {
    std::int64_t blocks = 0;
    std::int64_t versions = 0;
    friend bool operator==(const DocumentMark&, const DocumentMark&) = default;
};

// A block's version and header. `block` is its id within the document.
struct BlockRecord {
    DocumentKey document = 0;
    std::string block = {};
    std::uint64_t version = 0;
    Bytes header = {};
};

// One entry of a block's history, which is also an entry of its actor's undo stack.
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

// The tables of records that are kept by key and that the store never looks into.
enum class Table : std::uint8_t {
    tokens,      // Key: client token; owner: actor. The id of the block that the token made.
    approvals,   // Key: approval. The request to a person, and the answer.
    rule_facts,  // Key: fact; owner: agent. A count that rules keep over sessions.
    mount_pins,  // Key: mount. The approved tools of another program's server.
};
// The key of such a record.
struct RecordKey {
    Table table = Table::tokens;
    std::string key = {};
    std::string owner = {};  // The actor of a token, the agent of a fact; else "".
    friend bool operator==(const RecordKey&, const RecordKey&) = default;
};
// A record with its key.
struct KeyedRecord {
    RecordKey key = {};
    Bytes body = {};
    bool gone = false;  // In a batch: it is removed, and the body does not matter.
    // From records(): the record is not what was written. It has its key, and no body.
    bool damaged = false;
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

// A full-text query. All conditions must hold. Words and phrases are compared without regard to
// case and accents; the words of a phrase must stand side by side. No character has a special
// meaning.
struct TextQuery {
    std::vector<std::string> all = {};
    std::vector<std::string> none = {};
    std::vector<std::string> in_name = {};
    std::vector<std::string> not_in_name = {};
    std::vector<std::vector<std::string>> tags = {};  // One of each group, at least; not empty.
    std::size_t limit = 20;
};
// A document that matches a query.
struct TextHit {
    DocumentKey document = 0;
    double score = 0;     // The higher the better.
    std::string snippet;  // The best passage, kHit and kHitEnd around what was found.
};
inline constexpr char kHit = '\x02';
inline constexpr char kHitEnd = '\x03';

// One transaction. Records are inserted, or replace the record with the same key; updates are
// appended.
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

    // Adds a keyed record, or the removal of one.
    void keep(RecordKey key, std::string_view body) {
        records.push_back({std::move(key), Bytes(body.begin(), body.end())});
    }
    void drop(RecordKey key) { records.push_back({std::move(key), {}, true}); }
    // Adds everything of another batch behind what is here.
    void append(Batch more) {
        const auto add = [](auto& to, auto& from) {
            to.insert(to.end(), std::make_move_iterator(from.begin()),
                      std::make_move_iterator(from.end()));
        };
        add(documents, more.documents);
        add(peers, more.peers);
        add(updates, more.updates);
        add(blocks, more.blocks);
        add(units, more.units);
        add(records, more.records);
        add(texts, more.texts);
        add(compactions, more.compactions);
        add(audit, more.audit);
    }
};

// Everything stored about one document.
struct StoredDocument {
    std::vector<Bytes> updates = {};  // In the order they were made durable.
    std::vector<PeerRecord> peers = {};
    std::vector<BlockRecord> blocks = {};
    std::vector<UnitRecord> units = {};  // Sorted by block, then version.
};

// The records of a document that a damaged store still has.
struct ReadableDocument {
    StoredDocument stored = {};
    std::vector<std::string> faults = {};  // Each thing that is missing, and why.
};

// One fault of a store, in words.
struct StoreFault {
    DocumentKey document = 0;  // 0: it belongs to no document, or to none that can be told.
    std::string what = {};
    bool in_index = false;  // In the search index alone, which reset_texts() makes anew.
};

}  // namespace quire::store
