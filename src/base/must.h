// must(): unwraps a Result that cannot fail here, because a document's own containers accept the
// call. CHECKs that it did not.
#pragma once

#include <utility>

#include "base/check.h"
#include "base/result.h"

namespace quire {

inline void must(const Result<void>& result) {
    CHECK(result.has_value());
}
template <class T>
T must(Result<T> result) {
    CHECK(result.has_value());
    return std::move(*result);
}

}  // namespace quire
