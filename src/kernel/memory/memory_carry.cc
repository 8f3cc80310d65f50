// Export and import of memory blocks with their whole history. An export replays the changes that
// it writes and takes the value from that copy, so the reader's replay gives the same value to
// the last bit. An import first replays and checks every block without touching the workspace,
// then reserves the labels, and stores all blocks in one transaction. O(history) for each block.
#include <algorithm>
#include <set>

#include "codec/updates.h"
#include "crdt/doc/history.h"
#include "kernel/core/kinds.h"
#include "kernel/memory/carried.h"
#include "kernel/memory/carried_history.h"
#include "kernel/memory/memory_body.h"
#include "memory/memory_reader.h"
#include "policy/attribution.h"

namespace quire::kernel {
namespace {

// The document that changes lead to. Errors: corrupt.
Result<crdt::Doc> replay(const std::vector<crdt::Change>& changes, crdt::PeerId peer) {
    crdt::Doc doc(peer);
    const crdt::Imported imported = TRY(doc.import(changes));
    if (!imported.pending.empty()) return corrupt("part of its history is missing");
    return doc;
}
Result<std::vector<crdt::Change>> changes_of(const Bytes& updates) {
    if (updates.empty()) return std::vector<crdt::Change>();
    return TRY(codec::decode_updates(updates)).changes();
}

// Its value is read off the history that goes with it, not off the block: so whoever replays that
// finds the same, to the last bit of a sum.
Result<CarriedBlock> carried_from(LiveDocument& document, const OpenedMemory& opened) {
    CarriedBlock out{opened.header, {}};
    const BlockState& state = *document.whole().state;
    out.version = state.version;
    for (const Unit& unit : state.history.units()) {
        out.units.push_back(to_record(unit, document.key(), state.key));
    }
    if (document.doc().history().op_count() > 0)
        out.updates = codec::encode_updates(document.doc().changes_since({}));
    const std::vector<crdt::Change> changes = TRY(changes_of(out.updates));
    crdt::Doc copy = TRY(replay(changes, document.doc().peer()));
    out.value = memory::MemoryReader(copy, opened.header.block.schema).value();
    return out;
}

// The records of one block for the store; its key is set when it has one.
struct Packed {
    std::string from;
    store::DocumentRecord document;
    std::vector<store::PeerRecord> peers = {};
    std::vector<store::UnitRecord> units = {};
    Bytes updates = {};
    std::uint64_t version = 0;
};

// Replays a history: it leads to what the block says, and every entry of it to a version there.
// Errors: corrupt.
Result<crdt::Frontiers> replay(const CarriedBlock& block, crdt::PeerId peer) {
    const std::vector<crdt::Change> changes = TRY(changes_of(block.updates));
    crdt::Doc doc = TRY(replay(changes, peer));
    std::vector<crdt::StandIn> stand_ins;
    for (const Unit& unit : TRY(check_history(block.units, changes, doc)))
        stand_ins.insert(stand_ins.end(), unit.stand_ins.begin(), unit.stand_ins.end());
    TRY(crdt::recall(doc, stand_ins));
    if (memory::MemoryReader(doc, block.header.block.schema).value() != block.value)
        return corrupt("its history does not lead to what it says");
    return doc.frontiers();
}

// One import on a worker, without a strand: nothing of it is in the workspace until it is stored.
// Labels are checked first for a message that names all that are taken, and claimed all together by
// make_held(), which is what counts. The new documents are held until the store has answered, so no
// call sees a block that might not be there after a crash.
class Importing : public std::enable_shared_from_this<Importing> {
public:
    Importing(std::shared_ptr<Core> kernel, std::shared_ptr<MemoryTexts> texts, Caller by,
              MemoryImport what, Reply<MemoryImported> reply)
        : kernel_(std::move(kernel)),
          texts_(std::move(texts)),
          by_(std::move(by)),
          what_(std::move(what)),
          reply_(std::move(reply)) {}

    void run() {
        if (kernel_->is_closing()) return reply_(Failure(kernel_ending()));
        if (const Result<void> packed = pack_all(); !packed) return reply_(Failure(packed.error()));
        if (what_.dry_run || packed_.empty()) return reply_(report());
        std::vector<store::DocumentRecord> records;
        for (const Packed& each : packed_) records.push_back(each.document);
        auto made = kernel_->catalog().make_held(records);
        if (!made) {
            // Another call took a label since the labels were checked.
            const Result<void> labelled = label_all();
            return reply_(labelled ? again() : Failure(labelled.error()));
        }
        made_ = std::move(*made);
        for (std::size_t i = 0; i < packed_.size(); ++i) packed_[i].document.key = records[i].key;
        kernel_->count_commit();
        kernel_->parts().store.commit(
            batch(), [self = shared_from_this()](Result<void> stored) { self->settle(stored); });
    }

private:
    static Failure again() {
        return fail(Errc::unavailable, "try_again",
                    "labels were given and taken while this was looked at; nothing was changed. "
                    "Try it again");
    }

    // Packs and labels all blocks before anything is claimed. An error tells which block it is of,
    // by its place in the request.
    Result<void> pack_all() {
        for (std::size_t i = 0; i < what_.blocks.size(); ++i) {
            Result<Packed> packed = pack(what_.blocks[i]);
            if (!packed) {
                packed.error().details().set("block", i);
                return Failure(std::move(packed).error());
            }
            packed_.push_back(std::move(*packed));
        }
        return label_all();
    }

    // The block's own history is stored as it came, and the import is one more entry after it. The
    // header is written anew, for the owner may change. The peer is drawn for the replay, or for
    // the change that makes a block without history.
    Result<Packed> pack(const CarriedBlock& block) {
        const std::size_t limit = kernel_->limits().operation_bytes;
        if (block.header.block.description.size() > limit) {
            return too_large(cat("the description of '", block.header.block.label, "'"), limit,
                             "Make it shorter");
        }
        MemoryHeader header = block.header;
        if (what_.owner) header.owner = *what_.owner;
        Packed out{header.block.label,
                   {0, kMemoryKind, header.block.label, false, encode(header), header.owner.str()}};
        Unit unit = memory_entry(by_.actor, "import");
        unit.at_ms = kernel_->parts().clock.wall_ms();
        const crdt::PeerId peer = kernel_->parts().rng.next() >> 1;
        if (block.units.empty()) {
            unit.heads = TRY(make(block, peer, out));
        } else {
            Result<crdt::Frontiers> heads = replay(block, peer);
            if (!heads) return damaged(block.header.block.label, heads.error().message());
            unit.heads = std::move(*heads);
            out.units = block.units;
            out.updates = block.updates;
            out.version = block.version;
        }
        unit.version = ++out.version;
        out.units.push_back(to_record(unit, 0, ""));
        return out;
    }

    // A block that is made of its value, by whoever brings it.
    Result<crdt::Frontiers> make(const CarriedBlock& block, crdt::PeerId peer, Packed& out) const {
        crdt::Doc doc(peer);
        const std::int64_t now_ms = kernel_->parts().clock.wall_ms();
        Result<void> filled = fill_memory(doc, block.header.block, block.value, now_ms);
        if (!filled) {
            return Failure(std::move(filled).error().within(
                cat("the block '", block.header.block.label, "'")));
        }
        crdt::CommitOptions options;
        options.message = policy::message_of({by_.actor, "import", ""});
        options.timestamp = now_ms / 1000;
        if (doc.commit(std::move(options)).empty()) return doc.frontiers();
        out.peers.push_back({0, 0, by_.actor.str(), peer});
        out.updates = codec::encode_updates(doc.changes_since({}));
        return doc.frontiers();
    }

    // A label for each; those that are taken or that no block may have are refused, or get the
    // suffix.
    Result<void> label_all() {
        std::set<Name> given;
        List taken;
        for (Packed& each : packed_) {
            Name name{kMemoryKind, each.from, each.document.owner};
            const auto is_taken = [&] {
                return given.contains(name) || kernel_->catalog().is_taken(name);
            };
            if (!what_.suffix.empty() && (is_taken() || !check_label(name.name)))
                name.name += what_.suffix;
            TRY(check_label(name.name));
            if (is_taken()) taken.emplace_back(name.name);
            each.document.name = name.name;
            given.insert(std::move(name));
        }
        if (taken.empty()) return {};
        constexpr std::size_t kNamed = 5;
        std::string names;
        for (std::size_t i = 0; i < std::min(taken.size(), kNamed); ++i)
            names += cat(i == 0 ? "'" : ", '", taken[i].as_string(), "'");
        if (taken.size() > kNamed) names += cat(" and ", taken.size() - kNamed, " more");
        return fail(Errc::conflict, "label_exists",
                    cat("there are blocks of these labels already: ", names,
                        ". Give those that are imported a suffix, or delete those that are here"),
                    {{"labels", std::move(taken)}});
    }

    // Everything of all blocks in one transaction. The keys are known only since the labels were
    // claimed.
    store::Batch batch() {
        store::Batch batch;
        for (Packed& each : packed_) {
            const store::DocumentKey key = each.document.key;
            batch.documents.push_back(each.document);
            for (store::PeerRecord& peer : each.peers) {
                peer.document = key;
                batch.peers.push_back(std::move(peer));
            }
            if (!each.updates.empty()) batch.updates.push_back({key, std::move(each.updates)});
            batch.blocks.push_back({key, "", each.version, {}});
            for (store::UnitRecord& unit : each.units) {
                unit.document = key;
                unit.block = "";
                batch.units.push_back(std::move(unit));
            }
        }
        return batch;
    }

    MemoryImported report() const {
        MemoryImported out;
        for (const Packed& each : packed_) {
            const store::DocumentKey key = each.document.key;
            out.blocks.push_back(
                {each.from,
                 {each.document.name, key == 0 ? "" : conversation::BlockId{key, -1, 0}.str(),
                  each.version}});
        }
        return out;
    }

    // A document that was not stored is dropped from the catalog before its strand hears of it, so
    // its label is free at once. The index of searches is left to the next search.
    void settle(const Result<void>& stored) {
        for (const auto& each : made_) {
            if (stored) {
                leave_text(*texts_, each->key());
            } else {
                kernel_->catalog().drop(each->key());
            }
            each->strand().post([each, is_stored = stored.has_value()] {
                each->settle(is_stored);
                each->doorway().release();
            });
        }
        if (!stored) return reply_(Failure(stored.error()));
        reply_(report());
    }

    std::shared_ptr<Core> kernel_;
    std::shared_ptr<MemoryTexts> texts_;
    const Caller by_;
    const MemoryImport what_;
    Reply<MemoryImported> reply_;
    std::vector<Packed> packed_;
    std::vector<std::shared_ptr<LiveDocument>> made_;
};

}  // namespace

void MemoryCalls::export_block(Caller by, std::string label, Reply<CarriedBlock> reply) {
    body_->look<CarriedBlock>(std::move(by), label, std::move(reply),
                              [](LiveDocument& document, const OpenedMemory& opened,
                                 const Caller& caller) -> Result<CarriedBlock> {
                                  TRY(policy::permit_export(caller.actor, opened.header.owner));
                                  return carried_from(document, opened);
                              });
}

void MemoryCalls::import_blocks(Caller by, MemoryImport what, Reply<MemoryImported> reply) {
    if (const auto may = policy::permit_import(by.actor); !may) return reply(Failure(may.error()));
    auto work = std::make_shared<Importing>(body_->kernel, body_->texts, std::move(by),
                                            std::move(what), std::move(reply));
    body_->kernel->parts().scheduler.post([work = std::move(work)] { work->run(); });
}

}  // namespace quire::kernel
