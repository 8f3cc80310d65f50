#include "policy/attribution.h"

#include <vector>

#include "base/concat.h"
#include "text/escape.h"

namespace quire::policy {

namespace {

// The character that separates the parts of a message.
constexpr std::string_view kSeparator = ":";

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
    // The system has no name of its own in a message: "system:OP".
    if (attribution.actor.kind != policy::ActorKind::system)
        cat_to(out, cat(":", text::percent_escaped(attribution.actor.name, kSeparator)));
    cat_to(out, cat(":", text::percent_escaped(attribution.operation, kSeparator)));
    if (!attribution.detail.empty())
        cat_to(out, cat(":", text::percent_escaped(attribution.detail, kSeparator)));
    return out;
}

// Strict: a message that message_of() would have written otherwise belongs to another program.
std::optional<Attribution> parse_message(std::string_view message) {
    const std::vector<std::string_view> parts = split(message);
    const bool system = parts[0] == "system";
    const std::size_t operation = system ? 1 : 2;
    if (parts.size() <= operation || parts.size() > operation + 2) return std::nullopt;

    std::vector<std::string> plain;
    for (const std::string_view part : parts) {
        std::optional<std::string> text = text::percent_unescaped(part, kSeparator);
        if (!text) return std::nullopt;
        plain.push_back(std::move(*text));
    }
    auto actor = policy::Actor::parse(cat(plain[0], ":", system ? "kernel" : plain[1]));
    if (!actor) return std::nullopt;
    return Attribution{std::move(*actor), plain[operation],
                       plain.size() > operation + 1 ? plain[operation + 1] : ""};
}

}  // namespace quire::policy
