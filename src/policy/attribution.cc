#include "policy/attribution.h"

#include <vector>

#include "base/concat.h"
#include "text/escape.h"

namespace quire::policy {

namespace {

// The character that separates the parts of a message.
constexpr std::string_view kSeparator = ":";

// The actor of "system:OP".
const Actor kKernel{ActorKind::system, "kernel"};

// Splits at every ':'; colons within parts are escaped.
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

// Each part is escaped by itself, so the separators stay unambiguous.
std::string message_of(const Attribution& attribution) {
    std::string out(name_of(attribution.actor.kind));
    const bool is_short = attribution.actor == kKernel && attribution.detail.empty();
    if (!is_short) cat_to(out, cat(":", text::percent_escaped(attribution.actor.name, kSeparator)));
    cat_to(out, cat(":", text::percent_escaped(attribution.operation, kSeparator)));
    if (!attribution.detail.empty())
        cat_to(out, cat(":", text::percent_escaped(attribution.detail, kSeparator)));
    return out;
}

std::optional<Attribution> parse_message(std::string_view message) {
    std::vector<std::string> plain;
    for (const std::string_view part : split(message)) {
        std::optional<std::string> text = text::percent_unescaped(part, kSeparator);
        if (!text) return std::nullopt;
        plain.push_back(std::move(*text));
    }
    if (plain.size() == 2 && plain[0] == "system") plain.insert(plain.begin() + 1, kKernel.name);
    if (plain.size() < 3 || plain.size() > 4) return std::nullopt;
    auto actor = policy::Actor::parse(cat(plain[0], ":", plain[1]));
    if (!actor) return std::nullopt;
    return Attribution{std::move(*actor), plain[2], plain.size() == 4 ? plain[3] : ""};
}

}  // namespace quire::policy
