// Kernel: opening, closing, sessions and counters. The use cases are in the calls_*.cc beside
// this source.
#include "kernel/core/kernel.h"

#include "kernel/core/block_feed.h"
#include "kernel/core/core.h"
#include "kernel/core/kinds.h"
#include "kernel/core/residence.h"

namespace quire::kernel {

namespace {

Parts for_documents(Parts parts, BlockFeed& feed) {
    parts.feed = &feed;
    parts.residence = std::make_shared<Residence>(parts.limits.resident_bytes, parts.resident_size);
    return parts;
}

}  // namespace

Core::Core(const Parts& parts, std::vector<store::DocumentRecord> known,
           std::shared_ptr<Oversight> oversight)
    : oversight_(std::move(oversight)),
      feed_(std::make_shared<BlockFeed>(parts, oversight_)),
      parts_(for_documents(parts, *feed_)),
      catalog_(parts_, std::move(known)) {}

Kernel::Kernel(std::shared_ptr<Core> core) : core_(std::move(core)) {}
Kernel::~Kernel() = default;

std::unique_ptr<Kernel> Kernel::open(const Parts& parts, std::vector<store::DocumentRecord> known,
                                     std::shared_ptr<Oversight> oversight) {
    return std::unique_ptr<Kernel>(
        new Kernel(std::make_shared<Core>(parts, std::move(known), std::move(oversight))));
}

policy::Target target_of_file(const std::string& path) {
    return {.kind = kFileKind, .name = path};
}

bool Oversight::is_unasked(const Error& error) {
    return error.code() == Errc::escalation_required && !error.details().contains("approval_id");
}

Error kernel_ending() {
    return {Errc::unavailable, "kernel_ending",
            "nothing was done: the workspace's kernel is ending. Make the call again: the next one "
            "starts a new kernel"};
}

bool is_no_room(const Error& error) {
    return error.reason() == "disk_full" || error.reason() == "document_fenced";
}

// Flushes the pending appends of every loaded document, waits until all of them are durable, and
// stores the last batch, which ends the audit log. New calls are refused from the first line on.
void Kernel::close(Reply<void> reply) {
    core_->counters().with([](Core::Counters& counters) { counters.closing = true; });
    core_->oversight().close();
    core_->feed().hub().end();
    // Replies when the last live document has nothing more in flight.
    struct Closing {
        sched::Guarded<std::size_t> left;
        Reply<void> reply;
        explicit Closing(std::size_t documents, Reply<void> then)
            : left(documents), reply(std::move(then)) {}
        void one_done() {
            if (left.with([](std::size_t& count) { return --count; }) == 0) reply({});
        }
    };
    const auto live = core_->catalog().live();
    // Asks for approval were handed to the store before this batch is.
    Reply<void> settled = [core = core_, reply = std::move(reply)](Result<void>) mutable {
        core->parts().store.commit(core->oversight().last_batch(),
                                   [reply = std::move(reply)](Result<void>) mutable { reply({}); });
    };
    // One more than there are documents: the count cannot reach zero while they are still being
    // told.
    const auto closing = std::make_shared<Closing>(live.size() + 1, std::move(settled));
    for (const auto& document : live) {
        document->strand().post([core = core_, document, closing] {
            if (!document->loaded()) return closing->one_done();
            core->flush_all(*document);
            document->in_flight().when_durable([closing](Result<void>) { closing->one_done(); });
        });
    }
    closing->one_done();
}

std::uint64_t Kernel::open_session() {
    return core_->counters().with([](Core::Counters& counters) {
        ++counters.sessions;
        return counters.next_session++;
    });
}

void Kernel::close_session(std::uint64_t) {
    core_->counters().with([](Core::Counters& counters) { --counters.sessions; });
}

Status Kernel::status() const {
    Status status;
    core_->counters().with([&](const Core::Counters& counters) {
        status.sessions = counters.sessions;
        status.calls = counters.calls;
        status.commits = counters.commits;
    });
    status.documents = core_->catalog().size();
    const Residence::Held held = core_->parts().residence->held();
    status.live_documents = held.documents;
    status.resident_bytes = held.bytes;
    return status;
}

const Limits& Kernel::limits() const {
    return core_->limits();
}

Result<void> Core::load(LiveDocument& document, const Caller& by) {
    Result<void> ready = document.ready();
    // That a memory block is damaged is news only for those who may know of it.
    const bool hidden = !ready && document.kind() == kMemoryKind &&
                        !oversight_->may_see(by.actor, document.record());
    if (hidden) return no_such_block(conversation::BlockId{document.key(), -1, 0}.str());
    return ready;
}

// Reasons that need no approval come first, and plans tell of the text: a change that waits for a
// person goes on up to where it would be made, if the caller may read.
Result<void> Core::admit(LiveDocument& document, Access access, Caller& by) {
    const policy::Operations approved = oversight_->approved(by, document);
    Result<void> admitted = gate()->enter(document, by.actor, access, approved);
    if (admitted || !Oversight::is_unasked(admitted.error()) || access == Access::look ||
        access == Access::read)
        return admitted;
    Result<void> readable = gate()->enter(document, by.actor, Access::read, approved);
    if (!readable) return Oversight::is_unasked(readable.error()) ? admitted : readable;
    by.unapproved = std::make_shared<const Error>(std::move(admitted).error());
    return {};
}

Failure is_memory(const LiveDocument& document) {
    return fail(Errc::denied, "memory_block",
                cat("this is the memory block '", document.name(),
                    "'; the tool context reads and writes it, with that label"),
                {{"label", document.name()}});
}

}  // namespace quire::kernel
