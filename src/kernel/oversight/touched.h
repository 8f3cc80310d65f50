// Touched: a call's effect as a value, until a door or the log writes it down.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace quire::kernel {

// A block among several that a call changed, and the version that it made.
struct ChangedBlock {
    std::string block_id;
    std::uint64_t version = 0;
    std::string path = {};  // Set for a file.
};

// The block that a call changed or made.
// Filled by the door that ran the call, from its answer.
struct Touched {
    std::string block_id = {};  // "" for none.
    std::optional<std::int64_t> version = {};
    std::string path = {};               // Set for a file.
    std::string label = {};              // Set for a memory block.
    std::vector<ChangedBlock> all = {};  // Every changed block, if the call changed several.
};

}  // namespace quire::kernel
