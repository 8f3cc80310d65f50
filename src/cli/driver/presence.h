// The presence stores of a session, by name.
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
    // Errors: conflict "store_exists".
    Result<void> add(const std::string& name, std::int64_t timeout_ms);
    // The store that the request names. Errors: invalid_argument; not_found "no_such_store".
    Result<crdt::Presence*> find(const Map& request);
    void drop(const std::string& name) { stores_.erase(name); }

private:
    std::map<std::string, crdt::Presence> stores_;
};

}  // namespace quire::cli
