// Committer: group commit, and the effect of a failure on the batches queued behind it.
//
// Batches are written and answered in the order of commit(). The batches that gather while one
// group is being written form the next group: one transaction and one flush. A failed batch
// fences its documents: every later batch that touches one of them is refused until unfence().
// The Backend writes a group to its disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "sched/guarded.h"
#include "sched/scheduler.h"
#include "store/store.h"

namespace quire::store {

// The disk side of a store. The committer calls it on its worker, one call at a time.
class Backend {
public:
    virtual ~Backend() = default;
    // Writes all of `batches` in one transaction, which is durable on return. After an error none
    // of them is kept.
    virtual Result<void> write(std::span<const Batch* const> batches) = 0;
    // Returns true if nothing may be acknowledged any more after `error`.
    virtual bool is_final(const Error& error) const = 0;
    // Called for upkeep at the start, and when nothing has been queued for a while.
    virtual void tend() = 0;
};

// Any thread; replies are called on its worker.
class Committer {
public:
    explicit Committer(Backend& backend);  // It outlives the committer.
    Committer(const Committer&) = delete;
    Committer& operator=(const Committer&) = delete;
    ~Committer();  // Writes and answers what is queued.

    // commit(), note() and unfence() keep the promises of Store.
    void commit(Batch batch, Reply<void> done);
    bool note(std::string body);
    void unfence(DocumentKey document);

private:
    // A batch in the queue.
    struct Queued {
        Batch batch;
        Reply<void> done;
        std::optional<Error> refused = {};  // Why it is not to be written.
        // How many entries at the front of batch.audit are notes that travel with this batch. When
        // the batch is refused, they move to the next one.
        std::size_t noted = 0;
    };
    // The queue, shared by callers and the worker.
    struct Queue {
        std::deque<Queued> waiting;
        std::vector<std::string> notes;  // For the next batch.
        std::size_t noted_bytes = 0;     // The size of `notes`.
        bool writes_notes = false;       // A time is set at which they are written.
        bool writes_much = false;        // They are so many that they are written now.
        std::set<DocumentKey> fenced;    // Batches that touch these are refused.
        std::optional<Error> failure;    // After this one nothing is acknowledged.
        std::uint64_t handed_over = 0;
        bool draining = false;
    };
    using Group = std::vector<Queued>;

    void drain();
    Group take_group();
    void write_group(Group& group);
    void write_one_by_one(Group& group);
    void refuse(Group& group, std::size_t index, Error error);
    static void refuse_if_blocked(Queue& queue, Queued& queued);
    static void take_notes(Queue& queue, Queued& queued);
    // Moves the notes of refused batches to the batches after them.
    static void pass_notes_on(Queue& queue, Group& group);
    void write_notes();
    void tend_later();

    Backend& backend_;
    sched::Guarded<Queue> queue_;
    // On the worker only: Queue::handed_over when upkeep was last thought of, and whether its time
    // is set.
    std::uint64_t tended_at_ = 0;
    bool tend_planned_ = false;
    sched::Pool worker_{1};  // Last: it is the first to go, and finishes the queue.
};

// The documents to which any record of the batch belongs.
std::set<DocumentKey> documents_of(const Batch& batch);

}  // namespace quire::store
