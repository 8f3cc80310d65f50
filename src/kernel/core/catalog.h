// Catalog: which documents there are, and those that are in memory. Any thread.
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

class Catalog {
public:
    Catalog(const Parts& parts, std::vector<store::DocumentRecord> known);

    // The live document of a name, or of a key; null when there is none. A document becomes live by
    // being asked for.
    std::shared_ptr<LiveDocument> find(const std::string& kind, const std::string& name);
    std::shared_ptr<LiveDocument> find(store::DocumentKey key);
    // Like find(), but makes one where there is none.
    std::shared_ptr<LiveDocument> find_or_make(const std::string& kind, const std::string& name);
    // A new document for each of these records, whose keys it sets: all of them, or none where a
    // name is another's. Each is held: whoever asks for it waits for its release.
    std::optional<std::vector<std::shared_ptr<LiveDocument>>> make_held(
        std::vector<store::DocumentRecord>& records);
    bool is_taken(const std::string& kind, const std::string& name) const;
    // Whether the document has its name. One that has lost it is not what a caller of that name
    // means, whoever has it now.
    bool has_name(store::DocumentKey key) const;
    // Its name is free again; the document stays reachable by its key until the end.
    void forget_name(store::DocumentKey key);
    // Forgets a document that was never stored: it is not reachable any more.
    void drop(store::DocumentKey key);

    // Another name for a document, beside the one it has. False where that is another document's.
    bool claim_name(const std::string& kind, const std::string& name, store::DocumentKey key);
    // Gives up a name that was claimed for it, unless that is the one it has.
    void unclaim_name(const std::string& kind, const std::string& name, store::DocumentKey key);
    // The document is known by `name` alone.
    void settle_name(const std::string& kind, const std::string& name, store::DocumentKey key);
    // Each of two documents is known by the other's name.
    void exchange_names(const std::string& kind, const std::string& one, const std::string& other);

    std::vector<store::DocumentKey> keys() const;  // Ascending.
    // Documents of one kind whose names begin with `prefix`, by their names; of each, what is known
    // without asking it: where it has become live, that may have changed.
    struct Known {
        store::DocumentRecord record;
        bool is_live = false;
    };
    std::vector<Known> known(const std::string& kind, const std::string& prefix) const;
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
