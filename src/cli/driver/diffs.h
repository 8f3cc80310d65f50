// Diffs and events as JSON (the engine's contract has the shapes); text counts code points.
//
// An item that is a container is {"$container": ID} in both directions: what the container holds
// has an entry of its own in the diff.
#pragma once

#include "base/result.h"
#include "crdt/doc/events.h"
#include "crdt/ids/diff.h"

namespace quire::cli {

// [{cid, diff}], with `path` in events.
Value to_json(const crdt::Diff& diff);
// {by, origin, message, from, to, diffs}. `by` is local, import or checkout; `message` is null when
// the commit has none.
Value to_json(const crdt::Event& event);
// Reads [{cid, diff}]. Errors: invalid_argument, which says what is wrong.
Result<crdt::Diff> diff_from(const Value& json);

}  // namespace quire::cli
