// The bytes of a PackedLog:
//
//     kind   u8        the container's
//     count  uleb      runs
//     each run:
//         head   u8    its kind, and the flags `linear` and `resolved`
//         lv     uleb  the distance from the end of the run before
//     in a text:
//         len    uleb
//         pos    uleb
//         insert:  the text, after its size
//         erase:   the start id, as the run has it, if it is resolved
//     in a map:
//         key    uleb  its number in PackedKeys; 0 for one that follows, sized
//         slot   an Entry, and what follows it
//
// all in LZ4's block format, where that is worth it. They never leave the process, so that values are
// spelled here and not as in Loro's formats, which a room above knows.
#include "crdt/history/packed_log.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include <lz4.h>

#include "base/check.h"
#include "base/varint.h"

namespace quire::crdt {
namespace {

// A longer log is nearly all text or values.
constexpr std::size_t kMostBytes = 64 << 10;
// Fewer bytes are not compressed, nor are those that become less than an eighth shorter.
constexpr std::size_t kLeastToCompress = 256;

constexpr unsigned kKindBits = 0x0F;
constexpr unsigned kLinear = 0x10;
constexpr unsigned kResolved = 0x20;

// The content of a map's entry, or of a value within one.
enum class Entry : std::uint8_t {
    erased,
    child,
    null,
    no,
    yes,
    integer,
    number,
    string,
    bytes,
    list,
    map
};

void write_value(ByteWriter& out, const Value& value);

void tag(ByteWriter& out, Entry entry) {
    out.byte(static_cast<std::uint8_t>(entry));
}

struct ValueWriter {
    ByteWriter& out;

    void operator()(std::monostate) const { tag(out, Entry::null); }
    void operator()(bool value) const { tag(out, value ? Entry::yes : Entry::no); }
    void operator()(std::int64_t value) const {
        tag(out, Entry::integer);
        write_zigzag(out, value);
    }
    void operator()(double value) const {
        tag(out, Entry::number);
        out.u64_le(std::bit_cast<std::uint64_t>(value));
    }
    void operator()(const std::string& value) const {
        tag(out, Entry::string);
        write_sized(out, value);
    }
    void operator()(const Bytes& value) const {
        tag(out, Entry::bytes);
        write_sized(out, value);
    }
    void operator()(const List& list) const {
        tag(out, Entry::list);
        write_uleb(out, list.size());
        for (const Value& each : list) write_value(out, each);
    }
    void operator()(const Map& map) const {
        tag(out, Entry::map);
        write_uleb(out, map.size());
        for (const auto& [key, value] : map) {
            write_sized(out, key);
            write_value(out, value);
        }
    }
};

void write_value(ByteWriter& out, const Value& value) {
    std::visit(ValueWriter{out}, value.storage());
}

std::string read_text(ByteReader& in) {
    return std::string(as_text(read_sized(in, "text")));
}

Entry read_tag(ByteReader& in) {
    return static_cast<Entry>(in.byte("entry"));
}

// The value that follows a tag.
Value read_value(ByteReader& in, Entry entry) {
    switch (entry) {
        case Entry::no:
            return false;
        case Entry::yes:
            return true;
        case Entry::integer:
            return read_zigzag(in, "integer");
        case Entry::number:
            return std::bit_cast<double>(in.u64_le("number"));
        case Entry::string:
            return read_text(in);
        case Entry::bytes: {
            const std::span<const std::uint8_t> bytes = read_sized(in, "bytes");
            return Bytes(bytes.begin(), bytes.end());
        }
        case Entry::list: {
            List list(read_uleb(in, "list"));
            for (Value& each : list) each = read_value(in, read_tag(in));
            return list;
        }
        case Entry::map: {
            Map map;
            for (std::uint64_t left = read_uleb(in, "map"); left > 0; --left) {
                std::string key = read_text(in);
                map.append(std::move(key), read_value(in, read_tag(in)));
            }
            return map;
        }
        case Entry::null:
        case Entry::erased:
        case Entry::child:
            break;
    }
    return nullptr;
}

void write_key(ByteWriter& out, PackedKeys& keys, const std::string& key) {
    const std::uint32_t number = keys.number_of(key);
    write_uleb(out, number);
    if (number == 0) write_sized(out, key);
}

std::string read_key(ByteReader& in, const PackedKeys& keys) {
    const auto number = static_cast<std::uint32_t>(read_uleb(in, "key"));
    return number == 0 ? read_text(in) : keys.key(number);
}

// Returns false for an op that is no map's.
bool write_entry(ByteWriter& out, PackedKeys& keys, const OpContent& op) {
    if (const auto* erase = std::get_if<MapErase>(&op)) {
        write_key(out, keys, erase->key);
        tag(out, Entry::erased);
        return true;
    }
    const auto* set = std::get_if<MapSet>(&op);
    if (set == nullptr) return false;
    write_key(out, keys, set->key);
    if (const auto* kind = std::get_if<ContainerKind>(&set->value)) {
        tag(out, Entry::child);
        out.byte(static_cast<std::uint8_t>(*kind));
    } else {
        write_value(out, std::get<Value>(set->value));
    }
    return true;
}

OpContent read_entry(ByteReader& in, const PackedKeys& keys) {
    std::string key = read_key(in, keys);
    const Entry entry = read_tag(in);
    if (entry == Entry::erased) return MapErase{std::move(key)};
    if (entry == Entry::child)
        return MapSet{std::move(key), static_cast<ContainerKind>(in.byte("child"))};
    return MapSet{std::move(key), read_value(in, entry)};
}

// Returns false for a run that is no text's.
bool write_text_run(ByteWriter& out, const ContainerLog& log, const Run& run) {
    if (run.kind != RunKind::insert && !run.is_erase()) return false;
    write_uleb(out, run.len);
    write_uleb(out, run.pos);
    if (run.kind == RunKind::insert) {
        write_sized(out, log.all_text(run));
    } else if (run.resolved) {
        write_uleb(out, run.payload);
        write_uleb(out, run.extra);
    }
    return true;
}

void read_text_run(ByteReader& in, ContainerLog& log, Run run) {
    run.len = static_cast<std::uint32_t>(read_uleb(in, "length"));
    run.pos = static_cast<std::uint32_t>(read_uleb(in, "position"));
    if (run.kind == RunKind::insert) {
        log.restore(run, as_text(read_sized(in, "text")));
        return;
    }
    if (run.resolved) {
        run.payload = static_cast<std::uint32_t>(read_uleb(in, "counter"));
        run.extra = static_cast<std::uint32_t>(read_uleb(in, "peer"));
    }
    log.restore(run, {});
}

bool write_run(ByteWriter& out, PackedKeys& keys, const ContainerLog& log, const Run& run,
               Lv before) {
    out.byte(static_cast<std::uint8_t>(static_cast<unsigned>(run.kind) |
                                       (run.linear ? kLinear : 0U) |
                                       (run.resolved ? kResolved : 0U)));
    write_uleb(out, run.lv - before);
    if (log.kind() == ContainerKind::text) return write_text_run(out, log, run);
    return run.kind == RunKind::map_entry && run.len == 1 && write_entry(out, keys, log.op(run));
}

void read_run(ByteReader& in, const PackedKeys& keys, ContainerLog& log) {
    const std::uint8_t head = in.byte("head");
    Run run;
    run.kind = static_cast<RunKind>(head & kKindBits);
    run.linear = (head & kLinear) != 0;
    run.resolved = (head & kResolved) != 0;
    run.lv = log.end() + static_cast<Lv>(read_uleb(in, "number"));
    if (log.kind() == ContainerKind::text) {
        read_text_run(in, log, run);
    } else {
        log.keep({.lv = run.lv, .linear = run.linear}, run.kind, read_entry(in, keys));
    }
}

std::unique_ptr<ContainerLog> read_log(std::span<const std::uint8_t> bytes,
                                       const PackedKeys& keys) {
    ByteReader in(bytes);
    auto log = std::make_unique<ContainerLog>(static_cast<ContainerKind>(in.byte("kind")));
    const std::uint64_t count = read_uleb(in, "runs");
    log->reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) read_run(in, keys, *log);
    CHECK(in.ok() && in.at_end());
    return log;
}

// Returns empty if that is not worth it.
Bytes compress(std::span<const std::uint8_t> bytes) {
    if (bytes.size() < kLeastToCompress) return {};
    Bytes out(bytes.size() - bytes.size() / 8);
    const int size = LZ4_compress_default(
        reinterpret_cast<const char*>(bytes.data()), reinterpret_cast<char*>(out.data()),
        static_cast<int>(bytes.size()), static_cast<int>(out.size()));
    out.resize(static_cast<std::size_t>(size));
    return out;
}

}  // namespace

PackedKeys::PackedKeys(const PackedKeys& other) {
    for (const std::string& key : other.keys_) number_of(key);
}

std::uint32_t PackedKeys::number_of(std::string_view key) {
    constexpr std::size_t kMost = 100;
    const auto known = numbers_.find(key);
    if (known != numbers_.end()) return known->second;
    if (keys_.size() == kMost) return 0;
    const std::string& kept = keys_.emplace_back(key);
    return numbers_.emplace(kept, static_cast<std::uint32_t>(keys_.size())).first->second;
}

PackedLog::PackedLog(const ContainerLog& log, PackedKeys& keys) {
    if (log.kind() != ContainerKind::text && log.kind() != ContainerKind::map) return;
    ByteWriter out;
    out.byte(static_cast<std::uint8_t>(log.kind()));
    write_uleb(out, log.runs().size());
    Lv before = 0;
    for (const Run& run : log.runs()) {
        if (!write_run(out, keys, log, run, before) || out.size() > kMostBytes) return;
        before = run.end();
    }
    const Bytes compressed = compress(out.bytes());
    keep(compressed.empty() ? out.bytes() : compressed);
    if (!compressed.empty()) unpacked_size_ = static_cast<std::uint32_t>(out.size());
}

PackedLog::PackedLog(const PackedLog& other) : unpacked_size_(other.unpacked_size_) {
    keep({other.bytes_.get(), other.size_});
}

PackedLog& PackedLog::operator=(PackedLog&& other) noexcept {
    bytes_ = std::move(other.bytes_);
    size_ = std::exchange(other.size_, 0);
    unpacked_size_ = std::exchange(other.unpacked_size_, 0);
    return *this;
}

void PackedLog::keep(std::span<const std::uint8_t> bytes) {
    if (bytes.empty()) return;
    bytes_ = std::make_unique_for_overwrite<std::uint8_t[]>(bytes.size());
    std::copy(bytes.begin(), bytes.end(), bytes_.get());
    size_ = static_cast<std::uint32_t>(bytes.size());
}

std::unique_ptr<ContainerLog> PackedLog::unpack(const PackedKeys& keys) const {
    CHECK(!empty());
    if (unpacked_size_ == 0) return read_log({bytes_.get(), size_}, keys);
    Bytes bytes(unpacked_size_);
    const int read = LZ4_decompress_safe(reinterpret_cast<const char*>(bytes_.get()),
                                         reinterpret_cast<char*>(bytes.data()),
                                         static_cast<int>(size_), static_cast<int>(bytes.size()));
    CHECK(read == static_cast<int>(bytes.size()));
    return read_log(bytes, keys);
}

}  // namespace quire::crdt
