// A blob is read in one pass over its blocks, which all fill one batch. How many changes there are
// is counted first, from the headers of the blocks, and charged before memory is taken. Writing
// sorts changes by id and puts those of one peer that follow each other into one block.
#include "codec/updates.h"

#include <algorithm>

#include "base/varint.h"
#include "codec/budget.h"
#include "codec/change_block.h"
#include "codec/column_writers.h"
#include "codec/envelope.h"

namespace quire::codec {

using crdt::Change;
using crdt::ChangeBatch;
using Head = ChangeBatch::Head;

namespace {

// Memory for more than this is not kept for the next blob.
constexpr std::size_t kKeptSize = std::size_t{64} << 10;

// A block has at least a header, so a size of 0 is damage.
ByteReader next_block(ByteReader& body) {
    const std::uint64_t size = read_uleb(body, "size of a block");
    if (size == 0) body.fail("size of a block");
    return body.part(size, "block (cut short)");
}

// The blocks of a blob, and how many changes they say they hold, which are charged.
struct Blocks {
    ByteReader body;
    std::size_t changes = 0;
};

Result<Blocks> open_blocks(std::span<const std::uint8_t> blob, Budget& budget) {
    const Envelope envelope = TRY(open_envelope(blob));
    if (envelope.mode != Mode::updates) {
        return fail(Errc::unsupported, "unsupported_mode", "this blob is a snapshot, not updates");
    }
    Blocks blocks{envelope.body};
    for (ByteReader body = envelope.body; !body.at_end();) {
        blocks.changes += change_count(next_block(body));
        if (!body.ok()) return body.error();
    }
    if (!budget.take_heap(blocks.changes * sizeof(Change)))
        return corrupt("more changes than the blob can hold");
    return blocks;
}

}  // namespace

Result<void> read_updates(std::span<const std::uint8_t> blob, ChangeBatch& out) {
    Budget budget = Budget::for_content(blob.size());
    Blocks blocks = TRY(open_blocks(blob, budget));
    if (out.heads.empty()) out.heads.reserve(blocks.changes);
    while (!blocks.body.at_end()) TRY(read_block(next_block(blocks.body), budget, out));
    return {};
}

Result<ChangeBatch> decode_updates(std::span<const std::uint8_t> blob) {
    ChangeBatch batch;
    TRY(read_updates(blob, batch));
    return batch;
}

struct UpdatesWriter::Memory {
    std::vector<Head> sorted;
    BlockWriter blocks;
    ByteWriter out;
};

UpdatesWriter::UpdatesWriter() : memory_(std::make_unique<Memory>()) {}
UpdatesWriter::UpdatesWriter(UpdatesWriter&&) noexcept = default;
UpdatesWriter& UpdatesWriter::operator=(UpdatesWriter&&) noexcept = default;
UpdatesWriter::~UpdatesWriter() = default;

Bytes UpdatesWriter::write(const ChangeBatch& batch) {
    auto& [sorted, blocks, out] = *memory_;
    const auto by_id = [&](const Head& a, const Head& b) {
        return batch.id_of(a) < batch.id_of(b);
    };
    // Most batches come sorted, and are written without a copy of their heads.
    std::span<const Head> heads = batch.heads;
    if (!std::is_sorted(heads.begin(), heads.end(), by_id)) {
        sorted.assign(heads.begin(), heads.end());
        std::stable_sort(sorted.begin(), sorted.end(), by_id);
        heads = sorted;
    }
    out.clear();
    begin_envelope(out);
    while (!heads.empty()) {
        std::size_t n = 1;
        while (n < heads.size() && continues(heads[n], heads[n - 1])) ++n;
        const Section block(out);
        blocks.write(out, batch, heads.first(n));
        heads = heads.subspan(n);
    }
    seal_envelope(out, Mode::updates);
    // Exactly as large as it is: blobs are kept.
    Bytes blob(out.bytes().begin(), out.bytes().end());
    if (blob.size() > kKeptSize) out = ByteWriter();
    return blob;
}

Bytes encode_updates(const ChangeBatch& batch) {
    return UpdatesWriter().write(batch);
}

}  // namespace quire::codec
