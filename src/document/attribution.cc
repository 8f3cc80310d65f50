#include "document/attribution.h"

#include <vector>

#include "base/cat.h"

namespace quire::document {

namespace {

std::string escaped(std::string_view part) {
    std::string out;
    for (const char c : part) {
        if (c == ':') {
            out += "%3A";
        } else if (c == '%') {
            out += "%25";
        } else {
            out += c;
        }
    }
    return out;
}

std::optional<std::string> unescaped(std::string_view part) {
    std::string out;
    for (std::size_t i = 0; i < part.size(); ++i) {
        if (part[i] != '%') {
            out += part[i];
            continue;
        }
        const std::string_view code = part.substr(i, 3);
        if (code == "%3A") {
            out += ':';
        } else if (code == "%25") {
            out += '%';
        } else {
            return std::nullopt;
        }
        i += 2;
    }
    return out;
}

std::vector<std::string_view> split(std::string_view message) {
    std::vector<std::string_view> parts;
    std::size_t begin = 0;
    while (true) {
        const std::size_t colon = message.find(':', begin);
        parts.push_back(message.substr(begin, colon - begin));
        if (colon == std::string_view::npos) return parts;
        begin = colon + 1;
    }
}

}  // namespace

std::string message_of(const Attribution& attribution) {
    std::string out(policy::actor_kind_name(attribution.actor.kind));
    // The system has no name of its own in a message: "system:OP".
    if (attribution.actor.kind != policy::ActorKind::system)
        cat_to(out, cat(":", escaped(attribution.actor.name)));
    cat_to(out, cat(":", escaped(attribution.operation)));
    if (!attribution.detail.empty()) cat_to(out, cat(":", escaped(attribution.detail)));
    return out;
}

std::optional<Attribution> parse_message(std::string_view message) {
    const std::vector<std::string_view> parts = split(message);
    const bool system = parts[0] == "system";
    const std::size_t operation = system ? 1 : 2;
    if (parts.size() <= operation || parts.size() > operation + 2) return std::nullopt;

    std::vector<std::string> plain;
    for (const std::string_view part : parts) {
        std::optional<std::string> text = unescaped(part);
        if (!text) return std::nullopt;
        plain.push_back(std::move(*text));
    }
    auto actor = policy::Actor::parse(cat(plain[0], ":", system ? "kernel" : plain[1]));
    if (!actor) return std::nullopt;
    return Attribution{std::move(*actor), plain[operation],
                       plain.size() > operation + 1 ? plain[operation + 1] : ""};
}

}  // namespace quire::document
