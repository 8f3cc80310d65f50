// A reading takes what it gets. The stored pieces, Loro blobs, are decoded one by one, and all that
// can be decoded go into one document; a piece that cannot be read is a fault, and changes whose
// ancestors were in it stay pending and are left out. Only a document without any fault is replayed
// as the kernel does it (kernel/core/replay.h), which finds what a lenient reading passes over.
// Beside a fault, the stored pieces are handed on as well: another program may read more of
// them.
#include "kernel/recovery/readable_text.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/concat.h"
#include "codec/updates.h"
#include "conversation/conversation.h"
#include "crdt/doc/doc.h"
#include "crdt/doc/history.h"
#include "crdt/doc/text.h"
#include "json/json.h"
#include "kernel/core/kinds.h"
#include "kernel/core/replay.h"
#include "kernel/memory/memory_header.h"
#include "memory/plain_text.h"
#include "seq/rope.h"
#include "text/escape_hidden.h"

namespace quire::kernel {
namespace {

constexpr crdt::PeerId kReader = 1;  // It writes nothing.

// The id that tools print for a block, as far as its writer's number is known.
std::string id_of(const conversation::ConversationBlock& block, const store::DocumentRecord& record,
                  const std::vector<store::PeerRecord>& peers) {
    const auto peer = std::find_if(peers.begin(), peers.end(),
                                   [&](const auto& each) { return each.peer == block.id.peer; });
    const std::string number = peer == peers.end() ? "?" : cat(peer->number);
    return cat("b", record.key, "_", number, "_", block.id.counter);
}

// The blocks in their order, each below a line that says whose it is and how many bytes follow.
std::string transcript(crdt::Doc& doc, const store::DocumentRecord& record,
                       const std::vector<store::PeerRecord>& peers) {
    const conversation::Conversation conversation(doc);
    std::string out;
    for (const auto& [block, depth] : conversation.walk({}, 0, true)) {
        const std::string text = doc.text(block->content).rope().str();
        cat_to(out, cat("== ", id_of(*block, record, peers), " ",
                        text::escape_hidden(block->role()), " ", text::escape_hidden(block->kind()),
                        " ", text::escape_hidden(block->status()), " by ",
                        text::escape_hidden(block->author()), block->deleted ? " deleted" : "",
                        ", ", text.size(), " bytes ==\n"));
        out += text;
        if (!text.empty() && text.back() != '\n') out += '\n';
        if (!block->metadata.empty())
            cat_to(out, cat("== metadata ", json::write(Value(block->metadata)), " ==\n"));
        out += '\n';
    }
    return out;
}

std::string text_of_document(crdt::Doc& doc, const store::DocumentRecord& record,
                             const std::vector<store::PeerRecord>& peers,
                             std::vector<std::string>& faults) {
    if (record.kind == kConversationKind) return transcript(doc, record, peers);
    if (record.kind == kMemoryKind) {
        const Result<MemoryHeader> header = decode_memory_header(record.name, record.header);
        // The schema, which is in the header, tells the order of the sections and how they are
        // shown. Without it all values are still there, as JSON.
        if (header) return memory::plain_text({doc, header->block.schema});
        faults.emplace_back("its header cannot be read, so its text is JSON");
        return cat(json::write(doc.value()), "\n");
    }
    // Files, staged texts and documents of an unknown kind have their text in the root "content".
    const crdt::Handle content =
        doc.open(crdt::ContainerId::root("content", crdt::ContainerKind::text));
    return doc.text(content).rope().str();
}

// All changes that can be put together; what is wrong with a piece is told, and it is passed over.
// Returns none if the changes contradict each other.
std::optional<crdt::Doc> put_together(const std::vector<Bytes>& updates,
                                      std::vector<std::string>& faults) {
    std::optional<crdt::Doc> doc(std::in_place, kReader);
    crdt::ChangeBatch changes;
    for (std::size_t i = 0; i < updates.size(); ++i) {
        crdt::ChangeBatch alone;
        // A piece is tried by itself first: a batch is good for nothing after an error, and the
        // sound pieces would be lost with it.
        const Result<void> read = codec::read_updates(updates[i], alone);
        if (read) {
            static_cast<void>(codec::read_updates(updates[i], changes));
        } else {
            faults.push_back(cat("piece ", i + 1, " is no Loro blob: ", read.error().message()));
        }
    }
    if (changes.heads.empty()) return doc;
    const Result<crdt::Imported> imported = doc->import(std::move(changes));
    if (!imported) {
        faults.push_back(cat("its changes do not fit together: ", imported.error().message()));
        return std::nullopt;
    }
    if (!imported->pending.empty())
        faults.emplace_back("changes that later ones build on are missing, so those are left out");
    return doc;
}

}  // namespace

ReadableText read_text_of(const store::DocumentRecord& record, store::ReadableDocument readable) {
    ReadableText out;
    out.faults = std::move(readable.faults);
    if (record.damaged) out.faults.insert(out.faults.begin(), "its row is damaged or lost");
    std::optional<crdt::Doc> doc = put_together(readable.stored.updates, out.faults);
    if (doc && doc->history().op_count() > 0) {
        out.text = text_of_document(*doc, record, readable.stored.peers, out.faults);
        out.changes = codec::encode_updates(doc->changes_since({}));
    }
    if (out.faults.empty()) {
        const Result<ReplayedDocument> strict = replay(record, readable.stored, kReader);
        if (!strict) out.faults.push_back(strict.error().message());
    }
    if (!out.faults.empty()) out.pieces = std::move(readable.stored.updates);
    return out;
}

}  // namespace quire::kernel
