// Oversight: the interface through which the kernel's core asks for approvals and the audit log,
// and for what a caller may know of a memory block. kernel/oversight implements it, and works with
// the core's documents, so the core may not include it.
#pragma once

#include <string>

#include "base/function.h"
#include "base/result.h"
#include "kernel/core/caller.h"
#include "policy/approval.h"
#include "policy/permission.h"
#include "store/store.h"

namespace quire::kernel {

class LiveDocument;
struct BlockAt;

// A memory block as its readers see it: its plain text, and what is known beside that.
struct ShownMemory {
    std::string text;
    Map metadata = {};
};

// The target of an approval for a file.
policy::Target target_of_file(const std::string& path);

// Any thread; functions that take a document run on its strand.
class Oversight {
public:
    virtual ~Oversight() = default;

    // The escalating operations that a person has allowed the caller on this target.
    virtual policy::Operations approved(const Caller& by, const policy::Target& target) = 0;
    virtual policy::Operations approved(const Caller& by, LiveDocument& document) = 0;
    // Returns true if the actor may know of a memory block.
    virtual bool may_see(const policy::Actor& by, const store::DocumentRecord& memory) = 0;
    // The plain text of a memory block, for those that may read it (memory/plain_text.h). Errors:
    // not_found "invalid_reference"; corrupt.
    virtual Result<std::string> plain_text(const Caller& by, LiveDocument& memory) = 0;
    // A memory block now, for all who may see it, or its text at a version. Errors: corrupt.
    virtual Result<ShownMemory> shown_memory(LiveDocument& memory, const BlockAt* at) = 0;
    // Asks a person to allow what `refusal`, an escalation, refused. tell() gets what the caller is
    // answered: that an approval waits, that it was denied, or why none could be asked for.
    virtual void ask(const Caller& by, policy::Target target, Error refusal,
                     Function<void(Error)> tell) = 0;
    virtual void ask(const Caller& by, LiveDocument& document, Error refusal,
                     Function<void(Error)> tell) = 0;
    // Returns true if the error is an escalation for which nobody has been asked.
    static bool is_unasked(const Error& error);

    // Called when the kernel shuts down: no more requests are made.
    virtual void close() = 0;
    // The last batch that the kernel hands to the store.
    virtual store::Batch last_batch() = 0;
};

}  // namespace quire::kernel
