// Keyed records in a map, for stores in memory.
#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "store/store.h"

namespace quire::store {

struct RecordOrder {
    bool operator()(const RecordKey& a, const RecordKey& b) const {
        return std::tie(a.table, a.owner, a.key) < std::tie(b.table, b.owner, b.key);
    }
};
using RecordMap = std::map<RecordKey, Bytes, RecordOrder>;

inline void keep_records(RecordMap& map, const std::vector<KeyedRecord>& records) {
    for (const KeyedRecord& each : records) {
        if (each.gone) {
            map.erase(each.key);
        } else {
            map.insert_or_assign(each.key, each.body);
        }
    }
}
inline std::vector<KeyedRecord> records_of(const RecordMap& map, Table table) {
    std::vector<KeyedRecord> out;
    for (const auto& [key, body] : map) {
        if (key.table == table) out.push_back({key, body});
    }
    return out;
}
inline std::optional<Bytes> record_at(const RecordMap& map, const RecordKey& key) {
    const auto at = map.find(key);
    return at == map.end() ? std::nullopt : std::optional(at->second);
}

inline DocumentMark mark_of(const StoredDocument& stored) {
    DocumentMark mark;
    for (const BlockRecord& block : stored.blocks) {
        ++mark.blocks;
        mark.versions += static_cast<std::int64_t>(block.version);
    }
    return mark;
}

}  // namespace quire::store
