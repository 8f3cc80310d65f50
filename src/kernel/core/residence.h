// Residence: the documents that are in memory, what they take there, and which of them leave when
// that is more than the limit. Any thread.
//
// A document reports what it takes when it is loaded and whenever it has grown by an eighth. A report
// above the limit asks those documents to leave that were used longest ago, until nine tenths of the
// limit would be left; so the documents are sorted once for a tenth of their memory. A document that
// is asked decides on its own strand (LiveDocument::leave()), and one that is busy stays.
//
// Estimates do not know what the allocator and the rest of the kernel take. So the process's resident
// size is looked at whenever a thirty-second of the limit has come in. Where it has grown by nearly
// the limit, documents are allowed no more than they have, and less as it grows on; a third at least.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/function.h"
#include "sched/guarded.h"
#include "store/store.h"

namespace quire::kernel {

class LiveDocument;

class Residence : public std::enable_shared_from_this<Residence> {
public:
    // `limit`: bytes, as documents estimate themselves. `resident_size`: that of the process, which
    // may grow as much from now on; null where only estimates count.
    explicit Residence(std::size_t limit, std::size_t (*resident_size)() = nullptr);

    // The time of a use. A later one is greater.
    std::uint64_t tick() {
        return now_.with([](std::uint64_t& now) { return ++now; });
    }
    // The document is in memory and takes about that much. O(1) below the limit.
    void holds(const std::shared_ptr<LiveDocument>& document, std::size_t bytes);
    // The document was asked to leave, and stays.
    void stays(store::DocumentKey key);
    // The document is not in memory any more.
    void left(store::DocumentKey key);

    // From now on put_away(document) is called, on its strand, for each document that has left and
    // whose object knows nothing that the store does not. To be set before there is a document.
    using PutAway = Function<void(std::shared_ptr<LiveDocument>)>;
    void on_empty(PutAway put_away) { put_away_ = std::move(put_away); }

    struct Held {
        std::size_t documents = 0;
        std::size_t bytes = 0;
    };
    Held held() const;
    // The bytes that documents may take now.
    std::size_t allowed() const;

private:
    // A document that reported. The pointer is weak, so that being counted keeps nothing in memory.
    struct Entry {
        std::weak_ptr<LiveDocument> document;
        std::size_t bytes = 0;
        bool is_asked = false;
    };
    struct State {
        std::map<store::DocumentKey, Entry> entries;
        std::size_t bytes = 0;
        std::size_t asked = 0;     // The bytes of those that were asked.
        std::size_t allowed = 0;   // The bytes that documents may take now.
        std::size_t unlooked = 0;  // How many came since the process's size was looked at.
        std::size_t paid = 0;      // The growth for which documents have left.
        // The documents are not sorted again below this, where all of them are busy.
        std::size_t look_above = 0;
    };
    // A document that may be asked to leave, held so that it cannot end while the lock is.
    struct Candidate {
        std::uint64_t last_used = 0;
        std::size_t bytes = 0;
        std::shared_ptr<LiveDocument> document;
    };
    using Candidates = std::vector<Candidate>;
    void allow_for_growth();
    // Asks as many as take `excess` bytes to leave.
    void ask_oldest(Candidates candidates, std::size_t excess);
    void leave(std::shared_ptr<LiveDocument> document);

    const std::size_t limit_;
    std::size_t (*const resident_size_)();
    const std::size_t size_before_;
    sched::Guarded<std::uint64_t> now_;
    sched::Guarded<State> state_;
    PutAway put_away_;
};

}  // namespace quire::kernel
