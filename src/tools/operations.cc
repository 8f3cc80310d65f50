#include "tools/operations.h"

#include <algorithm>

#include "base/concat.h"

namespace quire::tools {

namespace {

bool has(const std::vector<std::string>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

std::string joined(const std::vector<std::string>& names) {
    std::string out;
    for (const std::string& name : names) cat_to(out, out.empty() ? "" : ", "), cat_to(out, name);
    return out;
}

}  // namespace

const Operation* Operations::find(std::string_view name) const {
    const auto at = std::find_if(all.begin(), all.end(),
                                 [&](const Operation& each) { return each.name == name; });
    return at == all.end() ? nullptr : &*at;
}

std::vector<std::string> Operations::names() const {
    std::vector<std::string> out;
    out.reserve(all.size());
    for (const Operation& each : all) out.push_back(each.name);
    return out;
}

std::vector<std::string> Operations::unused_by(const std::vector<std::string>& names) const {
    const auto taken = [&](bool by_these) {
        std::vector<std::string> out;
        for (const Operation& each : all) {
            if (has(names, each.name) != by_these) continue;
            out.insert(out.end(), each.needed.begin(), each.needed.end());
            out.insert(out.end(), each.more.begin(), each.more.end());
        }
        return out;
    };
    const std::vector<std::string> used = taken(true);
    std::vector<std::string> out = taken(false);
    std::erase_if(out, [&](const std::string& name) { return has(used, name); });
    return out;
}

std::string Operations::description(const std::vector<std::string>& names) const {
    std::string out;
    for (auto each = all.begin(); each != all.end(); ++each) {
        const auto says_the_same = [&](const Operation& other) { return other.says == each->says; };
        if (each->says.empty() || std::find_if(all.begin(), each, says_the_same) != each) continue;
        std::vector<std::string> who;
        for (const Operation& other : all) {
            if (says_the_same(other) && has(names, other.name)) who.push_back(other.name);
        }
        if (!who.empty()) cat_to(out, cat(out.empty() ? "" : " ", joined(who), ": ", each->says));
    }
    return out;
}

Result<void> settle_arguments(const Operations& operations, Map& arguments) {
    const Value* const word = arguments.find(operations.argument);
    const Operation* const operation =
        word != nullptr && word->is_string() ? operations.find(word->as_string()) : nullptr;
    if (operation == nullptr || operation->open) return {};
    const auto wrong = [&](std::string_view how, std::string_view key, const std::string& name) {
        const std::string needed = joined(operation->needed);
        return invalid("invalid_argument",
                       cat(operations.argument, " ", operation->name, how, name, "; it takes ",
                           needed.empty() ? "nothing" : needed,
                           operation->more.empty() ? "" : " and maybe ", joined(operation->more)),
                       {{std::string(key), name}});
    };
    for (const auto& [then, now] : operation->earlier) {
        Value* const given = arguments.find(then);
        if (given == nullptr || arguments.contains(now)) continue;
        Value moved = std::move(*given);
        arguments.erase(then);
        arguments.append(now, std::move(moved));
    }
    for (const std::string& name : operation->needed) {
        if (!arguments.contains(name)) return wrong(" needs ", "missing", name);
    }
    for (const Map::Entry& each : arguments) {
        if (each.key != operations.argument && !has(operation->needed, each.key) &&
            !has(operation->more, each.key))
            return wrong(" does not take ", "unknown", each.key);
    }
    return {};
}

}  // namespace quire::tools
