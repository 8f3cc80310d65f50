// Residence: the documents that are in memory, what they take there, and which of them leave when
// that is more than the limit. Any thread.
//
// A document reports what it takes when it is loaded and whenever it has grown by an eighth. A report
// above the limit asks those documents to leave that were used longest ago, until nine tenths of the
// limit would be left; so the documents are sorted once for a tenth of their memory. A document that
// is asked decides on its own strand (LiveDocument::leave()), and one that is busy stays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "sched/guarded.h"
#include "store/store.h"

namespace quire::kernel {

class LiveDocument;

class Residence {
public:
    // `limit`: bytes, as documents estimate themselves.
    explicit Residence(std::size_t limit) : limit_(limit) {}

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

    struct Held {
        std::size_t documents = 0;
        std::size_t bytes = 0;
    };
    Held held() const;

private:
    struct Entry {
        std::weak_ptr<LiveDocument> document;
        std::size_t bytes = 0;
        bool is_asked = false;
    };
    struct State {
        std::map<store::DocumentKey, Entry> entries;
        std::size_t bytes = 0;
        std::size_t asked = 0;  // The bytes of those that were asked.
        // The documents are not sorted again below this, where all of them are busy.
        std::size_t look_above = 0;
    };
    struct Candidate {
        std::uint64_t last_used = 0;
        std::size_t bytes = 0;
        std::shared_ptr<LiveDocument> document;
    };
    using Candidates = std::vector<Candidate>;
    // Asks as many as take `excess` bytes to leave.
    void ask_oldest(Candidates candidates, std::size_t excess);

    const std::size_t limit_;
    sched::Guarded<std::uint64_t> now_;
    sched::Guarded<State> state_;
};

}  // namespace quire::kernel
