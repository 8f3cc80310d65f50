// The frame of every call: the templates of Core and Visit. Included by core.h, after them.
//
//   run()      work may change the document; it runs once
//   look()     work only reads, and may run twice: on a full disk it is repeated on what is durable
//   run_alone  as run(), with the document held from before the work until the answer
//
// A call costs one post to its document's strand, and two closures. Everything on the strand is
// synchronous; only what waits for the disk is answered later. The program has some eighty calls
// and fewer kinds of answer, so the templates are given the answer's type alone, and hold the
// call's own work as a Function. An answer is never sent from memory that is ahead of the disk:
// finish() waits for the batch of the call, or for all that was submitted before it.
#pragma once

#include <memory>
#include <utility>

#include "kernel/core/core.h"

namespace quire::kernel {

template <class T>
void Visit<T>::answer(Result<T> result) {
    // Answering may move this visit away, and the document with it. A call that ran alone lets the
    // others in only once it is answered.
    const std::shared_ptr<LiveDocument> held = alone ? document : nullptr;
    if (result || !may_be_asked(result.error())) {
        reply(std::move(result));
    } else {
        ask(std::move(result).error(),
            [reply = std::move(reply)](Error why) mutable { reply(Failure(std::move(why))); });
    }
    if (held != nullptr) held->doorway().release();
}

template <class T, class Work>
void Core::enter(Caller by, Address address, Access access, Reply<T> reply, Work work) {
    bring(std::move(by), std::move(address), access,
          [reply = std::move(reply), work = std::move(work)](Entry entry, Result<void> in) mutable {
              Visit<T> visit{std::move(entry), std::move(reply)};
              if (!in) return visit.answer(Failure(std::move(in).error()));
              work(std::move(visit));
          });
}

template <class T>
void Core::look(Caller by, Address address, Access access, Reply<T> reply, Task<T> work) {
    enter<T>(std::move(by), std::move(address), access, std::move(reply),
             [access, work = std::move(work)](Visit<T> visit) mutable {
                 Core& self = *visit.kernel;
                 self.finish_look(std::move(visit), access, std::move(work));
             });
}

template <class T>
void Core::look_once(Caller by, Address address, Access access, Reply<T> reply, Task<T> work) {
    enter<T>(std::move(by), std::move(address), access, std::move(reply),
             [access, work = std::move(work)](Visit<T> visit) mutable {
                 Core& self = *visit.kernel;
                 LiveDocument& document = *visit.document;
                 // Work that may run only once must not see what a refusal could take back, so it
                 // waits until nothing is under way, due or buffered.
                 const bool settled = document.in_flight().idle() &&
                                      !document.transaction().is_due() &&
                                      !document.has_waiting_appends();
                 if (!settled) return self.look_settled(std::move(visit), access, std::move(work));
                 Result<T> result = work(document, visit.by);
                 self.finish(std::move(visit), std::move(result));
             });
}

template <class T>
void Core::finish_look(Visit<T> visit, Access access, Task<T> work) {
    LiveDocument& document = *visit.document;
    Result<T> result = work(document, visit.by);
    // A name that was asked for and did not come to anything is free again.
    if (!result && !document.is_stored() && document.is_blank()) catalog_.drop(document.key());
    // A read may have flushed appends, or taken in a change of the disk.
    if (document.transaction().is_due()) document.submit([](Result<void>) {});
    document.in_flight().when_durable([visit = std::move(visit), access, result = std::move(result),
                                       work = std::move(work)](Result<void> durable) mutable {
        if (durable) return visit.answer(std::move(result));
        // On a full disk people still have to be able to read. The answer that saw refused changes
        // is thrown away, and the work is done again behind the doorway, where nobody changes
        // anything.
        if (!is_no_room(durable.error())) return visit.answer(Failure(std::move(durable).error()));
        LiveDocument& live = *visit.document;
        live.doorway().enter([visit = std::move(visit), access, work = std::move(work)]() mutable {
            Core& self = *visit.kernel;
            self.look_settled(std::move(visit), access, std::move(work));
        });
    });
}

template <class T>
void Core::look_settled(Visit<T> visit, Access access, Task<T> work) {
    LiveDocument& document = *visit.document;
    if (!visit.alone) document.doorway().hold();
    visit.alone = true;
    document.in_flight().when_durable([visit = std::move(visit), access,
                                       work = std::move(work)](Result<void>) mutable {
        Core& self = *visit.kernel;
        LiveDocument& live = *visit.document;
        // A timer may have flushed appends meanwhile.
        if (!live.in_flight().idle())
            return self.look_settled(std::move(visit), access, std::move(work));
        // After a refusal this loads the document anew, as the store has it, and the gate looks at
        // the disk again.
        Result<void> ready = self.load(live, visit.by);
        if (ready) ready = self.pass_gate(visit, access);
        if (!ready) return visit.answer(Failure(std::move(ready).error()));
        Result<T> result = work(live, visit.by);
        if (live.transaction().is_due()) live.submit([](Result<void>) {});
        live.in_flight().when_durable(
            [visit = std::move(visit), result = std::move(result)](Result<void> durable) mutable {
                // Appends that were accepted are in memory and were promised to stay, so they are
                // shown although there is still no room for them.
                const bool shown = durable || is_no_room(durable.error());
                visit.answer(shown ? std::move(result) : Failure(std::move(durable).error()));
            });
    });
}

template <class T>
void Core::run(Caller by, Address address, Access access, Reply<T> reply, Task<T> work) {
    enter<T>(std::move(by), std::move(address), access, std::move(reply),
             [work = std::move(work)](Visit<T> visit) mutable {
                 Result<T> result = work(*visit.document, visit.by);
                 Core& self = *visit.kernel;
                 self.finish(std::move(visit), std::move(result));
             });
}

template <class T>
void Core::run_alone(Caller by, Address address, Access access, Reply<T> reply, Task<T> work) {
    enter<T>(
        std::move(by), std::move(address), access, std::move(reply),
        [work = std::move(work)](Visit<T> visit) mutable {
            LiveDocument& document = *visit.document;
            // Nothing is under way and no other call can enter when `work` starts, so it may take
            // several steps that must not be parted.
            document.doorway().hold();
            visit.alone = true;
            document.in_flight().when_durable(
                [visit = std::move(visit), work = std::move(work)](Result<void> durable) mutable {
                    if (!durable) return visit.answer(Failure(std::move(durable).error()));
                    Result<T> result = work(*visit.document, visit.by);
                    Core& self = *visit.kernel;
                    self.finish(std::move(visit), std::move(result));
                });
        });
}

template <class T>
void Core::run_on_block(Caller by, const BlockName& of, Access access, Reply<T> reply,
                        BlockTask<T> work) {
    // The id is resolved on the caller's thread and looked up on the strand: the block may have
    // been deleted in between.
    Result<BlockAddress> at = address_of(of.id, by.actor);
    if (!at) return reply(Failure(std::move(at).error()));
    Task<T> on_block = [self = shared_from_this(), id = at->id, access,
                        deleted_too = of.deleted_too, work = std::move(work)](
                           LiveDocument& document, const Caller& caller) mutable -> Result<T> {
        const BlockRef block =
            TRY(self->find_block(document, id, caller.actor, access, deleted_too));
        return work(document, block, caller);
    };
    if (access == Access::read) {
        look<T>(std::move(by), std::move(at->at), access, std::move(reply), std::move(on_block));
    } else {
        run<T>(std::move(by), std::move(at->at), access, std::move(reply), std::move(on_block));
    }
}

template <class T>
void Core::finish(Visit<T> visit, Result<T> result) {
    LiveDocument& document = *visit.document;
    if (!result && !document.is_stored() && document.is_blank()) catalog_.drop(document.key());
    // A call that changed nothing still waits for the changes that it has seen.
    if (!document.transaction().is_due()) {
        return document.in_flight().when_durable(
            [visit = std::move(visit), result = std::move(result)](Result<void> durable) mutable {
                visit.answer(durable ? std::move(result) : Failure(std::move(durable).error()));
            });
    }
    count_commit();
    document.submit(
        [visit = std::move(visit), result = std::move(result)](Result<void> stored) mutable {
            // Nothing of a document whose first batch was refused exists: the next call makes
            // another under its name.
            if (!stored && !visit.document->is_stored())
                visit.kernel->catalog_.drop(visit.document->key());
            visit.answer(stored ? std::move(result) : Failure(std::move(stored).error()));
        });
}

template <class Admit, class Write>
Result<Edited> Core::edit(LiveDocument& document, const BlockRef& block, const seq::Rope& text,
                          edits::Plan& plan, Admit admit, Write write) const {
    // admit() is given the plan's error too: one who may not write is told that, and not whether
    // the text that the plan expected is there.
    Result<edits::Planned> made = plan(text, block.state->version);
    TRY(admit(std::as_const(made)));
    edits::Planned planned = TRY(std::move(made));
    TRY(check_size(text, planned));
    if (!planned.splices.empty()) TRY(write(std::as_const(planned)));
    return described(document, block, std::move(planned));
}

}  // namespace quire::kernel
