// The shape of every custom mutator here: now and then the bytes as they are, else what they say.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/value.h"
#include "fuzz/mutate.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace quire::fuzz {

// `mutated(input, chance)` gives other bytes, or none when the input cannot be read. What does not
// fit is left as it is.
template <class Mutated>
std::size_t mutate_bytes(std::uint8_t* data, std::size_t size, std::size_t max_size,
                         std::uint32_t seed, Mutated mutated) {
    Chance chance(seed);
    if (!chance.one_in(5)) {
        const Bytes other = mutated(std::span<const std::uint8_t>(data, size), chance);
        if (!other.empty() && other.size() <= max_size) {
            std::memcpy(data, other.data(), other.size());
            return other.size();
        }
    }
    return LLVMFuzzerMutate(data, size, max_size);
}

}  // namespace quire::fuzz
