// How a call enters its document: the part of the frame that does not depend on the answer's type.
//
//   bring()    any thread      counts the call, refuses it while closing, finds the document
//   arrive()   on the strand   in turn, unless another call holds the document:
//                              cancelled? loaded? still the one that is meant? admitted?
//   then       on the strand   the call's own work, or its refusal
//
// No thread waits on this way. A call that cannot go on yet is brought again from the start, when
// what is under way has ended.
// from the start, when what is under way has ended.
#include "kernel/core/core.h"
#include "kernel/core/kinds.h"

namespace quire::kernel {

bool Entry::may_be_asked(const Error& refusal) const {
    return document != nullptr && by.call != nullptr && Oversight::is_unasked(refusal);
}

void Entry::ask(Error refusal, Function<void(Error)> refused) {
    kernel->oversight().ask(by, *document, std::move(refusal), std::move(refused));
}

// A call that is on its way into a document.
struct Core::Arrival {
    Entry entry;
    Address address;
    Access access;
    Entered then;

    void refuse(Failure why) { then(std::move(entry), std::move(why)); }
};

void Core::bring(Caller by, Address address, Access access, Entered then) {
    const bool closing = counters_.with([](Counters& counters) {
        ++counters.calls;
        return counters.closing;
    });
    Arrival call{
        {shared_from_this(), std::move(by), nullptr}, std::move(address), access, std::move(then)};
    if (closing) return call.refuse(Failure(kernel_ending()));
    Result<std::shared_ptr<LiveDocument>> found = call.address.find(catalog_);
    if (!found) return call.refuse(Failure(std::move(found).error()));
    LiveDocument& live = **found;
    call.entry.document = std::move(*found);
    live.strand().post([&live, call = std::move(call)]() mutable {
        live.doorway().enter([call = std::move(call)]() mutable {
            Core& self = *call.entry.kernel;
            self.arrive(std::move(call));
        });
    });
}

void Core::arrive(Arrival call) {
    LiveDocument& document = *call.entry.document;
    if (call.entry.by.cancelled.stop_requested()) {
        return call.refuse(
            fail(Errc::unavailable, "cancelled", "the call was cancelled before it began"));
    }
    // It is loaded anew once nothing that was submitted is under way any more.
    if (document.in_flight().refusal() && !document.in_flight().idle())
        return bring_again(std::move(call));
    Result<void> ready = load(document, call.entry.by);
    // A name that is not the document's any more is given up when what became of it is durable.
    if (ready && !call.address.is_meant(catalog_, document)) return bring_again(std::move(call));
    if (ready) ready = pass_gate(call.entry, call.access);
    call.then(std::move(call.entry), std::move(ready));
}

void Core::bring_again(Arrival call) {
    LiveDocument& document = *call.entry.document;
    document.in_flight().when_durable([call = std::move(call)](Result<void>) mutable {
        Core& self = *call.entry.kernel;
        self.bring(std::move(call.entry.by), std::move(call.address), call.access,
                   std::move(call.then));
    });
}

Result<void> Core::pass_gate(Entry& entry, Access access) {
    LiveDocument& document = *entry.document;
    if (gate() == nullptr || access == Access::admitted || !is_file_text(document.kind()))
        return {};
    return admit(document, access, entry.by);
}

}  // namespace quire::kernel
