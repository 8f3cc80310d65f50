#include "tools/takes.h"

#include <algorithm>
#include <string>

#include "base/cat.h"

namespace quire::tools {

namespace {

bool has(const std::vector<std::string_view>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

std::string joined(const std::vector<std::string_view>& names) {
    std::string out;
    for (const std::string_view name : names)
        cat_to(out, out.empty() ? "" : ", "), cat_to(out, name);
    return out.empty() ? "nothing" : out;
}

}  // namespace

Result<void> check_takes(std::string_view selector, std::string_view word, const Takes& takes,
                         std::span<const std::pair<std::string_view, bool>> given) {
    for (const auto& [name, there] : given) {
        const bool needed = has(takes.needed, name);
        const bool missing = needed && !there;
        if (!missing && (!there || needed || has(takes.more, name))) continue;
        return invalid(
            "invalid_argument",
            cat(selector, " ", word, missing ? " needs " : " does not take ", name, "; it takes ",
                joined(takes.needed), takes.more.empty() ? "" : " and maybe ",
                takes.more.empty() ? "" : joined(takes.more)),
            {{missing ? "missing" : "unknown", name}});
    }
    return {};
}

}  // namespace quire::tools
