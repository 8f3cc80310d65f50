// undo.attach, undo and redo: undoes and redoes the edits of a document's own peer.
#include <array>

#include "base/concat.h"
#include "cli/driver/session.h"
#include "json/json.h"

namespace quire::cli {

Result<EngineUndo*> EngineDocuments::find_undo(const EngineRequest& request) {
    const std::string name = TRY(request.text("name"));
    const auto at = undos_.find(name);
    if (at == undos_.end()) {
        return fail(Errc::not_found, "no_such_undo",
                    cat("there is no undo history ", name, "; `undo.attach` makes one"));
    }
    return &at->second;
}

Result<void> EngineDocuments::attach_undo(const std::string& name, EngineDocument& document,
                                          crdt::UndoOptions options) {
    const bool is_new =
        undos_
            .try_emplace(name,
                         EngineUndo{document, crdt::UndoHistory(document.doc, std::move(options))})
            .second;
    if (!is_new) {
        return fail(Errc::conflict, "undo_exists",
                    cat("there is an undo history ", name, " already"));
    }
    return {};
}

void EngineDocuments::tell_undo(EngineDocument& document, const crdt::Commit& commit) {
    for (auto& [name, undo] : undos_) {
        if (&undo.document == &document) undo.history.committed(commit, clock_.steady_ms());
    }
}

namespace {

using crdt::UndoDirection;

Result<std::vector<std::string>> origins_of(const EngineRequest& request) {
    std::vector<std::string> origins;
    if (!request.has("exclude_origins")) return origins;
    const Value list = TRY(request.value("exclude_origins"));
    const auto wrong = [] {
        return invalid("invalid_argument", "`exclude_origins` must be an array of strings");
    };
    if (!list.is_list()) return wrong();
    for (const Value& origin : list.as_list()) {
        if (!origin.is_string()) return wrong();
        origins.push_back(origin.as_string());
    }
    return origins;
}

Result<Value> attach_history(EngineDocuments& documents, const EngineRequest& request) {
    EngineDocument* document = TRY(documents.find_whole(request));
    const std::string name = TRY(request.text("name"));
    crdt::UndoOptions options;
    if (request.has("merge_interval_ms")) {
        options.merge_interval_ms =
            static_cast<std::int64_t>(TRY(request.size("merge_interval_ms")));
    }
    if (request.has("max_steps")) options.max_steps = TRY(request.size("max_steps"));
    options.exclude_origins = TRY(origins_of(request));
    TRY(documents.attach_undo(name, *document, std::move(options)));
    return Value(true);
}

template <UndoDirection direction>
Result<Value> undo_step(EngineDocuments& documents, const EngineRequest& request) {
    EngineUndo* undo = TRY(documents.find_undo(request));
    documents.settle(undo->document);
    const std::int64_t now = documents.now_ms();
    const bool changed =
        direction == UndoDirection::undo ? undo->history.undo(now) : undo->history.redo(now);
    if (changed) documents.tell_undo(undo->document, undo->history.last_commit());
    return Value(changed);
}

template <UndoDirection direction>
Result<Value> can_step(EngineDocuments& documents, const EngineRequest& request) {
    const EngineUndo* undo = TRY(documents.find_undo(request));
    return Value(direction == UndoDirection::undo ? undo->history.can_undo()
                                                  : undo->history.can_redo());
}

constexpr std::array kUndoOps = {
    EngineOp{"undo.attach", attach_history},
    EngineOp{"undo", undo_step<UndoDirection::undo>},
    EngineOp{"redo", undo_step<UndoDirection::redo>},
    EngineOp{"can_undo", can_step<UndoDirection::undo>},
    EngineOp{"can_redo", can_step<UndoDirection::redo>},
};

}  // namespace

std::span<const EngineOp> engine_undo_ops() {
    return kUndoOps;
}

}  // namespace quire::cli
