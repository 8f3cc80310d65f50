// The state of a loaded file as bytes, for the header of its document. The format is versioned by
// its first byte; unknown formats and flags are refused, so that an older program never misreads a
// newer state.

#include "files/disk_state.h"

#include "base/bytes.h"

namespace quire::files {
namespace {

// The second format has the charset after the flags; the first means UTF-8.
constexpr std::uint8_t kFormat = 1;
constexpr std::uint8_t kWithCharset = 2;
constexpr std::uint8_t kWithBom = 1;
constexpr std::uint8_t kMissing = 2;
constexpr std::uint8_t kSettled = 4;
constexpr std::uint8_t kConflict = 8;
constexpr std::uint8_t kVanished = 16;

}  // namespace

// Little-endian: format, flags, charset unless it is UTF-8, hash, stamp, and to the end peer u64 with its count u32.
Bytes DiskState::encode() const {
    ByteWriter out;
    const bool is_utf8 = form.charset == text::Charset::utf_8;
    out.byte(is_utf8 ? kFormat : kWithCharset);
    out.byte(static_cast<std::uint8_t>((form.bom ? kWithBom : 0) | (missing ? kMissing : 0) |
                                       (stamp.settled ? kSettled : 0) | (conflict ? kConflict : 0) |
                                       (vanished ? kVanished : 0)));
    if (!is_utf8) out.byte(static_cast<std::uint8_t>(form.charset));
    for (const std::uint64_t number : {hash.high, hash.low, stamp.device, stamp.inode, stamp.size,
                                       static_cast<std::uint64_t>(stamp.modified_ns),
                                       static_cast<std::uint64_t>(stamp.changed_ns)}) {
        out.u64_le(number);
    }
    for (const auto& [peer, count] : version) {
        out.u64_le(peer);
        out.u32_le(static_cast<std::uint32_t>(count));
    }
    return std::move(out).take();
}

// Refuses anything that encode() cannot have written.
Result<DiskState> DiskState::decode(const Bytes& bytes) {
    ByteReader in(bytes);
    const std::uint8_t format = in.byte("format");
    if (format != kFormat && format != kWithCharset) in.fail("format");
    const std::uint8_t flags = in.byte("flags");
    DiskState state;
    if (format == kWithCharset) {
        const std::uint8_t charset = in.byte("charset");
        if (charset < kEvery<text::Charset>.size()) {
            state.form.charset = static_cast<text::Charset>(charset);
        } else {
            in.fail("charset");
        }
    }
    state.hash.high = in.u64_le("hash");
    state.hash.low = in.u64_le("hash");
    state.stamp.device = in.u64_le("stamp");
    state.stamp.inode = in.u64_le("stamp");
    state.stamp.size = in.u64_le("stamp");
    state.stamp.modified_ns = static_cast<std::int64_t>(in.u64_le("stamp"));
    state.stamp.changed_ns = static_cast<std::int64_t>(in.u64_le("stamp"));
    state.stamp.settled = (flags & kSettled) != 0;
    state.form.bom = (flags & kWithBom) != 0;
    state.missing = (flags & kMissing) != 0;
    state.conflict = (flags & kConflict) != 0;
    state.vanished = (flags & kVanished) != 0;
    while (in.ok() && !in.at_end()) {
        const std::uint64_t peer = in.u64_le("version");
        state.version[peer] = static_cast<std::int32_t>(in.u32_le("version"));
    }
    if (!in.ok()) return in.error();
    return state;
}

}  // namespace quire::files
