// Group commit.
//
// Many calls each want their own flush, and a flush takes milliseconds. So one worker writes all the
// batches that have gathered while it was writing the ones before, in one transaction with one
// flush, and then answers them in their order:
//
//     commit(A) commit(B)      commit(C) commit(D)          queue
//         |         |              |         |
//         v         |              v         v
//     [ write A ]   +-----> [ write B, C, D together ]      worker, one flush each
//               done(A)                     done(B) done(C) done(D)
//
// One call at a time costs a flush each; under load the cost of a flush is shared by its group
// (DeWitt et al., Implementation Techniques for Main Memory Database Systems, 1984, section 5.2).
//
// A *fence* keeps a failure from leaving a hole. When the disk refuses a batch, the documents in
// memory are already ahead of the disk by that batch, and whatever is queued behind it builds on
// it. So every document of the refused batch is fenced: later batches that touch it are refused
// too, and fence their own documents in turn, until the kernel has read the document anew and lifts
// the fence. If the whole group fails for want of room, its batches are tried one by one, so that a
// large one does not take its neighbours with it. After an error that is final for the backend
// nothing is acknowledged any more.
//
// A *note* is an entry of the audit log that belongs to no batch: "this call begins". It must be on
// the disk before any batch that is handed over later, and is not worth a flush of its own. So it
// travels at the front of the next batch: one transaction holds both, in the right order. When that
// batch is refused, its notes move on to the one behind it. Notes that no batch picks up for a while
// are written in a batch of their own.
#include "store/committer.h"

#include <algorithm>
#include <utility>

#include "base/concat.h"

namespace quire::store {

namespace {

constexpr std::size_t kGroupBatches = 512;
constexpr std::size_t kGroupBytes = 8U << 20;
constexpr std::int64_t kIdleMs = 1000;  // The silence after which a backend is tended.
// Notes are written in a batch of their own after this long, or once they are this many bytes.
constexpr std::int64_t kNotedMs = 200;
constexpr std::size_t kMuchNoted = 1U << 20;

std::size_t size_of(const Batch& batch) {
    std::size_t size = 0;
    for (const UpdateRecord& update : batch.updates) size += update.bytes.size();
    for (const UpdateRecord& update : batch.compactions) size += update.bytes.size();
    for (const BlockRecord& block : batch.blocks) size += block.header.size();
    for (const UnitRecord& unit : batch.units) size += unit.body.size();
    for (const DocumentRecord& document : batch.documents) size += document.header.size();
    for (const KeyedRecord& record : batch.records) size += record.body.size();
    for (const std::string& entry : batch.audit) size += entry.size();
    return size;
}

Error fenced_error(DocumentKey document) {
    return Error(Errc::unavailable, "document_fenced",
                 "nothing was kept: a change to the same document before this one could not be "
                 "written. Reads show what was kept; then try again",
                 {{"document", document}});
}

Error failed_error(const Error& cause) {
    if (cause.reason() == "workspace_removed") return cause;  // It says more already.
    return Error(Errc::unavailable, "store_failed",
                 cat("nothing was kept: the store has failed and accepts nothing more until the "
                     "kernel is started anew (",
                     cause.message(), ")"),
                 cause.details());
}

}  // namespace

std::set<DocumentKey> documents_of(const Batch& batch) {
    std::set<DocumentKey> keys;
    for (const DocumentRecord& record : batch.documents) keys.insert(record.key);
    for (const PeerRecord& record : batch.peers) keys.insert(record.document);
    for (const UpdateRecord& record : batch.updates) keys.insert(record.document);
    for (const BlockRecord& record : batch.blocks) keys.insert(record.document);
    for (const UnitRecord& record : batch.units) keys.insert(record.document);
    for (const UpdateRecord& record : batch.compactions) keys.insert(record.document);
    return keys;
}

Committer::Committer(Backend& backend) : backend_(backend) {
    worker_.post([this] { backend_.tend(); });
}
Committer::~Committer() {
    write_notes();
}

void Committer::commit(Batch batch, Reply<void> done) {
    const bool start = queue_.with([&](Queue& queue) {
        ++queue.handed_over;
        Queued& queued = queue.waiting.emplace_back(Queued{std::move(batch), std::move(done)});
        // Now and not when its turn comes: a document that is unfenced meanwhile was reloaded
        // without this batch.
        refuse_if_blocked(queue, queued);
        if (!queued.refused) take_notes(queue, queued);
        return !std::exchange(queue.draining, true);
    });
    if (start) worker_.post([this] { drain(); });
}

bool Committer::note(std::string body) {
    bool is_taken = true;
    bool is_first = false;
    bool is_much = false;
    queue_.with([&](Queue& queue) {
        if (queue.failure) return;
        is_taken = queue.noted_bytes + body.size() <= Store::kMostNoted;
        if (!is_taken) return;
        queue.noted_bytes += body.size();
        queue.notes.push_back(std::move(body));
        is_first = !std::exchange(queue.writes_notes, true);
        is_much = queue.noted_bytes >= kMuchNoted && !std::exchange(queue.writes_much, true);
    });
    if (is_first) worker_.post_after(kNotedMs, [this] { write_notes(); });
    if (is_much) worker_.post([this] { write_notes(); });
    return is_taken;
}

void Committer::write_notes() {
    const bool any = queue_.with([](Queue& queue) {
        queue.writes_notes = queue.writes_much = false;
        return !queue.notes.empty();
    });
    if (any) commit({}, [](Result<void>) {});
}

void Committer::take_notes(Queue& queue, Queued& queued) {
    if (queue.notes.empty()) return;
    std::vector<std::string>& audit = queued.batch.audit;
    queued.noted = queue.notes.size();
    queue.noted_bytes = 0;
    queue.notes.insert(queue.notes.end(), std::move_iterator(audit.begin()),
                       std::move_iterator(audit.end()));
    audit = std::exchange(queue.notes, {});
}

void Committer::pass_notes_on(Queue& queue, Group& group) {
    std::vector<std::string> notes;
    const auto pass = [&](Queued& queued) {
        std::vector<std::string>& audit = queued.batch.audit;
        if (queued.refused) {
            const auto end = audit.begin() + static_cast<std::ptrdiff_t>(queued.noted);
            notes.insert(notes.end(), std::move_iterator(audit.begin()), std::move_iterator(end));
            audit.clear();
            queued.noted = 0;
        } else if (!notes.empty()) {
            queued.noted += notes.size();
            audit.insert(audit.begin(), std::move_iterator(notes.begin()),
                         std::move_iterator(notes.end()));
            notes.clear();
        }
    };
    for (Queued& queued : group) pass(queued);
    for (Queued& queued : queue.waiting) pass(queued);
    if (queue.failure) return;
    for (const std::string& note : notes) queue.noted_bytes += note.size();
    queue.notes.insert(queue.notes.begin(), std::move_iterator(notes.begin()),
                       std::move_iterator(notes.end()));
}

void Committer::unfence(DocumentKey document) {
    queue_.with([&](Queue& queue) { queue.fenced.erase(document); });
}

void Committer::drain() {
    while (true) {
        Group group = take_group();
        if (group.empty()) break;
        write_group(group);
        for (Queued& queued : group) {
            if (queued.refused) {
                queued.done(Failure(std::move(*queued.refused)));
            } else {
                queued.done({});
            }
        }
    }
    tend_later();
}

Committer::Group Committer::take_group() {
    Group group;
    queue_.with([&](Queue& queue) {
        std::size_t bytes = 0;
        while (!queue.waiting.empty() && group.size() < kGroupBatches && bytes < kGroupBytes) {
            bytes += size_of(queue.waiting.front().batch);
            group.push_back(std::move(queue.waiting.front()));
            queue.waiting.pop_front();
        }
        if (group.empty()) queue.draining = false;
    });
    return group;
}

void Committer::write_group(Group& group) {
    std::vector<const Batch*> batches;
    for (const Queued& queued : group) {
        if (!queued.refused) batches.push_back(&queued.batch);
    }
    if (batches.empty()) return;
    const Result<void> written = backend_.write(batches);
    if (written) return;
    if (batches.size() > 1 && !backend_.is_final(written.error())) {
        // One that is too large for the disk must not take its neighbours with it.
        write_one_by_one(group);
        return;
    }
    for (std::size_t i = 0; i < group.size(); ++i) {
        if (!group[i].refused) refuse(group, i, written.error());
    }
}

void Committer::write_one_by_one(Group& group) {
    for (std::size_t i = 0; i < group.size(); ++i) {
        if (group[i].refused) continue;
        const Batch* const alone = &group[i].batch;
        if (Result<void> written = backend_.write({&alone, 1}); !written)
            refuse(group, i, std::move(written).error());
    }
}

void Committer::refuse(Group& group, std::size_t index, Error error) {
    const bool final = backend_.is_final(error);
    queue_.with([&](Queue& queue) {
        queue.fenced.merge(documents_of(group[index].batch));
        if (final && !queue.failure) queue.failure = error;
        group[index].refused = final ? failed_error(error) : std::move(error);
        for (std::size_t i = index + 1; i < group.size(); ++i) refuse_if_blocked(queue, group[i]);
        for (Queued& queued : queue.waiting) refuse_if_blocked(queue, queued);
        pass_notes_on(queue, group);
    });
}

void Committer::refuse_if_blocked(Queue& queue, Queued& queued) {
    if (queued.refused) return;
    if (queue.failure) {
        queued.refused = failed_error(*queue.failure);
        return;
    }
    if (queue.fenced.empty()) return;
    const std::set<DocumentKey> touched = documents_of(queued.batch);
    const auto fenced = std::find_if(touched.begin(), touched.end(),
                                     [&](DocumentKey key) { return queue.fenced.contains(key); });
    if (fenced == touched.end()) return;
    queued.refused = fenced_error(*fenced);
    // The batch's changes to other documents are missing there as well.
    queue.fenced.insert(touched.begin(), touched.end());
}

void Committer::tend_later() {
    if (std::exchange(tend_planned_, true)) return;
    tended_at_ = queue_.with([](Queue& queue) { return queue.handed_over; });
    worker_.post_after(kIdleMs, [this] {
        tend_planned_ = false;
        const bool busy = queue_.with(
            [&](Queue& queue) { return queue.draining || queue.handed_over != tended_at_; });
        if (busy) return tend_later();
        backend_.tend();
    });
}

}  // namespace quire::store
