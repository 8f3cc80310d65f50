// Gate: asked before a call reads or changes a document. Files take in there what has changed on
// the disk, and rules refuse what the actor may not do.
#pragma once

#include "base/result.h"
#include "policy/actor.h"
#include "policy/permission.h"

namespace quire::kernel {

class LiveDocument;

// `admitted`: whoever brings the call to the document has asked already. `look` neither takes
// anything in nor needs more than that the document may be seen.
enum class Access { admitted, look, read, append, overwrite, erase };

class Gate {
public:
    virtual ~Gate() = default;
    // On the document's strand, loaded, with no transaction begun. An error is the call's answer.
    // `approved`: what a person lets the actor do there that would escalate.
    virtual Result<void> enter(LiveDocument& document, const policy::Actor& actor, Access access,
                               policy::Operations approved) = 0;
    // Whether the document differs from what is on the disk.
    virtual bool dirty(LiveDocument& document) = 0;
};

}  // namespace quire::kernel
