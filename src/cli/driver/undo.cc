// undo.attach, undo and redo: undoes and redoes the edits of a document's own peer.
//
// A session may hold several histories of one document. Each commit is told to all of them, those
// of undo steps included, because a commit that a history misses counts as another actor's.
#include "cli/driver/undo.h"

#include <array>

#include "base/concat.h"
#include "cli/driver/operation.h"

namespace quire::cli {

Result<void> EngineDocuments::attach_undo(const std::string& name, EngineDocument& document,
                                          crdt::UndoOptions options) {
    // A name that was free has null here, which the assignment below replaces; nothing fails in
    // between.
    std::unique_ptr<EngineUndo>& undo = undos_[name];
    if (undo != nullptr) {
        return fail(Errc::conflict, "undo_exists",
                    cat("there is an undo history ", name, " already"));
    }
    undo.reset(new EngineUndo{document, crdt::UndoHistory(document.doc, std::move(options))});
    return {};
}

void EngineDocuments::tell_undo(EngineDocument& document, const crdt::Commit& commit) {
    for (auto& [name, undo] : undos_) {
        if (&undo->document == &document) undo->history.committed(commit, clock_.steady_ms());
    }
}

namespace {

using crdt::UndoDirection;

Result<void> attach_history(EngineDocuments& documents, WholeDocument document,
                            const std::string& name, std::optional<std::size_t> merge_interval_ms,
                            std::optional<std::size_t> max_steps,
                            std::optional<std::vector<std::string>> exclude_origins) {
    crdt::UndoOptions options;
    if (merge_interval_ms)
        options.merge_interval_ms = static_cast<std::int64_t>(*merge_interval_ms);
    if (max_steps) options.max_steps = *max_steps;
    if (exclude_origins) options.exclude_origins = std::move(*exclude_origins);
    return documents.attach_undo(name, *document, std::move(options));
}

// The answer is whether a step was taken, not whether the document changed: a step whose effect
// others have removed already is consumed without a commit.
template <UndoDirection direction>
Result<bool> undo_step(EngineDocuments& documents, EngineUndo& undo) {
    documents.settle(undo.document);
    const std::int64_t now = documents.now_ms();
    crdt::UndoHistory& history = undo.history;
    constexpr bool kUndoes = direction == UndoDirection::undo;
    const std::size_t before = kUndoes ? history.undo_count() : history.redo_count();
    if (kUndoes ? history.undo(now) : history.redo(now))
        documents.tell_undo(undo.document, history.last_commit());
    // A step that had nothing left to change was taken, too.
    return (kUndoes ? history.undo_count() : history.redo_count()) < before;
}

template <UndoDirection direction>
Result<bool> can_step(EngineUndo& undo) {
    return direction == UndoDirection::undo ? undo.history.can_undo() : undo.history.can_redo();
}

constexpr std::array kUndoOps = {
    engine_op<attach_history>("undo.attach", "name", "merge_interval_ms", "max_steps",
                              "exclude_origins"),
    engine_op<undo_step<UndoDirection::undo>>("undo"),
    engine_op<undo_step<UndoDirection::redo>>("redo"),
    engine_op<can_step<UndoDirection::undo>>("can_undo"),
    engine_op<can_step<UndoDirection::redo>>("can_redo"),
};

}  // namespace

std::span<const EngineOp> engine_undo_ops() {
    return kUndoOps;
}

}  // namespace quire::cli
