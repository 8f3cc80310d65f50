// A peer may send any bytes: updates that can be read are written and read back unchanged; any
// other bytes are refused as corrupt or unsupported. The checksum is made to fit first, so that
// mutations reach the blocks.
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/check.h"
#include "codec/envelope.h"
#include "codec/updates.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    quire::Bytes blob(data, data + size);
    if (size >= quire::codec::kEnvelopeSize) {
        const std::uint32_t checksum = quire::codec::envelope_checksum(std::span(blob).subspan(20));
        for (std::size_t i = 0; i < 4; ++i)
            blob[16 + i] = static_cast<std::uint8_t>(checksum >> (8 * i));
    }
    const auto changes = quire::codec::decode_updates(blob);
    if (!changes) {
        const quire::Errc code = changes.error().code();
        CHECK(code == quire::Errc::corrupt || code == quire::Errc::unsupported);
        return 0;
    }
    const quire::Bytes written = quire::codec::encode_updates(*changes);
    const auto again = quire::codec::decode_updates(written);
    // Written, a blob may be smaller than what it was read from, and with it what it may allocate.
    if (!again && written.size() < size) return 0;
    CHECK(again && quire::codec::encode_updates(*again) == written);
    return 0;
}
