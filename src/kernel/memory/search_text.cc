// The text of a block for the index, with tags that narrow a search before anything is read: its
// type, its owner and everybody it is shared with. A block that is deleted, or whose header does
// not parse, is taken out of the index.

#include "kernel/memory/search_text.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/concat.h"
#include "base/hex.h"
#include "memory/plain_text.h"

namespace quire::kernel {

// Owners' words are hexadecimal behind the r: a word of letters and digits.
std::string search_tag(const policy::Actor& actor) {
    return cat("r", to_hex(as_bytes(actor.str())));
}

std::string search_tag(MemoryType type) {
    return cat("t", name_of(type));
}

store::TextRecord search_text(const store::DocumentRecord& record, crdt::Doc& doc,
                              std::uint64_t version, std::size_t bytes) {
    store::TextRecord text{.document = record.key, .version = version};
    const Result<MemoryHeader> header = decode_memory_header(record.name, record.header);
    if (record.deleted || !header) {
        text.gone = true;
        return text;
    }
    text.name = record.name;
    text.description = header->block.description;
    text.content = memory::plain_text({doc, header->block.schema}, bytes);
    for (std::string* part : {&text.description, &text.content}) {
        // A search would take these characters for the ends of a hit.
        std::replace(part->begin(), part->end(), store::kHit, ' ');
        std::replace(part->begin(), part->end(), store::kHitEnd, ' ');
    }
    text.tags = cat(kEverybody, " ", search_tag(header->type), " ", search_tag(header->owner));
    for (const policy::Share& share : header->shares) text.tags += cat(" ", search_tag(share.with));
    return text;
}

}  // namespace quire::kernel
