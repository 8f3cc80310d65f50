#include "codec/updates.h"

#include <algorithm>

#include "base/varint.h"
#include "codec/budget.h"
#include "codec/change_block.h"
#include "codec/envelope.h"

namespace quire::codec {

using crdt::Change;

namespace {

ByteReader next_block(ByteReader& body) {
    const std::uint64_t size = read_uleb(body, "size of a block");
    if (size == 0) body.fail("size of a block");
    return body.part(size, "block (cut short)");
}

}  // namespace

Result<std::vector<Change>> decode_updates(std::span<const std::uint8_t> blob) {
    Envelope envelope = TRY(open_envelope(blob));
    if (envelope.mode != Mode::updates) {
        return fail(Errc::unsupported, "unsupported_mode", "this blob is a snapshot, not updates");
    }
    std::size_t count = 0;
    for (ByteReader body = envelope.body; !body.at_end();) {
        count += change_count(next_block(body));
        if (!body.ok()) return body.error();
    }
    Budget budget(blob.size());
    if (!budget.take_heap(count * sizeof(Change)))
        return corrupt("more changes than the blob can hold");
    std::vector<Change> changes;
    changes.reserve(count);
    while (!envelope.body.at_end()) TRY(read_block(next_block(envelope.body), budget, changes));
    return changes;
}

Bytes encode_updates(std::span<const Change> changes) {
    std::vector<const Change*> sorted;
    sorted.reserve(changes.size());
    for (const Change& change : changes) sorted.push_back(&change);
    // Sorting takes memory even where there is nothing to sort.
    const auto by_id = [](const Change* a, const Change* b) { return a->id < b->id; };
    if (!std::is_sorted(sorted.begin(), sorted.end(), by_id)) {
        std::stable_sort(sorted.begin(), sorted.end(), by_id);
    }

    ByteWriter out;
    begin_envelope(out);
    ByteWriter block;
    for (auto begin = sorted.begin(); begin != sorted.end();) {
        auto end = std::next(begin);
        while (end != sorted.end() && (*end)->id.peer == (*begin)->id.peer &&
               (*end)->id.counter ==
                   (*std::prev(end))->id.counter + crdt::atom_count(**std::prev(end))) {
            ++end;
        }
        block.clear();
        write_block(block, {begin, end});
        write_sized(out, block.bytes());
        begin = end;
    }
    seal_envelope(out, Mode::updates);
    return std::move(out).take();
}

}  // namespace quire::codec
