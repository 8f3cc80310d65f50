// The life of a step: see() keeps a block as it stands before a change, record() captures what a
// version made of it, finish() hands the steps of the transaction to BlockFeed once they are
// stored. A transaction that the store refuses is told to nobody. A rope's copy is O(1); the text
// of memory is drawn for each version, O(block).
#include "kernel/core/document_feed.h"

#include <utility>

#include "codec/updates.h"
#include "conversation/conversation.h"
#include "crdt/doc/history.h"
#include "crdt/doc/inspection.h"
#include "crdt/doc/text.h"
#include "kernel/core/block_feed.h"
#include "kernel/core/describe.h"
#include "kernel/core/kinds.h"
#include "kernel/core/oversight.h"

namespace quire::kernel {

namespace {

// The root container that a container is in, directly or in others; itself where nothing holds it.
crdt::ContainerId root_of(const crdt::Doc& doc, crdt::ContainerId id) {
    while (auto parent = crdt::Inspection(doc).parent_of(id)) id = *std::move(parent);
    return id;
}

}  // namespace

// Changes in several fields of one section leave the section; those in several sections leave
// nothing.
memory::FieldPath place_of_change(const crdt::Doc& doc, const crdt::Diff& diff) {
    std::optional<memory::FieldPath> out;
    const auto add = [&](memory::FieldPath place) {
        if (!out) {
            out = std::move(place);
        } else if (*out != place) {
            if (out->section != place.section) out->section.clear();
            out->field.clear();
        }
    };
    for (const crdt::ContainerDiff& each : diff) {
        if (crdt::is_empty(each.delta)) continue;
        const crdt::ContainerId root = root_of(doc, each.container);
        if (!root.is_root()) continue;
        const std::optional<memory::Place> place = memory::place_of(root.root_name());
        if (!place) continue;
        const auto* const fields = std::get_if<crdt::MapDelta>(&each.delta);
        // The members of an item are no fields of the block.
        if (fields == nullptr || !each.container.is_root() || place->part != memory::Part::root) {
            add({place->section, place->field});
            continue;
        }
        for (const crdt::MapChange& change : *fields) add({place->section, change.key});
    }
    return out.value_or(memory::FieldPath());
}

Result<Bytes> updates_between(const crdt::Doc& doc, const crdt::Frontiers& from,
                              const crdt::Frontiers& to) {
    const auto spans = TRY(doc.history().spans_between(from, to)).forward;
    if (spans.empty()) return Bytes();
    return codec::encode_updates(doc.changes_in(spans));
}

void name_document(BlockEvent& event, const store::DocumentRecord& record) {
    if (is_file_text(record.kind)) event.path = record.name;
    if (record.kind != kMemoryKind) return;
    event.label = record.name;
    event.owner = record.owner;
}

bool is_creation(const Unit& unit, bool is_first) {
    return unit.kind == UnitKind::create || (is_first && unit.kind == UnitKind::take_back);
}

void DocumentFeed::see(const BlockRef& block) {
    if (seen_.contains(block.state->key)) return;
    seen_.emplace(block.state->key, facts_of(block, nullptr));
}

void DocumentFeed::begin() {
    heads_ = document_.doc().frontiers();
    label_ = document_.name();
    // A call finds a conversation's block by its id, which is when it is seen. A document that is
    // one block is not looked up, so it is seen here.
    if (document_.conversation() == nullptr) see(document_.whole());
}

BlockFacts DocumentFeed::facts_of(const BlockRef& block, Map* metadata) const {
    BlockFacts facts;
    facts.is_deleted = block.fields != nullptr ? block.fields->deleted : document_.record().deleted;
    if (block.fields != nullptr) {
        facts.status = block.fields->status();
        if (metadata != nullptr) *metadata = block.fields->metadata;
    }
    if (document_.kind() != kMemoryKind) {
        facts.text = document_.doc().text(block.content).rope();
    } else if (!document_.record().header.empty()) {
        Result<ShownMemory> shown = feed_.oversight().shown_memory(document_, nullptr);
        if (!shown) return facts;
        facts.text = seq::Rope(shown->text);
        if (metadata != nullptr) *metadata = std::move(shown->metadata);
    }
    return facts;
}

BlockStep DocumentFeed::step_to(const BlockRef& block, const std::string& actor,
                                std::uint64_t calls) const {
    BlockStep step;
    step.event.block_id = document_.id_of(block).str();
    step.event.version = block.state->version;
    step.event.version_before = block.state->version - calls;
    step.event.actor = actor;
    if (const auto seen = seen_.find(block.state->key); seen != seen_.end())
        step.before = seen->second;
    step.after = facts_of(block, &step.metadata);
    if (block.fields != nullptr) step.marks = block.fields->marks;
    return step;
}

void DocumentFeed::record(const BlockRef& block, const Unit& unit, std::uint64_t calls) {
    const std::vector<Unit>& units = block.state->history.units();
    Captured captured{step_to(block, unit.actor, calls), std::string(block.state->key),
                      document_.record().header};
    BlockStep& step = captured.step;
    step.is_new = is_creation(unit, units.empty());

    const crdt::Frontiers now = document_.doc().frontiers();
    if (document_.kind() == kMemoryKind && document_.doc().history().load()) {
        if (const Result<crdt::Diff> diff = document_.doc().history().diff(heads_, now)) {
            memory::FieldPath place = place_of_change(document_.doc(), *diff);
            step.event.section = std::move(place.section);
            step.event.field = std::move(place.field);
        }
    }
    // Only committed operations can be encoded. They begin at the block's version before, and not
    // where this transaction began: a reader of this block alone also needs what other blocks'
    // versions brought in between.
    if (feed_.wants_updates() && document_.doc().pending().size() == 0) {
        const bool is_after_unit = !step.is_new && !units.empty() && units.back().heads;
        if (Result<Bytes> updates =
                updates_between(document_.doc(), is_after_unit ? *units.back().heads : heads_, now))
            step.event.updates = std::move(*updates);
    }
    heads_ = now;
    seen_[captured.key] = step.after;
    captured_.push_back(std::move(captured));
}

void DocumentFeed::arrived() {
    const BlockRef block = document_.whole();
    const std::vector<Unit>& units = block.state->history.units();
    if (units.empty()) return;
    label_ = document_.name();
    Captured captured{step_to(block, units.back().actor, block.state->version),
                      std::string(block.state->key), document_.record().header};
    captured.step.is_new = true;
    if (feed_.wants_updates()) {
        if (Result<Bytes> updates =
                updates_between(document_.doc(), {}, document_.doc().frontiers()))
            captured.step.event.updates = std::move(*updates);
    }
    captured_.push_back(std::move(captured));
    feed_.publish(take_captured());
}

void DocumentFeed::finish() {
    if (captured_.empty()) return;
    document_.transaction().on_stored(
        [feed = feed_.shared_from_this(), steps = take_captured()](Result<void>& stored) mutable {
            if (stored) feed->publish(std::move(steps));
        });
}

// A call may change the document's record after it has recorded its version.
std::vector<BlockStep> DocumentFeed::take_captured() {
    const auto record = std::make_shared<const store::DocumentRecord>(document_.record());
    if (document_.conversation() == nullptr) {
        Captured& last = captured_.back();
        if (document_.kind() == kMemoryKind && last.header != record->header)
            last.step.after = facts_of(document_.whole(), &last.step.metadata);
        last.step.after.is_deleted = record->deleted;
        seen_[last.key] = last.step.after;
    }
    std::vector<BlockStep> steps;
    for (Captured& each : captured_) {
        BlockStep& step = each.step;
        step.event.record = record;
        name_document(step.event, *record);
        if (!step.event.label.empty() && label_ != step.event.label)
            step.event.label_before = label_;
        // Only an event `created` shows the block's row, so only such a step pays for it.
        const bool is_shown = step.is_new || (step.before.is_deleted && !step.after.is_deleted);
        if (is_shown) {
            const Result<BlockRef> block =
                document_.find(conversation::BlockId::parse(step.event.block_id).value(), true);
            if (block) {
                step.block = info_of(document_, *block, step.after.text, feed_.gate());
                step.block.version = step.event.version;
            }
        }
        steps.push_back(std::move(step));
    }
    captured_.clear();
    label_ = record->name;
    return steps;
}

}  // namespace quire::kernel
