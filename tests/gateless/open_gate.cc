// A gate that lets everything through that can be written at all. It stands in for
// memory/gate.cc, so that a test can show what happens without one.
#include "memory/gate.h"

namespace quire::memory {

Result<const memory::BlockSchema*> admit(const Writer& /*by*/, const Write& write,
                                         const memory::BlockSchema& block) {
    const Located found = TRY(locate(block, write.section));
    TRY(check_shape(*found.schema, write));
    for (const std::string& each : write.fields) TRY(find_written(*found.schema, each));
    return found.schema;
}

}  // namespace quire::memory
