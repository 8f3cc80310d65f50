// A document, its block and the undoing of one actor, tied together by commits. Every write ends in
// wrote(), which keeps its attribution and commits at once, unless a batch is open; the batch
// commits when it ends. So a change in history always has the message of the write that made it,
// and an undo takes back one write or one batch.

#include "memory/memory_document.h"

#include <map>

#include "crdt/doc/events.h"
#include "crdt/doc/inspection.h"

namespace quire::memory {

MemoryDocument::MemoryDocument(crdt::Doc& doc, MemoryBlock block, Writer accessor,
                               const Clock& clock)
    : doc_(doc),
      block_(std::move(block)),
      accessor_(std::move(accessor)),
      clock_(clock),
      history_(doc, {.merge_interval_ms = 0}) {}

MemoryEdit MemoryDocument::edit(Writer by) {
    return {doc_, block_, std::move(by), clock_.wall_ms(), this};
}

void MemoryDocument::wrote(const policy::Attribution& what) {
    pending_ = policy::message_of(what);
    if (!batching_) commit();
}

// A batch inside of a batch does nothing, and its writes belong to the outer one. What was pending
// before is committed first, under its own message.
MemoryDocument::Batch MemoryDocument::batch(const policy::Actor& actor, std::string_view what) {
    if (batching_) return Batch(nullptr);
    commit();
    batching_ = true;
    set_attribution(policy::message_of({actor, std::string(what), ""}));
    return Batch(this);
}

MemoryDocument::Batch::~Batch() {
    if (document_ == nullptr) return;
    document_->batching_ = false;
    document_->commit();
    document_->attribution_.reset();
}

void MemoryDocument::auto_attribution(std::string_view what) {
    const std::size_t colon = what.find(':');
    const std::string_view detail =
        colon == std::string_view::npos ? std::string_view() : what.substr(colon + 1);
    set_attribution(policy::message_of(
        {accessor_.actor, std::string(what.substr(0, colon)), std::string(detail)}));
}

// An empty transaction keeps the attribution for the next one.
crdt::Commit MemoryDocument::commit() {
    if (doc_.pending().empty()) return {};
    crdt::CommitOptions options;
    options.message = attribution_.value_or(pending_);
    options.timestamp = clock_.wall_ms() / 1000;
    crdt::Commit commit = doc_.commit(std::move(options));
    attribution_.reset();
    history_.committed(commit, clock_.steady_ms());
    return commit;
}

crdt::Commit MemoryDocument::commit_with_attribution(std::string message) {
    set_attribution(std::move(message));
    return commit();
}

crdt::Subscription MemoryDocument::subscribe_root(crdt::OnEvent callback) {
    return crdt::subscribe_root(doc_, std::move(callback));
}

crdt::Subscription MemoryDocument::subscribe(const crdt::ContainerId& container,
                                             crdt::OnEvent callback) {
    return crdt::subscribe(doc_, doc_.open(container), std::move(callback));
}

// Translates the events of containers into those of sections.
crdt::Subscription MemoryDocument::subscribe_content(OnContent callback) {
    return crdt::subscribe_root(
        doc_, [&doc = doc_, callback = std::move(callback)](const crdt::Event& event) mutable {
            std::map<std::string, ContentEvent> by_section;
            for (const crdt::ContainerDiff& each : event.diffs) {
                // A list's item is a container below the section's root.
                crdt::ContainerId root = each.container;
                while (!root.is_root()) {
                    const auto parent = crdt::Inspection(doc).parent_of(root);
                    if (!parent) break;
                    root = *parent;
                }
                const auto place = root.is_root() ? place_of(root.root_name()) : std::nullopt;
                if (place) by_section[place->section].diffs.push_back(each);
            }
            for (auto& [section, content] : by_section) {
                content.section = section;
                content.by = policy::parse_message(event.message);
                content.origin = event.by;
                callback(content);
            }
        });
}

// Undo is a write like any other, so it passes the gate first. The history commits by itself, so
// the message is given to it by a subscription that lives as long as the step.
Result<bool> MemoryDocument::step(crdt::UndoDirection direction) {
    TRY(policy::permit(accessor_.rights, policy::Operation::overwrite));
    commit();
    const bool undoes = direction == crdt::UndoDirection::undo;
    const std::string message = policy::message_of({accessor_.actor, undoes ? "undo" : "redo", ""});
    const crdt::Subscription attributed =
        crdt::subscribe_pre_commit(doc_, [&](crdt::PreCommit& commit) {
            commit.message = message;
            commit.timestamp = clock_.wall_ms() / 1000;
        });
    return undoes ? history_.undo(clock_.steady_ms()) : history_.redo(clock_.steady_ms());
}

}  // namespace quire::memory
