// Conflicts as bytes: numbers are little-endian, a text stands after its length, and something that
// may be missing after a byte 0 or 1. Bytes from a damaged store end in a failed reader: counts
// reserve nothing, and a text that is longer than what is left is refused.
#include "files/conflict.h"

#include "base/concat.h"

namespace quire::files {
namespace {

void write(ByteWriter& out, const std::string& text) {
    out.u32_le(static_cast<std::uint32_t>(text.size()));
    out.append(text);
}

std::string read_text(ByteReader& in) {
    const std::uint32_t size = in.u32_le("text");
    return std::string(as_text(in.take(size, "text")));
}

void write(ByteWriter& out, const std::optional<Anchor>& anchor) {
    out.byte(anchor ? 1 : 0);
    if (!anchor) return;
    out.u64_le(anchor->peer);
    out.u32_le(static_cast<std::uint32_t>(anchor->counter));
}

std::optional<Anchor> read_anchor(ByteReader& in) {
    const std::uint8_t there = in.byte("anchor");
    if (there > 1) in.fail("anchor");
    if (there != 1 || !in.ok()) return std::nullopt;
    Anchor anchor;
    anchor.peer = in.u64_le("anchor");
    anchor.counter = static_cast<std::int32_t>(in.u32_le("anchor"));
    return anchor;
}

}  // namespace

std::string Conflict::id() const {
    return cat("c", number);
}

void write(ByteWriter& out, const Version& version) {
    out.u32_le(static_cast<std::uint32_t>(version.size()));
    for (const auto& [peer, count] : version) {
        out.u64_le(peer);
        out.u32_le(static_cast<std::uint32_t>(count));
    }
}

Version read_version(ByteReader& in) {
    Version version;
    const std::uint32_t size = in.u32_le("version");
    for (std::uint32_t i = 0; i < size && in.ok(); ++i) {
        const std::uint64_t peer = in.u64_le("version");
        version[peer] = static_cast<std::int32_t>(in.u32_le("version"));
    }
    return version;
}

void write(ByteWriter& out, const Conflict& conflict) {
    out.u32_le(conflict.number);
    out.byte(static_cast<std::uint8_t>(conflict.kind));
    for (const auto& anchor : {conflict.region.before, conflict.region.last, conflict.region.next})
        write(out, anchor);
    for (const std::string* text : {&conflict.base, &conflict.agent, &conflict.disk})
        write(out, *text);
    out.u64_le(conflict.disk_at);
    write(out, conflict.actor);
    out.u64_le(static_cast<std::uint64_t>(conflict.since_ms));
    for (const Version* version :
         {&conflict.base_version, &conflict.agent_version, &conflict.disk_version})
        write(out, *version);
}

Conflict read_conflict(ByteReader& in) {
    Conflict conflict;
    conflict.number = in.u32_le("conflict");
    const std::uint8_t kind = in.byte("kind of conflict");
    if (kind >= kWords<ConflictKind>.size()) in.fail("kind of conflict");
    if (in.ok()) conflict.kind = static_cast<ConflictKind>(kind);
    conflict.region.before = read_anchor(in);
    conflict.region.last = read_anchor(in);
    conflict.region.next = read_anchor(in);
    conflict.base = read_text(in);
    conflict.agent = read_text(in);
    conflict.disk = read_text(in);
    conflict.disk_at = in.u64_le("place on the disk");
    conflict.actor = read_text(in);
    conflict.since_ms = static_cast<std::int64_t>(in.u64_le("time"));
    conflict.base_version = read_version(in);
    conflict.agent_version = read_version(in);
    conflict.disk_version = read_version(in);
    return conflict;
}

}  // namespace quire::files
