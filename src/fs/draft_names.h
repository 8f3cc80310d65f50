// The names of files that are being written, before they take their final names. They stand in the
// folder of the file, and lists and watches leave them out. The incarnation tells a draft that is
// being written from one that a dead process left.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/concat.h"

namespace quire::fs {

// The beginning of all draft names of one process.
inline std::string draft_prefix(std::uint64_t incarnation) {
    return cat(".quire-", incarnation, "-");
}
// The name of one draft.
inline std::string draft_name(std::uint64_t incarnation, std::uint64_t number) {
    return cat(draft_prefix(incarnation), number, ".tmp");
}
// Returns true for a draft of any process.
inline bool is_draft(std::string_view name) {
    return name.starts_with(".quire-") && name.ends_with(".tmp");
}
// Returns true for a draft of this process.
inline bool is_draft_of(std::string_view name, std::uint64_t incarnation) {
    return is_draft(name) && name.starts_with(draft_prefix(incarnation));
}

}  // namespace quire::fs
