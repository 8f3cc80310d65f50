// For stores of an earlier program, which kept the owner in the header alone. The records are
// completed in memory at once and in the store in the background: if that write is lost, the next
// start makes it again.

#include "kernel/memory/owners.h"

#include <utility>

#include "kernel/core/kinds.h"
#include "kernel/memory/memory_header.h"

namespace quire::kernel {

void adopt_owners(std::vector<store::DocumentRecord>& known, store::Store& store) {
    store::Batch batch;
    for (store::DocumentRecord& record : known) {
        if (record.kind != kMemoryKind || !record.owner.empty()) continue;
        const Result<MemoryHeader> header = decode_memory_header(record.name, record.header);
        if (!header) continue;
        record.owner = header->owner.str();
        batch.documents.push_back(record);
    }
    if (!batch.documents.empty()) store.commit(std::move(batch), [](Result<void>) {});
}

}  // namespace quire::kernel
