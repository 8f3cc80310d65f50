// Snapshots that Loro wrote, from tests/data/snapshot (PROVENANCE.md there).
#pragma once

#include <fstream>
#include <iterator>
#include <string>

#include "base/concat.h"
#include "base/value.h"

namespace quire::codec {

inline constexpr const char* kSnapshotNames[] = {"empty",
                                                 "map",
                                                 "list",
                                                 "text",
                                                 "marks",
                                                 "movable_list",
                                                 "tree",
                                                 "counter",
                                                 "nested",
                                                 "several_peers",
                                                 "emptied",
                                                 "big_values",
                                                 "many_containers",
                                                 "many_changes",
                                                 "trimmed",
                                                 "trimmed_with_state",
                                                 "mergeable",
                                                 "unknown_container",
                                                 "1_10_8_nested",
                                                 "1_10_8_marks",
                                                 "1_10_8_tree",
                                                 "1_10_8_movable_list"};

inline std::string snapshot_file(const std::string& name) {
    std::ifstream file(cat(QUIRE_SOURCE_DIR, "/tests/data/snapshot/", name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

inline Bytes snapshot_golden(const std::string& name) {
    const std::string bytes = snapshot_file(name + ".bin");
    return {bytes.begin(), bytes.end()};
}

}  // namespace quire::codec
