// Touched: a call's effect as a value, until a door or the log writes it down.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace quire::kernel {

// The block that a call changed or made.
struct Touched {
    std::string block_id = {};  // "" for none.
    std::optional<std::int64_t> version = {};
    std::string path = {};      // Set for a file.
    std::string label = {};     // Set for a memory block.
};

}  // namespace quire::kernel
