#include "kernel/kernel.h"

#include "kernel/body.h"

namespace quire::kernel {

Kernel::Kernel(std::shared_ptr<Body> body) : body_(std::move(body)) {}
Kernel::~Kernel() = default;

Result<std::unique_ptr<Kernel>> Kernel::open(Parts parts) {
    std::vector<store::DocumentRecord> known = TRY(parts.store.documents());
    std::shared_ptr<Approvals> approvals = TRY(Approvals::open(parts));
    return std::unique_ptr<Kernel>(new Kernel(
        std::make_shared<Body>(parts, std::move(known), std::move(approvals), open_log(parts))));
}

Failure shutting_down() {
    return fail(Errc::unavailable, "shutting_down",
                "the kernel is shutting down; call again to start a new one");
}

void Kernel::close(Reply<void> reply) {
    body_->counters().with([](Body::Counters& counters) { counters.closing = true; });
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
    const auto live = body_->catalog().live();
    // What was asked of people was handed to the store before this is.
    Reply<void> settled = [body = body_, reply = std::move(reply)](Result<void>) mutable {
        body->parts().store.commit(end_of_log(body->parts()),
                                   [reply = std::move(reply)](Result<void>) mutable { reply({}); });
    };
    const auto closing = std::make_shared<Closing>(live.size() + 1, std::move(settled));
    for (const auto& document : live) {
        document->strand().post([body = body_, document, closing] {
            if (!document->loaded()) return closing->one_done();
            body->flush_all(*document);
            document->when_durable([closing](Result<void>) { closing->one_done(); });
        });
    }
    closing->one_done();
}

std::uint64_t Kernel::open_session() {
    return body_->counters().with([](Body::Counters& counters) {
        ++counters.sessions;
        return counters.next_session++;
    });
}

void Kernel::close_session(std::uint64_t) {
    body_->counters().with([](Body::Counters& counters) { --counters.sessions; });
}

Status Kernel::status() const {
    Status status;
    body_->counters().with([&](const Body::Counters& counters) {
        status.sessions = counters.sessions;
        status.calls = counters.calls;
        status.commits = counters.commits;
    });
    status.documents = body_->catalog().size();
    status.live_documents = body_->catalog().live().size();
    return status;
}

const Limits& Kernel::limits() const {
    return body_->limits();
}

Failure is_memory(const LiveDocument& document) {
    return fail(Errc::denied, "memory_block",
                cat("this is the memory block '", document.name(),
                    "'; the tool context reads and writes it, with that label"),
                {{"label", document.name()}});
}

}  // namespace quire::kernel
