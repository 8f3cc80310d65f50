// A peer may send any bytes: a snapshot that can be read is written and reads back the same; any
// other is refused as corrupt or unsupported. The checksums of the envelope and of all tables are
// made to fit first, so that mutations reach blocks, frames and states.
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "codec/snapshot_reseal_for_test.h"
#include "codec/snapshot_rewrite_for_test.h"

using namespace quire;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Bytes blob(data, data + size);
    codec::reseal_snapshot(blob);
    const auto written = codec::rewritten(blob, codec::Compression::lz4);
    if (!written) {
        const Errc code = written.error().code();
        CHECK(code == Errc::corrupt || code == Errc::unsupported || code == Errc::out_of_range);
        return 0;
    }
    const auto again = codec::rewritten(*written, codec::Compression::lz4);
    // Written, a blob may be smaller than what it was read from, and with it what it may allocate.
    if (!again && written->size() < size) return 0;
    CHECK(again && *again == *written);
    return 0;
}
