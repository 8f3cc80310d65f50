// A limit and a helper that the tests of file systems share.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace quire::fs {

// The largest file that the tests read.
constexpr std::size_t kLimit = 1 << 20;

// The reason of a failure, or "ok".
template <class T>
std::string reason(const Result<T>& result) {
    return result ? "ok" : result.error().reason();
}

}  // namespace quire::fs
