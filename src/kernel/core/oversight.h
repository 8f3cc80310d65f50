// Oversight: what the kernel's core asks of those who watch over calls. It may not know them, for
// they work with its documents themselves (kernel/oversight).
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

// The target of an approval that is for a file.
policy::Target target_of_file(const std::string& path);

// Any thread, but for what names a document: that runs on its strand.
class Oversight {
public:
    virtual ~Oversight() = default;

    // The operations that would escalate there and that a person lets the caller do.
    virtual policy::Operations approved(const Caller& by, const policy::Target& target) = 0;
    virtual policy::Operations approved(const Caller& by, LiveDocument& document) = 0;
    // Asks a person to allow what `refusal`, an escalation, refused. tell() gets what the caller is
    // answered: that an approval waits, that it was denied, or why none could be asked for.
    virtual void ask(const Caller& by, policy::Target target, Error refusal,
                     Function<void(Error)> tell) = 0;
    virtual void ask(const Caller& by, LiveDocument& document, Error refusal,
                     Function<void(Error)> tell) = 0;
    // Whether an error is an escalation that nobody has been asked about.
    static bool is_unasked(const Error& error);

    // The kernel shuts down: nobody is asked any more.
    virtual void close() = 0;
    // The batch that the kernel hands to the store last.
    virtual store::Batch last_batch() = 0;
};

}  // namespace quire::kernel
