// Catalog: all documents, by key and by name, and those of them that are in memory. Any thread;
// each call is O(log documents) under one lock, except for lists.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernel/core/live_document.h"
#include "sched/guarded.h"

namespace quire::kernel {

// A document has one key for ever and one name at a time. A name leads to one document; a deleted
// document has none.
class Catalog {
public:
    Catalog(const Parts& parts, std::vector<store::DocumentRecord> known);

    // The live document of a name, or of a key; null if there is none. A document becomes live
    // when it is first asked for.
    std::shared_ptr<LiveDocument> find(const std::string& kind, const std::string& name);
    std::shared_ptr<LiveDocument> find(store::DocumentKey key);
    // Like find(), but makes a document if there is none.
    std::shared_ptr<LiveDocument> find_or_make(const std::string& kind, const std::string& name);
    // Makes a new document for each of these records and sets their keys: all of them, or none if
    // a name is taken. Each is held: callers that ask for it wait for its release.
    std::optional<std::vector<std::shared_ptr<LiveDocument>>> make_held(
        std::vector<store::DocumentRecord>& records);
    // Whether a document has this name.
    bool is_taken(const std::string& kind, const std::string& name) const;
    // Whether the document still has its name. A caller of the name does not mean a document that
    // has lost it, whoever has the name now.
    bool has_name(store::DocumentKey key) const;
    // Frees the document's name. The document stays reachable by its key.
    void forget_name(store::DocumentKey key);
    // Forgets a document that was never stored. It is not reachable any more.
    void drop(store::DocumentKey key);

    // Gives a document a second name, for the time of a rename. False if another document has it.
    bool claim_name(const std::string& kind, const std::string& name, store::DocumentKey key);
    // Takes back a claimed name, unless it is the document's own.
    void unclaim_name(const std::string& kind, const std::string& name, store::DocumentKey key);
    // Makes `name` the only name of the document.
    void settle_name(const std::string& kind, const std::string& name, store::DocumentKey key);
    // Exchanges the names of two documents.
    void exchange_names(const std::string& kind, const std::string& one, const std::string& other);

    std::vector<store::DocumentKey> keys() const;  // Ascending.
    // A document's record as the catalog knows it. A live document may have a newer header.
    struct Known {
        store::DocumentRecord record;
        bool is_live = false;
    };
    // The documents of one kind whose names begin with `prefix`, sorted by name. Loads none.
    // O(matches).
    std::vector<Known> known(const std::string& kind, const std::string& prefix) const;
    // The documents in memory, by key.
    std::vector<std::shared_ptr<LiveDocument>> live() const;
    std::size_t size() const;

private:
    struct Entry {
        store::DocumentRecord record;
        std::shared_ptr<LiveDocument> live;
    };
    struct State {
        std::map<store::DocumentKey, Entry> entries;
        std::map<std::pair<std::string, std::string>, store::DocumentKey> names;

        bool has_name(store::DocumentKey key) const;
        void forget_name(store::DocumentKey key);
    };
    std::shared_ptr<LiveDocument> live_in(State& state, store::DocumentKey key);

    const Parts parts_;
    sched::Guarded<State> state_;
};

}  // namespace quire::kernel
