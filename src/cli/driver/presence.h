// The presence stores of a session, by name.
//
// A store belongs to no document: it holds what peers show of themselves, such as a cursor, until
// the entry times out.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"
#include "base/value.h"
#include "crdt/state/presence.h"

namespace quire::cli {

class EngineStores {
public:
    // Adds an empty store whose entries time out after `timeout_ms`. Errors: conflict
    // "store_exists".
    Result<void> add(const std::string& name, std::int64_t timeout_ms);
    // The store that the request names, valid until it is dropped. Errors: invalid_argument;
    // not_found "no_such_store".
    Result<crdt::Presence*> find(const Map& request);
    void drop(const std::string& name) { stores_.erase(name); }

private:
    std::map<std::string, crdt::Presence> stores_;
};

}  // namespace quire::cli
