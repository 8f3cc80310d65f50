// EngineUndo: an undo history of the session, and the document that it belongs to.
#pragma once

#include "cli/driver/session.h"
#include "crdt/undo/undo_history.h"

namespace quire::cli {

// The document is one of the session's and outlives the history: dropping it removes this first.
struct EngineUndo {
    EngineDocument& document;
    crdt::UndoHistory history;
};

}  // namespace quire::cli
