// Catalog: all documents, by key and by name, and those of them that are in memory. Any thread;
// each call is O(log documents) under one lock, except for lists.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernel/core/live_document.h"
#include "sched/guarded.h"

namespace quire::kernel {

// The name of a document, unique among the documents that are not deleted. Names are ordered so that
// the owners of one name stand side by side.
struct Name {
    std::string kind;
    std::string name;
    std::string owner = {};  // As in store::DocumentRecord.
    friend auto operator<=>(const Name&, const Name&) = default;
};
inline Name name_of_record(const store::DocumentRecord& record) {
    return {record.kind, record.name, record.owner};
}

class Catalog {
public:
    Catalog(const Parts& parts, std::vector<store::DocumentRecord> known);

    // The live document of a name, or of a key; null when there is none. A document becomes live by
    // being asked for.
    std::shared_ptr<LiveDocument> find(const Name& name);
    std::shared_ptr<LiveDocument> find(store::DocumentKey key);
    // Like find(), but makes one where there is none.
    std::shared_ptr<LiveDocument> find_or_make(const Name& name);
    // A new document for each of these records, whose keys it sets: all of them, or none where a
    // name is another's. Each is held: whoever asks for it waits for its release.
    std::optional<std::vector<std::shared_ptr<LiveDocument>>> make_held(
        std::vector<store::DocumentRecord>& records);
    bool is_taken(const Name& name) const;
    // The document's private copy that `owner` has staged; null for none, or for a document that is
    // no file.
    std::shared_ptr<LiveDocument> stage_of(store::DocumentKey file, const std::string& owner);
    // Returns true if the document still has its name. A caller who uses the name does not mean a
    // document that has lost it, whoever has the name now.
    bool has_name(store::DocumentKey key) const;
    // The document was deleted: its name is free again, and it stays reachable by its key.
    void settle_deletion(const store::DocumentRecord& record);
    // Forgets a document that was never stored. It is not reachable any more.
    void drop(store::DocumentKey key);

    // Another name for a document, beside the one it has. False where that is another document's.
    bool claim_name(const Name& name, store::DocumentKey key);
    // Gives up a name that was claimed for it, unless that is the one it has.
    void unclaim_name(const Name& name, store::DocumentKey key);
    // The document is known by `name` alone, and it is not deleted.
    void settle_name(const Name& name, store::DocumentKey key);
    // Each of two documents is known by the other's name. CHECKs that they have one owner, who is a part
    // of the name.
    void exchange_names(const Name& one, const Name& other);
    // The header that the document has now, for those who look at its record here.
    void settle_header(store::DocumentKey key, const Bytes& header);

    std::vector<store::DocumentKey> keys() const;  // Ascending.
    // The record of a document as the catalog knows it, loaded or not. O(log documents).
    std::optional<store::DocumentRecord> record(store::DocumentKey key) const;
    // A document's record as the catalog knows it. A live document may have a newer header.
    struct Known {
        store::DocumentRecord record;
        bool is_live = false;
    };
    // The documents of one kind whose names begin with `prefix`, sorted by name. Loads none.
    // O(matches).
    std::vector<Known> known(const std::string& kind, const std::string& prefix) const;
    // The records of all documents of that kind and name, by their owners. O(log documents).
    std::vector<store::DocumentRecord> named(const std::string& kind,
                                             const std::string& name) const;
    // The records of the documents of that kind that were deleted. O(documents).
    std::vector<store::DocumentRecord> deleted(const std::string& kind) const;
    // The live document of that kind and name that was deleted last; null if there is none.
    // O(documents).
    std::shared_ptr<LiveDocument> find_deleted(const std::string& kind, const std::string& name);
    std::vector<std::shared_ptr<LiveDocument>> live() const;
    std::size_t size() const;

    // From now on made(name) is called for each document that find_or_make() makes, on the thread
    // that makes it; null ends that. No lock is held during the call.
    using OnMade = std::function<void(const Name&)>;
    void on_made(OnMade made);

private:
    // A document that the store has, or that was named and may be stored: `live` is null until it
    // is asked for, and again once it has left memory.
    struct Entry {
        store::DocumentRecord record;
        std::shared_ptr<LiveDocument> live;
    };
    struct State {
        std::map<store::DocumentKey, Entry> entries;
        // Two names of one document while it moves to another name; none of a deleted one.
        std::map<Name, store::DocumentKey> names;

        bool has_name(store::DocumentKey key) const;
        void forget_name(store::DocumentKey key);
    };
    std::shared_ptr<LiveDocument> live_in(State& state, store::DocumentKey key);
    // Forgets the object of a document that has left memory, unless somebody else has it.
    static void put_away(sched::Guarded<State>& all, std::shared_ptr<LiveDocument> document);

    const Parts parts_;
    const std::shared_ptr<sched::Guarded<State>> state_ = std::make_shared<sched::Guarded<State>>();
    sched::Guarded<OnMade> on_made_;
};

// Keeps the catalog in step with the record that the pending transaction leaves, once it is stored.
// A name that is new to the block was claimed before. Call it after the last change.
void follow_record(LiveDocument& document, Catalog& catalog);

}  // namespace quire::kernel
