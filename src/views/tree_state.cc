// The state of an adopted tree as bytes, little-endian. The first byte is the format; the last eight are
// the low half of the hash of all before them, so that a torn file is not taken for a shorter one.
//
//   format 1, directory, actor, is_made 1, adopted_ms 8, synced_ms 8
//   count 4, then per path:  path, flags 1, base 16, tree 8, shared 8
//   count 4, then per tie:   path, kind 1, base, from, into, line 8, since_ms 8
//   seal 8
//
// A text is its length in four bytes and its bytes. Paths are in the order of the map, so decoding
// inserts each at the end. A ByteReader that has failed reads zeros from then on; one check at the
// end is enough, and the loops ask it so that a damaged count does not run on.
#include "views/tree_state.h"

#include <utility>

#include "base/bytes.h"

namespace quire::views {
namespace {

constexpr std::uint8_t kFormat = 1;
constexpr std::uint8_t kLink = 1;
constexpr std::uint8_t kRuns = 2;

void write(ByteWriter& out, std::string_view text) {
    out.u32_le(static_cast<std::uint32_t>(text.size()));
    out.append(text);
}
std::string read_text(ByteReader& in) {
    const std::uint32_t size = in.u32_le("text");
    return std::string(as_text(in.take(size, "text")));
}

void write(ByteWriter& out, const fs::Hash& hash) {
    out.u64_le(hash.high);
    out.u64_le(hash.low);
}
fs::Hash read_hash(ByteReader& in) {
    fs::Hash hash;
    hash.high = in.u64_le("hash");
    hash.low = in.u64_le("hash");
    return hash;
}

void write(ByteWriter& out, const Head& head) {
    out.byte(
        static_cast<std::uint8_t>((head.form == Form::link ? kLink : 0) | (head.runs ? kRuns : 0)));
    write(out, head.base);
    out.u64_le(head.tree);
    out.u64_le(head.shared);
}
Head read_head(ByteReader& in) {
    const std::uint8_t flags = in.byte("flags of a path");
    Head head;
    head.form = (flags & kLink) != 0 ? Form::link : Form::file;
    head.runs = (flags & kRuns) != 0;
    head.base = read_hash(in);
    head.tree = in.u64_le("stamp");
    head.shared = in.u64_le("stamp");
    return head;
}

void write(ByteWriter& out, const OpenTie& open) {
    write(out, open.path);
    out.byte(static_cast<std::uint8_t>(open.tie.kind));
    for (const std::string* text : {&open.tie.base, &open.tie.from, &open.tie.into})
        write(out, *text);
    out.u64_le(open.tie.line);
    out.u64_le(static_cast<std::uint64_t>(open.since_ms));
}
OpenTie read_tie(ByteReader& in) {
    OpenTie open;
    open.path = read_text(in);
    const std::uint8_t kind = in.byte("kind of conflict");
    if (kind >= kWords<files::ConflictKind>.size()) in.fail("kind of conflict");
    if (in.ok()) open.tie.kind = static_cast<files::ConflictKind>(kind);
    open.tie.base = read_text(in);
    open.tie.from = read_text(in);
    open.tie.into = read_text(in);
    open.tie.line = in.u64_le("line");
    open.since_ms = static_cast<std::int64_t>(in.u64_le("time"));
    return open;
}

}  // namespace

// `settled` is left out: it says when a stamp may be trusted, and is no part of the file's
// identity.
StampDigest digest_of(const fs::Stamp& stamp) {
    ByteWriter out;
    for (const std::uint64_t number :
         {stamp.device, stamp.inode, stamp.size, static_cast<std::uint64_t>(stamp.modified_ns),
          static_cast<std::uint64_t>(stamp.changed_ns)})
        out.u64_le(number);
    const Bytes bytes = std::move(out).take();
    const StampDigest digest = fs::Hash::of(as_text(bytes)).low;
    return digest == 0 ? 1 : digest;
}

StampDigest digest_of(const Sight& sight, const fs::Hash& bytes) {
    return sight.stamp.settled && sight.hash == bytes ? digest_of(sight.stamp) : 0;
}

Bytes TreeState::encode() const {
    ByteWriter out;
    out.byte(kFormat);
    write(out, directory);
    write(out, actor.str());
    out.byte(is_made ? 1 : 0);
    out.u64_le(static_cast<std::uint64_t>(adopted_ms));
    out.u64_le(static_cast<std::uint64_t>(synced_ms));
    out.u32_le(static_cast<std::uint32_t>(heads.size()));
    for (const auto& [path, head] : heads) {
        write(out, path);
        write(out, head);
    }
    out.u32_le(static_cast<std::uint32_t>(ties.size()));
    for (const OpenTie& each : ties) write(out, each);
    Bytes bytes = std::move(out).take();
    ByteWriter sealed;
    sealed.append(as_text(bytes));
    sealed.u64_le(fs::Hash::of(as_text(bytes)).low);
    return std::move(sealed).take();
}

Result<TreeState> TreeState::decode(const Bytes& bytes) {
    constexpr std::size_t kSeal = 8;
    if (bytes.size() < kSeal) return corrupt("the record of an adopted tree was cut");
    const std::string_view body = as_text(bytes).substr(0, bytes.size() - kSeal);
    ByteReader seal(as_bytes(as_text(bytes).substr(body.size())));
    if (seal.u64_le("seal") != fs::Hash::of(body).low)
        return corrupt("the record of an adopted tree is damaged");
    ByteReader in(as_bytes(body));
    if (in.byte("format") != kFormat) in.fail("format");
    TreeState state;
    state.directory = read_text(in);
    Result<policy::Actor> actor = policy::Actor::parse(read_text(in));
    if (!actor) in.fail("actor");
    const std::uint8_t is_made = in.byte("flag of the tree");
    if (is_made > 1) in.fail("flag of the tree");
    state.is_made = is_made == 1;
    state.adopted_ms = static_cast<std::int64_t>(in.u64_le("time"));
    state.synced_ms = static_cast<std::int64_t>(in.u64_le("time"));
    const std::uint32_t paths = in.u32_le("count of paths");
    for (std::uint32_t i = 0; i < paths && in.ok(); ++i) {
        std::string path = read_text(in);
        state.heads.emplace_hint(state.heads.end(), std::move(path), read_head(in));
    }
    const std::uint32_t ties = in.u32_le("count of conflicts");
    for (std::uint32_t i = 0; i < ties && in.ok(); ++i) state.ties.push_back(read_tie(in));
    if (!in.at_end()) in.fail("end");
    if (!in.ok()) return in.error();
    state.actor = std::move(*actor);
    return state;
}

}  // namespace quire::views
