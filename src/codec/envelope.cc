// The checksum guards against accidents. Whatever passes it may still be made by an attacker, so
// that everything behind it is checked as well.
//
// The checksum is looked at before the mode, so that a damaged blob is called damaged and not
// unsupported.
#include "codec/envelope.h"

#define XXH_STATIC_LINKING_ONLY
#include <algorithm>
#include <array>
#include <string_view>

#include <xxhash.h>

#include "base/check.h"

namespace quire::codec {
namespace {

constexpr std::string_view kMagic = "loro";
constexpr std::uint32_t kSeed = 0x4F524F4C;
constexpr std::size_t kChecksumAt = 16;
constexpr std::size_t kModeAt = 20;
// All fields after the magic are filled in when the blob is sealed.
constexpr auto kUnsealed = [] {
    std::array<std::uint8_t, kEnvelopeSize> bytes{};
    std::copy(kMagic.begin(), kMagic.end(), bytes.begin());
    return bytes;
}();

}  // namespace

std::uint32_t envelope_checksum(std::span<const std::uint8_t> covered) {
    return XXH32(covered.data(), covered.size(), kSeed);
}

Result<Envelope> open_envelope(std::span<const std::uint8_t> blob) {
    ByteReader reader(blob);
    if (as_text(reader.take(kMagic.size(), "envelope (shorter than its magic)")) != kMagic) {
        return corrupt("not a Loro blob: it does not begin with \"loro\"");
    }
    reader.take(kChecksumAt - kMagic.size(), "envelope");
    const std::uint32_t checksum = reader.u32_le("checksum");
    const std::uint16_t mode = reader.u16_be("mode");
    if (!reader.ok()) return reader.error();
    if (envelope_checksum(blob.subspan(kModeAt)) != checksum) {
        return corrupt("the checksum does not match: the blob was damaged or cut");
    }
    if (mode != static_cast<std::uint16_t>(Mode::snapshot) &&
        mode != static_cast<std::uint16_t>(Mode::updates)) {
        return fail(Errc::unsupported, "unsupported_mode",
                    cat("Loro encoding mode ", mode, " is not one we read"));
    }
    return Envelope{static_cast<Mode>(mode),
                    ByteReader(blob.subspan(kEnvelopeSize), kEnvelopeSize)};
}

void begin_envelope(ByteWriter& out) {
    CHECK(out.empty());
    out.append(kUnsealed);
}

void seal_envelope(ByteWriter& out, Mode mode) {
    CHECK(out.size() >= kEnvelopeSize);
    const auto number = static_cast<std::uint16_t>(mode);
    out[kModeAt] = static_cast<std::uint8_t>(number >> 8);
    out[kModeAt + 1] = static_cast<std::uint8_t>(number);
    const std::uint32_t checksum = envelope_checksum(out.bytes().subspan(kModeAt));
    // The checksum is put in byte by byte, because the writer only appends numbers.
    for (std::size_t i = 0; i < 4; ++i)
        out[kChecksumAt + i] = static_cast<std::uint8_t>(checksum >> (8 * i));
}

}  // namespace quire::codec
