#include "codec/mergeable.h"

#include <charconv>
#include <string>
#include <string_view>

namespace quire::codec {
namespace {

using crdt::ContainerId;
using crdt::ContainerKind;

constexpr std::string_view kPrefix = "\U0001F91D:";

// Where the last '>' that is not escaped stands.
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

}  // namespace

std::optional<ContainerId> mergeable_parent(const ContainerId& id) {
    if (!id.is_root()) return std::nullopt;
    const std::string_view name = id.root_name();
    if (name.substr(0, kPrefix.size()) != kPrefix) return std::nullopt;
    const std::size_t separator = last_separator(name);
    if (separator == std::string_view::npos) return std::nullopt;
    const std::string_view above = name.substr(0, separator);
    // A key on the way is a mergeable map itself.
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
    const auto peer = base36<crdt::PeerId>(base.substr(0, colon));
    const auto counter = base36<crdt::Counter>(base.substr(colon + 1));
    if (!peer || !counter) return std::nullopt;
    return ContainerId::normal({*peer, *counter}, ContainerKind::map);
}

}  // namespace quire::codec
