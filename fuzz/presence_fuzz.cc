// Any bytes may claim to be presence: what can be read is written and read back unchanged, and takes
// no more memory than its budget; anything else is refused as corrupt.
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "codec/budget.h"
#include "codec/presence.h"
#include "fuzz/memory_bound.h"

using namespace quire;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto entries = [&] {
        const fuzz::MemoryBound bound(codec::Budget(size).may_hold());
        return codec::decode_presence({data, size});
    }();
    if (!entries) {
        CHECK(entries.error().code() == Errc::corrupt);
        return 0;
    }
    const Bytes written = codec::encode_presence(*entries);
    const auto again = codec::decode_presence(written);
    CHECK(again && codec::encode_presence(*again) == written);
    return 0;
}
