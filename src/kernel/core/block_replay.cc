// A block's history names the heads of its document after each version. The text at the first of them
// is looked up once; from there the differences between neighbouring versions are applied to it. What
// each version is told as is decided from the two texts, as it was when it was new.
#include "kernel/core/block_replay.h"

#include <optional>
#include <utility>

#include "conversation/conversation.h"
#include "crdt/doc/history.h"
#include "crdt/doc/text.h"
#include "kernel/core/core.h"
#include "kernel/core/describe.h"
#include "kernel/core/document_feed.h"
#include "kernel/core/kinds.h"
#include "kernel/core/versions.h"

namespace quire::kernel {
namespace {

std::shared_ptr<const store::DocumentRecord> record_of(const LiveDocument& document) {
    return std::make_shared<const store::DocumentRecord>(document.record());
}

// A walk through a block's history.
class Replay {
public:
    Replay(Core& core, LiveDocument& document, const BlockRef& block, bool with_updates)
        : core_(core),
          document_(document),
          block_(block),
          units_(block.state->history.units()),
          with_updates_(with_updates),
          record_(record_of(document)) {}

    // The entries from `first` on. Nothing where that cannot be told, or is too much. Costs one
    // difference of versions for each entry, and for memory one drawing of the block.
    Result<std::optional<std::vector<BlockEvent>>> from(std::size_t first) {
        TRY(document_.doc().history().load());
        if (units_.size() - first > kMostReplayed) return std::optional<std::vector<BlockEvent>>();
        // Before its first entry the block is empty, and so is the version that the first
        // difference starts from: `heads_` and `facts_` stay as they are.
        if (first > 0) {
            if (!units_[first - 1].heads) return std::optional<std::vector<BlockEvent>>();
            heads_ = *units_[first - 1].heads;
            TRY(begin_at(first - 1));
        }
        std::vector<BlockEvent> out;
        std::size_t bytes = 0;
        for (std::size_t i = first; i < units_.size(); ++i) {
            if (!units_[i].heads) return std::optional<std::vector<BlockEvent>>();
            out.push_back(project(TRY(step_to(i))));
            bytes += bytes_of(out.back());
            if (bytes > kMostReplayedBytes) return std::optional<std::vector<BlockEvent>>();
        }
        return std::optional(std::move(out));
    }

private:
    bool is_memory() const { return document_.kind() == kMemoryKind; }
    BlockAt at(std::size_t unit) const {
        return {units_[unit].version, *units_[unit].heads, units_.size() - unit - 1};
    }

    Result<void> begin_at(std::size_t unit) {
        const BlockAt version = at(unit);
        facts_.text =
            seq::Rope(is_memory() ? TRY(core_.oversight().shown_memory(document_, &version)).text
                                  : TRY(text_at(document_, block_, version)));
        return {};
    }

    Result<BlockStep> step_to(std::size_t i) {
        const Unit& unit = units_[i];
        BlockStep step;
        step.event.block_id = document_.id_of(block_).str();
        step.event.version = unit.version;
        step.event.version_before = i > 0 ? units_[i - 1].version : 0;
        step.event.actor = unit.actor;
        step.event.record = record_;
        name_document(step.event, *record_);
        step.is_new = is_creation(unit, i == 0);
        step.before = facts_;
        const auto set_deleted = [&](bool before, bool after) {
            step.before.is_deleted = before;
            facts_.is_deleted = after;
        };
        if (block_.fields != nullptr) {
            step.metadata = block_.fields->metadata;
            step.marks = block_.fields->marks;
        }

        const crdt::Diff diff = TRY(document_.doc().history().diff(heads_, *unit.heads));
        for (const crdt::ContainerDiff& each : diff) take(each, step.before);
        if (is_memory()) {
            const BlockAt version = at(i);
            ShownMemory shown = TRY(core_.oversight().shown_memory(document_, &version));
            facts_.text = seq::Rope(shown.text);
            step.metadata = std::move(shown.metadata);
            memory::FieldPath place = place_of_change(document_.doc(), diff);
            step.event.section = std::move(place.section);
            step.event.field = std::move(place.field);
        }
        if (unit.record) {
            set_deleted(unit.record->before.deleted, unit.record->after.deleted);
        } else if (block_.fields == nullptr && unit.deletes_file()) {
            set_deleted(false, true);
        }
        step.after = facts_;
        step.block = info_of(document_, block_, facts_.text, core_.gate());
        step.block.version = unit.version;
        if (block_.fields != nullptr) step.block.status = facts_.status;
        if (with_updates_) {
            // All before a block's first version comes with that.
            step.event.updates = TRY(updates_between(
                document_.doc(), step.is_new ? crdt::Frontiers() : heads_, *unit.heads));
        }
        heads_ = *unit.heads;
        return step;
    }

    // A walk that begins late has not seen whether the block was deleted. A change tells: it sets
    // `before` too.
    void take(const crdt::ContainerDiff& each, BlockFacts& before) {
        const crdt::Doc& doc = document_.doc();
        if (const auto* text = std::get_if<crdt::TextDelta>(&each.delta)) {
            if (!is_memory() && each.container == doc.id_of(block_.content))
                apply_delta(facts_.text, *text);
            return;
        }
        const auto* const fields = std::get_if<crdt::MapDelta>(&each.delta);
        if (fields == nullptr || block_.fields == nullptr ||
            each.container != doc.id_of(block_.fields->fields))
            return;
        for (const crdt::MapChange& change : *fields) {
            const Value* const value = change.item ? std::get_if<Value>(&*change.item) : nullptr;
            if (change.key == "status" && value != nullptr && value->is_string())
                facts_.status = value->as_string();
            if (change.key == "deleted") {
                facts_.is_deleted = value != nullptr && *value == Value(true);
                before.is_deleted = !facts_.is_deleted;
            }
        }
    }

    Core& core_;
    LiveDocument& document_;
    const BlockRef& block_;
    const std::vector<Unit>& units_;
    const bool with_updates_;
    const std::shared_ptr<const store::DocumentRecord> record_;
    // The block at the entry before.
    crdt::Frontiers heads_;
    BlockFacts facts_;
};

}  // namespace

Result<BlockEvent> whole_block(Core& core, LiveDocument& document, const BlockRef& block,
                               const crdt::Frontiers* updates_from) {
    const std::vector<Unit>& units = block.state->history.units();
    BlockStep step;
    step.event.block_id = document.id_of(block).str();
    step.event.version = block.state->version;
    step.event.actor = units.empty() ? "system:unknown" : units.back().actor;
    step.event.record = record_of(document);
    name_document(step.event, document.record());
    step.is_new = true;
    if (document.kind() == kMemoryKind) {
        step.after.text = seq::Rope(TRY(core.oversight().shown_memory(document, nullptr)).text);
    } else {
        step.after.text = document.doc().text(block.content).rope();
    }
    if (updates_from != nullptr) {
        TRY(document.doc().history().load());
        step.event.updates =
            TRY(updates_between(document.doc(), *updates_from, document.doc().frontiers()));
    }
    step.block = info_of(document, block, step.after.text, core.gate());
    return project(std::move(step));
}

Result<std::vector<BlockEvent>> replay_since(Core& core, LiveDocument& document,
                                             const BlockRef& block, std::uint64_t seen,
                                             bool with_updates) {
    if (seen >= block.state->version) return std::vector<BlockEvent>();
    const std::vector<Unit>& units = block.state->history.units();
    std::size_t first = units.size();
    while (first > 0 && units[first - 1].version > seen) --first;
    // Several appends of one flush are one entry with the last of their versions. A caller that saw
    // a version between two entries cannot be replayed to, and gets the block whole.
    const bool is_known = first == 0 ? seen == 0 : units[first - 1].version == seen;
    if (is_known) {
        auto events = TRY(Replay(core, document, block, with_updates).from(first));
        if (events) return std::move(*events);
    }
    const crdt::Frontiers none;
    std::vector<BlockEvent> out;
    out.push_back(TRY(whole_block(core, document, block, with_updates ? &none : nullptr)));
    const bool is_gone =
        block.fields != nullptr ? block.fields->deleted : document.record().deleted;
    if (!is_gone) return out;
    BlockEvent& gone = out.front();
    gone.type = BlockEventType::deleted;
    gone.content.reset();
    gone.block.reset();
    return out;
}

}  // namespace quire::kernel
