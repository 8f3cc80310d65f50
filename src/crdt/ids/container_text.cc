// Parsing is as strict as writing is regular: each id has one spelling, so ids can be compared and
// used as keys by their text. A root's name is taken as it is, colons and all.
#include "crdt/ids/container_text.h"

#include <array>
#include <charconv>
#include <limits>

#include "base/concat.h"

namespace quire::crdt {
namespace {

constexpr std::string_view kContainer = "cid:";
constexpr std::string_view kRoot = "root-";
constexpr std::string_view kUnknown = "Unknown(";

// In the order of ContainerKind.
constexpr std::array<std::string_view, 6> kKinds = {"Map",  "List",        "Text",
                                                    "Tree", "MovableList", "Counter"};

// Only digits, without leading zeros.
template <class T>
std::optional<T> parse_number(std::string_view text) {
    T number{};
    const char* end = text.data() + text.size();
    if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
    if (text.size() > 1 && text.front() == '0') return std::nullopt;
    const auto [at, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{} || at != end) return std::nullopt;
    return number;
}

bool skip(std::string_view& text, std::string_view prefix) {
    if (text.substr(0, prefix.size()) != prefix) return false;
    text.remove_prefix(prefix.size());
    return true;
}

}  // namespace

std::string to_text(ContainerKind kind) {
    const auto number = static_cast<std::uint8_t>(kind);
    return number < kKinds.size() ? std::string(kKinds[number]) : cat(kUnknown, number, ")");
}

std::string to_text(OpId id) {
    return cat(id.counter, "@", id.peer);
}

std::string to_text(const ContainerId& id) {
    return cat(kContainer, id.is_root() ? cat(kRoot, id.root_name()) : to_text(id.op()), ":",
               to_text(id.kind));
}

std::optional<PeerId> parse_peer_id(std::string_view text) {
    return parse_number<PeerId>(text);
}

std::optional<OpId> parse_op_id(std::string_view text) {
    const std::size_t at = text.find('@');
    if (at == std::string_view::npos) return std::nullopt;
    const auto counter = parse_number<Counter>(text.substr(0, at));
    const auto peer = parse_peer_id(text.substr(at + 1));
    if (!counter || !peer || *counter == std::numeric_limits<Counter>::max()) return std::nullopt;
    // The largest counter is reserved: the exclusive end of a span has to be a counter too.
    return OpId{*peer, *counter};
}

std::optional<ContainerKind> parse_container_kind(std::string_view text) {
    for (std::size_t i = 0; i < kKinds.size(); ++i) {
        if (text == kKinds[i]) return static_cast<ContainerKind>(i);
    }
    if (!skip(text, kUnknown) || text.empty() || text.back() != ')') return std::nullopt;
    const auto number = parse_number<std::uint8_t>(text.substr(0, text.size() - 1));
    if (!number || *number < kKinds.size()) return std::nullopt;
    return static_cast<ContainerKind>(*number);
}

// The name may contain colons, so the kind is searched from the back.
std::optional<ContainerId> parse_container_id(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    if (!skip(text, kContainer) || colon < kContainer.size()) return std::nullopt;
    const auto kind = parse_container_kind(text.substr(colon - kContainer.size() + 1));
    std::string_view name = text.substr(0, colon - kContainer.size());
    if (!kind) return std::nullopt;
    if (skip(name, kRoot)) {
        if (name.empty()) return std::nullopt;
        return ContainerId::root(std::string(name), *kind);
    }
    const auto id = parse_op_id(name);
    if (!id) return std::nullopt;
    return ContainerId::normal(*id, *kind);
}

}  // namespace quire::crdt
