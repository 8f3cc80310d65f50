// The state of a loaded file as bytes, for the header of its document. The format is versioned by
// its first byte, and unknown formats are refused, so that an older program never misreads a newer
// state; a flag that it does not know is passed over, so a new one that matters needs a new format.
// Formats 1 and 2 ended with the version, to the end of the bytes, and had no conflicts; format 3
// had no settled ones.

#include "files/disk_state.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"

namespace quire::files {
namespace {

// The first format means UTF-8; later ones have the charset after the flags.
constexpr std::uint8_t kInUtf8 = 1;
constexpr std::uint8_t kWithConflicts = 3;
constexpr std::uint8_t kFormat = 4;
constexpr std::uint8_t kWithBom = 1;
constexpr std::uint8_t kMissing = 2;
constexpr std::uint8_t kSettled = 4;
constexpr std::uint8_t kConflict = 8;
constexpr std::uint8_t kVanished = 16;

}  // namespace

bool DiskState::follow_undo(Function<bool(std::uint64_t version)> is_undone) {
    bool any = false;
    for (SettledConflict& each : settled) {
        const bool was_open = std::exchange(each.is_open_again, is_undone(each.version));
        if (was_open == each.is_open_again) continue;
        any = true;
        // A conflict that is open again has the region of its settling; whoever calls sets regions
        // anew from the document (FileGate).
        std::erase_if(conflicts,
                      [&](const Conflict& open) { return open.number == each.conflict.number; });
        if (each.is_open_again) conflicts.push_back(each.conflict);
    }
    std::ranges::stable_sort(conflicts, {}, &Conflict::disk_at);
    return any;
}

// Little-endian: format, flags, charset, hash, stamp, the version, the newest conflict's number, and
// after their count the conflicts (conflict.cc); likewise the settled ones, each after its version
// and if it is open again.
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
    out.u32_le(static_cast<std::uint32_t>(settled.size()));
    for (const SettledConflict& each : settled) {
        out.u64_le(each.version);
        out.byte(each.is_open_again ? 1 : 0);
        write(out, each.conflict);
    }
    return std::move(out).take();
}

// Refuses what encode() cannot have written, except for unknown flags.
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
    if (format < kWithConflicts) {
        // These formats have no count of peers: the version is what is left.
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
        const std::uint32_t settled =
            format == kWithConflicts ? 0 : in.u32_le("count of settled conflicts");
        for (std::uint32_t i = 0; i < settled && in.ok(); ++i) {
            SettledConflict each;
            each.version = in.u64_le("version that settled");
            const std::uint8_t is_open = in.byte("settled conflict");
            if (is_open > 1) in.fail("settled conflict");
            each.is_open_again = is_open == 1;
            each.conflict = read_conflict(in);
            state.settled.push_back(std::move(each));
        }
        if (!in.at_end()) in.fail("end");
    }
    if (!in.ok()) return in.error();
    return state;
}

}  // namespace quire::files
