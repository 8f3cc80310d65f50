// Gate: asked before a call reads or changes a document. For files it takes in changes on the
// disk and refuses what the rules forbid. It is an interface because the core may not know of
// files; kernel/files/file_gate.h implements it.
#pragma once

#include "base/result.h"
#include "policy/actor.h"
#include "policy/permission.h"

namespace quire::kernel {

class LiveDocument;

// The access that a call needs. `admitted`: the caller has asked the gate already. `look`: only
// whether the document may be seen; the disk is not read. For any of the others the gate takes in
// what the disk has before the call goes on.
enum class Access { admitted, look, read, append, overwrite, erase };

// The kernel's files implement it; other documents have no gate.
class Gate {
public:
    virtual ~Gate() = default;
    // Admits a call to the document. On its strand, loaded, with no transaction begun. An error
    // is the call's answer. `approved`: escalating operations that a person has allowed.
    virtual Result<void> enter(LiveDocument& document, const policy::Actor& actor, Access access,
                               policy::Operations approved) = 0;
    // Returns true if the actor may know of the file. Any thread.
    virtual bool may_see(const std::string& path, const policy::Actor& actor) const = 0;
    // Returns true if the document differs from what is on the disk.
    virtual bool dirty(LiveDocument& document) = 0;
};

}  // namespace quire::kernel
