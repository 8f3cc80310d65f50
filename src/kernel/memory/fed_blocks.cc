// A feed's block has two writers: the feed fills its values, and others may set its config. Each
// write by another is tried on a copy first, and only if the config would differ is the feed asked,
// so it is asked about no other write. A rejection comes before anything is changed. What the feed
// writes itself goes through the gate like any write, under the source's name.

#include "kernel/memory/fed_blocks.h"

#include <algorithm>
#include <utility>

#include "base/concat.h"
#include "kernel/memory/memory_body.h"
#include "memory/feed.h"
#include "memory/memory_edit.h"

namespace quire::kernel {
namespace {

using memory::ConfigAnswer;

policy::Actor actor_of(const memory::Feed& feed) {
    return {policy::ActorKind::source, feed.name()};
}

// Returns null if the block has no such section.
Value config_of(crdt::Doc& doc, const MemoryHeader& header) {
    Result<Value> config =
        memory::MemoryReader(doc, header.block.schema).value(memory::kConfigSection);
    return config ? std::move(*config) : Value();
}

// A copy in which a revert takes back what it would take back in the document itself. A fork knows
// nothing of the operations that stand in for undone ones, so they are told to it.
Result<crdt::Doc> draft_of(LiveDocument& document) {
    crdt::Doc draft = document.doc().fork(document.doc().peer());
    std::vector<crdt::StandIn> stand_ins;
    for (const Unit& unit : document.whole().state->history.units())
        stand_ins.insert(stand_ins.end(), unit.stand_ins.begin(), unit.stand_ins.end());
    TRY(crdt::recall(draft, stand_ins));
    return draft;
}

}  // namespace

memory::Feed* FedBlocks::feed_of(const MemoryHeader& header) const {
    const auto found = std::find_if(feeds_.begin(), feeds_.end(), [&](memory::Feed* feed) {
        return feed->block().label == header.block.label && actor_of(*feed) == header.owner;
    });
    return found == feeds_.end() ? nullptr : *found;
}

Result<SourceVerdict> FedBlocks::judge(LiveDocument& document, const MemoryHeader& header,
                                       const policy::Actor& by, Change change) const {
    SourceVerdict verdict;
    memory::Feed* const feed = feed_of(header);
    if (feed == nullptr || by == actor_of(*feed)) return verdict;
    crdt::Doc draft = TRY(draft_of(document));
    TRY(change(draft));
    const Value wanted = config_of(draft, header);
    if (wanted == config_of(document.doc(), header)) return verdict;
    ConfigAnswer answer = feed->judge(wanted);
    if (answer.kind == ConfigAnswer::Kind::rejected) {
        std::string message = cat("the source '", feed->name(), "' rejects it: ", answer.message,
                                  ". Set it to ", answer.allowed);
        return invalid("source_rejected", std::move(message),
                       {{"source", feed->name()},
                        {"field", std::move(answer.field)},
                        {"value", std::move(answer.value)},
                        {"allowed", std::move(answer.allowed)}});
    }
    verdict.answer_ =
        SourceAnswer{feed->name(), std::string(name_of(answer.kind)), std::move(answer.message)};
    return verdict;
}

Result<void> FedBlocks::check_owned(const MemoryHeader& header, const policy::Actor& by,
                                    std::string_view what) const {
    const memory::Feed* const feed = feed_of(header);
    if (feed == nullptr || by == actor_of(*feed)) return {};
    return fail(Errc::denied, "source_owned",
                cat("Permission denied: '", header.block.label, "' is fed by the source '",
                    feed->name(), "', and nobody else may ", what,
                    " it. Its section config is yours to set; a person ends the source in "
                    "quire.toml"),
                {{"source", feed->name()}});
}

// The feed's reaction to a new config is part of the transaction that made it, so no reader sees
// one without the other.
MemoryVersion FedBlocks::settle(LiveDocument& document, const MemoryHeader& header,
                                const SourceVerdict& verdict, std::int64_t now_ms) const {
    MemoryVersion version = version_of_memory(document);
    if (!verdict.answer()) return version;
    version.source = verdict.answer();
    feed_of(header)->attend(config_of(document.doc(), header));
    feed(document, header, now_ms);
    return version;
}

void FedBlocks::attend(LiveDocument& document, const MemoryHeader& header) const {
    memory::Feed* const feed = feed_of(header);
    if (feed != nullptr) feed->attend(config_of(document.doc(), header));
}

bool FedBlocks::feed(LiveDocument& document, const MemoryHeader& header,
                     std::int64_t now_ms) const {
    memory::Feed* const feed = feed_of(header);
    if (feed == nullptr) return false;
    const policy::Actor by = actor_of(*feed);
    Value fed = feed->feed(config_of(document.doc(), header));
    document.begin(by);
    memory::MemoryEdit edit(document.doc(), header.block,
                            {by, {.permission = policy::Permission::admin}}, now_ms);
    for (Map::Entry& section : fed.as_map()) {
        for (Map::Entry& field : section.value.as_map()) {
            const memory::FieldPath path{section.key, field.key};
            const auto now = edit.reader().field(path);
            // A block that was given its shape by another version may have no place for it.
            if (now && *now != field.value)
                static_cast<void>(edit.set_field(path, std::move(field.value)));
        }
    }
    return record_memory_write(document, {by, "update", ""}, SourceVerdict());
}

}  // namespace quire::kernel
