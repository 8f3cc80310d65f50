// The order: updates into the document, then its blocks and units of history against it, then its
// writers. Each step checks the step before: a unit has to name ops that the document has, a
// block's version has to cover its units, and every block of a conversation needs a writer with a
// number. O(history).
#include "kernel/core/replay.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/concat.h"
#include "codec/updates.h"
#include "conversation/conversation.h"
#include "crdt/undo/revert.h"
#include "kernel/core/kinds.h"

namespace quire::kernel {
namespace {

// A block's header in the store: empty, or a format and the version up to which others were given
// out, u64 little-endian.
constexpr std::uint8_t kHeaderFormat = 1;

Result<std::uint64_t> reserved_in(const Bytes& header) {
    if (header.empty()) return std::uint64_t{0};
    ByteReader in(header);
    if (in.byte("format") != kHeaderFormat) in.fail("format");
    const std::uint64_t reserved = in.u64_le("reserved");
    if (!in.ok()) return in.error();
    return reserved;
}

Result<void> replay_updates(const std::vector<Bytes>& updates, crdt::Doc& doc) {
    crdt::ChangeBatch changes;
    for (const Bytes& update : updates) TRY(codec::read_updates(update, changes));
    if (changes.heads.empty()) return {};
    const crdt::Imported imported = TRY(doc.import(std::move(changes)));
    // All updates of a document are in its store, so a change that waits for another one shows that
    // a row is lost.
    if (!imported.pending.empty()) return corrupt("part of its history is missing");
    return {};
}

bool is_in(const crdt::Doc& doc, const Unit& unit) {
    const crdt::VersionVector& known = doc.version();
    const bool has_heads =
        !unit.heads || std::all_of(unit.heads->begin(), unit.heads->end(),
                                   [&](const crdt::OpId& id) { return known.includes(id); });
    return has_heads &&
           std::all_of(unit.spans.begin(), unit.spans.end(), [&](const crdt::IdSpan& span) {
               return span.end <= known.end_of(span.peer);
           });
}

Result<void> replay_blocks(const store::StoredDocument& stored, ReplayedDocument& out) {
    std::vector<crdt::StandIn> stand_ins;
    for (const store::UnitRecord& unit : stored.units) {
        Unit read = TRY(from_record(unit));
        if (!is_in(*out.doc, read))
            return corrupt(cat("the change that made version ", read.version, " is missing"));
        // Undo writes copies of characters. Which original each one stands for is known from the
        // units alone, and the document needs it for the next undo.
        stand_ins.insert(stand_ins.end(), read.stand_ins.begin(), read.stand_ins.end());
        ReplayedDocument::Block& block = out.blocks[unit.block];
        block.newest = read.version;
        block.history.add(std::move(read));
    }
    for (const store::BlockRecord& block : stored.blocks) {
        ReplayedDocument::Block& made = out.blocks[block.block];
        if (made.newest > block.version) return corrupt("a block is older than its history");
        // Versions that a kernel which was killed may have given out are not given out again.
        made.version = std::max(block.version, TRY(reserved_in(block.header)));
    }
    for (const auto& [key, block] : out.blocks) {
        if (block.version == 0 && !block.history.empty())
            return corrupt("the row of a block is missing");
    }
    return crdt::recall(*out.doc, stand_ins);
}

Result<void> replay_peers(std::vector<store::PeerRecord> peers, ReplayedDocument& out) {
    std::sort(peers.begin(), peers.end(),
              [](const auto& a, const auto& b) { return a.number < b.number; });
    for (std::size_t i = 0; i < peers.size(); ++i) {
        if (peers[i].number != static_cast<std::int64_t>(i))
            return corrupt("one of its writers is missing");
    }
    out.peers = std::move(peers);
    if (out.conversation == nullptr) return {};
    for (std::size_t i = 0; i < out.conversation->size(); ++i) {
        const crdt::PeerId peer = out.conversation->at(i).id.peer;
        const bool known = std::any_of(out.peers.begin(), out.peers.end(),
                                       [&](const auto& each) { return each.peer == peer; });
        if (!known) return corrupt("the writer of a block is missing");
    }
    return {};
}

Result<void> replay_into(const store::DocumentRecord& record, store::StoredDocument& stored,
                         ReplayedDocument& out) {
    TRY(replay_updates(stored.updates, *out.doc));
    TRY(replay_blocks(stored, out));
    if (record.kind == kConversationKind)
        out.conversation = std::make_unique<conversation::Conversation>(*out.doc);
    return replay_peers(std::move(stored.peers), out);
}

}  // namespace

Failure damaged_document(const store::DocumentRecord& record, std::string_view what) {
    const std::string id = cat("b", record.key);
    const std::string_view kind = record.kind == kConversationKind ? "conversation"
                                  : record.kind == kFileKind       ? "file"
                                  : record.kind == kStageKind      ? "staged file"
                                  : record.kind == kMemoryKind     ? "memory block"
                                                                   : "document";
    return corrupt(cat("the ", kind, " ", id, " is damaged in the store: ", what,
                       ". Nothing was changed, and everything else goes on. A person can see more "
                       "with quire fsck, and save what is left with quire salvage DIR"),
                   {{"document", id}, {"kind", kind}});
}

Result<ReplayedDocument> replay(const store::DocumentRecord& record, store::StoredDocument stored,
                                crdt::PeerId peer) {
    ReplayedDocument out;
    out.doc = std::make_unique<crdt::Doc>(peer);
    if (Result<void> replayed = replay_into(record, stored, out); !replayed)
        return damaged_document(record, replayed.error().message());
    return out;
}

Bytes reservation(std::uint64_t version, std::uint64_t reserved) {
    if (reserved <= version) return {};
    ByteWriter out;
    out.byte(kHeaderFormat);
    out.u64_le(reserved);
    return std::move(out).take();
}

}  // namespace quire::kernel
