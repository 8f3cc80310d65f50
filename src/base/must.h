// must(): unwraps a Result that cannot fail here, because a document's own containers accept the
// call. CHECKs that it did not.
//
// It marks the places where a failure would be a fault of the program. Everything that a client, a
// file or the disk can cause goes through TRY or is looked at.
#pragma once

#include <utility>

#include "base/check.h"
#include "base/result.h"

namespace quire {

// For a call whose result is nothing but success.
inline void must(const Result<void>& result) {
    CHECK(result.has_value());
}
// The value. Never use it on a result that input from outside can make fail.
template <class T>
T must(Result<T> result) {
    CHECK(result.has_value());
    return std::move(*result);
}

}  // namespace quire
