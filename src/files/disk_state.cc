// The state of a loaded file as bytes, for the header of its document. The format is versioned by
// its first byte; unknown formats and flags are refused, so that an older program never misreads a
// newer state. Formats 1 and 2 ended with the version, to the end of the bytes, and had no
// conflicts.

#include "files/disk_state.h"

#include "base/bytes.h"

namespace quire::files {
namespace {

// The first format means UTF-8; the second has the charset after the flags, as the third has.
constexpr std::uint8_t kInUtf8 = 1;
constexpr std::uint8_t kWithCharset = 2;
constexpr std::uint8_t kFormat = 3;
constexpr std::uint8_t kWithBom = 1;
constexpr std::uint8_t kMissing = 2;
constexpr std::uint8_t kSettled = 4;
constexpr std::uint8_t kConflict = 8;
constexpr std::uint8_t kVanished = 16;

}  // namespace

// Little-endian: format, flags, charset, hash, stamp, the version, the newest conflict's number, and
// after their count the conflicts (conflict.cc).
Bytes DiskState::encode() const {
    ByteWriter out;
    out.byte(kFormat);
    out.byte(static_cast<std::uint8_t>(
        (form.bom ? kWithBom : 0) | (missing ? kMissing : 0) | (stamp.settled ? kSettled : 0) |
        (unlisted_conflict ? kConflict : 0) | (vanished ? kVanished : 0)));
    out.byte(static_cast<std::uint8_t>(form.charset));
    for (const std::uint64_t number : {hash.high, hash.low, stamp.device, stamp.inode, stamp.size,
                                       static_cast<std::uint64_t>(stamp.modified_ns),
                                       static_cast<std::uint64_t>(stamp.changed_ns)}) {
        out.u64_le(number);
    }
    write(out, version);
    out.u32_le(last_conflict);
    out.u32_le(static_cast<std::uint32_t>(conflicts.size()));
    for (const Conflict& conflict : conflicts) write(out, conflict);
    return std::move(out).take();
}

// Refuses anything that encode() cannot have written.
Result<DiskState> DiskState::decode(const Bytes& bytes) {
    ByteReader in(bytes);
    const std::uint8_t format = in.byte("format");
    if (format < kInUtf8 || format > kFormat) in.fail("format");
    const std::uint8_t flags = in.byte("flags");
    DiskState state;
    if (format != kInUtf8) {
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
    state.unlisted_conflict = (flags & kConflict) != 0;
    state.vanished = (flags & kVanished) != 0;
    if (format != kFormat) {
        while (in.ok() && !in.at_end()) {
            const std::uint64_t peer = in.u64_le("version");
            state.version[peer] = static_cast<std::int32_t>(in.u32_le("version"));
        }
    } else {
        state.version = read_version(in);
        state.last_conflict = in.u32_le("number of a conflict");
        const std::uint32_t conflicts = in.u32_le("count of conflicts");
        for (std::uint32_t i = 0; i < conflicts && in.ok(); ++i)
            state.conflicts.push_back(read_conflict(in));
        if (!in.at_end()) in.fail("end");
    }
    if (!in.ok()) return in.error();
    return state;
}

}  // namespace quire::files
