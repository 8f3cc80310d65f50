// A mergeable child has no creating atom, so its identity must be computable by every peer from the
// entry alone: the name spells out the path of keys from an ordinary map, and a marker in the entry
// proves, by a checksum over that path, that the entry means the child and not 8 arbitrary bytes.
// Both directions are here, name to entry and entry to name; they follow Loro's format to the byte.
// Costs are linear in the name.

#include "crdt/ids/mergeable.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string>

#include "base/check.h"

namespace quire::crdt {
namespace {

// The emoji of a handshake. Nobody types it at the start of a name by accident.
constexpr std::string_view kPrefix = "\U0001F91D:";

// The position of the last '>' that is not escaped.
// An escaped '>' belongs to a key, so the name is read from the front: from the back a backslash
// does not tell whether it is escaped itself.
std::size_t last_separator(std::string_view name) {
    std::size_t last = std::string_view::npos;
    for (std::size_t i = 0; i < name.size(); ++i) {
        if (name[i] == '\\') {
            ++i;
        } else if (name[i] == '>') {
            last = i;
        }
    }
    return last;
}

// Refuses unknown escapes and characters that should have been escaped.
std::optional<std::string> unescaped(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\\') {
            out += text[i];
            continue;
        }
        if (++i == text.size()) return std::nullopt;
        switch (text[i]) {
            case '\\':
            case '>':
                out += text[i];
                break;
            case 's':
                out += '/';
                break;
            case '0':
                out += '\0';
                break;
            default:
                return std::nullopt;
        }
    }
    return out;
}

template <class T>
std::optional<T> base36(std::string_view text) {
    T number{};
    const char* end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, number, 36);
    if (text.empty() || error != std::errc{} || at != end || number < T{}) return std::nullopt;
    return number;
}

void append_escaped(std::string& out, std::string_view text) {
    for (const char c : text) {
        switch (c) {
            case '\\':
            case '>':
                out += '\\';
                out += c;
                break;
            case '/':
                out += "\\s";
                break;
            case '\0':
                out += "\\0";
                break;
            default:
                out += c;
        }
    }
}

template <class T>
void append_base36(std::string& out, T number) {
    std::array<char, 16> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 36).ptr;
    out.append(digits.data(), end);
}

// A map that is mergeable itself has the whole path in its name, so one more key is appended.
std::string name_of(const ContainerId& map, std::string_view key) {
    std::string name;
    if (mergeable_parent(map)) {
        name = map.root_name();
    } else if (map.is_root()) {
        name.append(kPrefix) += '$';
        append_escaped(name, map.root_name());
    } else {
        name.append(kPrefix) += '@';
        append_base36(name, map.op().peer);
        name += ':';
        append_base36(name, map.op().counter);
    }
    name += '>';
    append_escaped(name, key);
    return name;
}

// --- markers ---

constexpr std::array<std::uint8_t, 4> kMarker = {0x00, 0x4C, 0x4D, 0x01};

// The kinds in the order of their numbers in a marker.
constexpr std::array kMergeableKinds = {ContainerKind::map,          ContainerKind::list,
                                        ContainerKind::text,         ContainerKind::tree,
                                        ContainerKind::movable_list, ContainerKind::counter};

// CRC-32 as in Ethernet and gzip.
class Crc32 {
public:
    void add(std::uint8_t byte) {
        state_ ^= byte;
        for (int bit = 0; bit < 8; ++bit)
            state_ = (state_ >> 1) ^ ((state_ & 1) != 0 ? 0xEDB88320U : 0);
    }
    void add(std::string_view text) {
        for (const char c : text) add(static_cast<std::uint8_t>(c));
    }
    void add_length(std::size_t length) {
        for (; length > 0x7F; length >>= 7) add(static_cast<std::uint8_t>(length | 0x80));
        add(static_cast<std::uint8_t>(length));
    }
    template <class T>
    void add_little_endian(T number) {
        for (std::size_t i = 0; i < sizeof number; ++i)
            add(static_cast<std::uint8_t>(static_cast<std::uint64_t>(number) >> (8 * i)));
    }
    std::uint32_t sum() const { return ~state_; }

private:
    std::uint32_t state_ = ~0U;
};

constexpr std::uint8_t kMapNumber = 0;

std::size_t length_of_length(std::size_t length) {
    return length > 0x7F ? 1 + length_of_length(length >> 7) : 1;
}

// Every part is preceded by its length, so no two entries have the same input.
std::uint32_t digest_of(const ContainerId& map, std::string_view key, std::uint8_t kind) {
    Crc32 crc;
    crc.add("loro.mergeable.marker.v1");
    if (map.is_root()) {
        const std::size_t length = map.root_name().size();
        crc.add_length(1 + length_of_length(length) + length);
        crc.add(std::uint8_t{0x80 | kMapNumber});
        crc.add_length(length);
        crc.add(map.root_name());
    } else {
        crc.add_length(1 + sizeof(PeerId) + sizeof(Counter));
        crc.add(kMapNumber);
        crc.add_little_endian(map.op().peer);
        crc.add_little_endian(map.op().counter);
    }
    crc.add_length(key.size());
    crc.add(key);
    crc.add(kind);
    return crc.sum() & 0xFFFFFF;
}

}  // namespace

bool is_mergeable_name(std::string_view name) {
    return name.starts_with(kPrefix);
}

// The marker must carry the digest of exactly this entry.
std::optional<ContainerId> mergeable_child(const ContainerId& map, std::string_view key,
                                           const Value& value) {
    if (!value.is_bytes()) return std::nullopt;
    const Bytes& bytes = value.as_bytes();
    if (bytes.size() != kMarker.size() + 4 ||
        !std::equal(kMarker.begin(), kMarker.end(), bytes.begin()))
        return std::nullopt;
    const std::uint8_t kind = bytes[4];
    const std::uint32_t digest = std::uint32_t{bytes[5]} << 16 | bytes[6] << 8 | bytes[7];
    if (kind >= kMergeableKinds.size() || digest_of(map, key, kind) != digest) return std::nullopt;
    // The id is that of a root; which map it is in, only its name tells.
    return ContainerId::root(name_of(map, key), kMergeableKinds[kind]);
}

std::optional<std::string> mergeable_key(const ContainerId& id) {
    if (!mergeable_parent(id)) return std::nullopt;
    const std::string_view name = id.root_name();
    return unescaped(name.substr(last_separator(name) + 1));
}

Value mergeable_marker(const ContainerId& map, std::string_view key, ContainerKind kind) {
    const auto* const at = std::find(kMergeableKinds.begin(), kMergeableKinds.end(), kind);
    CHECK(at != kMergeableKinds.end());
    const auto number = static_cast<std::uint8_t>(at - kMergeableKinds.begin());
    const std::uint32_t digest = digest_of(map, key, number);
    Bytes marker(kMarker.begin(), kMarker.end());
    for (const std::uint32_t byte : {std::uint32_t{number}, digest >> 16, digest >> 8, digest})
        marker.push_back(static_cast<std::uint8_t>(byte));
    return marker;
}

// Parses the name from the back: the last key, then the map that the rest names.
std::optional<ContainerId> parent_in_name(std::string_view name) {
    if (!is_mergeable_name(name)) return std::nullopt;
    const std::size_t separator = last_separator(name);
    if (separator == std::string_view::npos) return std::nullopt;
    const std::string_view above = name.substr(0, separator);
    // A key on the path must itself be a mergeable map.
    if (last_separator(above) != std::string_view::npos)
        return ContainerId::root(std::string(above), ContainerKind::map);
    std::string_view base = above.substr(kPrefix.size());
    if (base.empty()) return std::nullopt;
    const char sort = base.front();
    base.remove_prefix(1);
    if (sort == '$') {
        auto root = unescaped(base);
        if (!root) return std::nullopt;
        return ContainerId::root(std::move(*root), ContainerKind::map);
    }
    const std::size_t colon = base.find(':');
    if (sort != '@' || colon == std::string_view::npos) return std::nullopt;
    const auto peer = base36<PeerId>(base.substr(0, colon));
    const auto counter = base36<Counter>(base.substr(colon + 1));
    if (!peer || !counter) return std::nullopt;
    return ContainerId::normal({*peer, *counter}, ContainerKind::map);
}

}  // namespace quire::crdt
