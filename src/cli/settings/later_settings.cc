// A field list per section says what its later members may be. kWithoutEffect says what happens
// instead of what each would do; a setting leaves it when something acts on the setting.
#include "cli/settings/later_settings.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "cli/settings/config.h"

namespace quire::cli {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;

struct LaterLimits {
    std::int64_t resident_bytes = 0;
    static json::Fields<LaterLimits> fields() {
        return json::Fields<LaterLimits>().optional("resident_bytes", &LaterLimits::resident_bytes,
                                                    "", {{"minimum", 1}, {"maximum", kMostBytes}});
    }
};

struct MemoryToolSettings {
    std::vector<std::string> labels;
    static json::Fields<MemoryToolSettings> fields() {
        return json::Fields<MemoryToolSettings>().optional("labels", &MemoryToolSettings::labels);
    }
};

template <class T>
Result<void> check_fields(Section& section) {
    TRY(section.fields<T>());
    return {};
}

struct WithoutEffect {
    std::string_view path;
    std::string_view instead;
};

constexpr auto kWithoutEffect = std::to_array<WithoutEffect>({
    {"memory.tools", "no tool remember_LABEL is published"},
    {"limits.resident_bytes", "documents stay in memory until the kernel ends"},
});

std::string has_no_effect(std::string_view file, std::size_t line, std::string_view what,
                          std::string_view instead) {
    return cat(file, ":", line, ": ", what, " has no effect yet: ", instead);
}

// The value at a path of two names; null where there is none.
const toml::node* node_at(const toml::table& table, std::string_view path) {
    const std::size_t dot = path.find('.');
    const toml::table* const section = table[path.substr(0, dot)].as_table();
    return section == nullptr ? nullptr : section->get(path.substr(dot + 1));
}

}  // namespace

Result<void> check_later_limits(Section& section) {
    return check_fields<LaterLimits>(section);
}

Result<void> check_later_memory(Section& section) {
    return section.table("tools", check_fields<MemoryToolSettings>);
}

std::vector<std::string> without_effect(const toml::table& table, std::string_view file) {
    std::vector<std::string> out;
    for (const WithoutEffect& each : kWithoutEffect) {
        if (const toml::node* const at = node_at(table, each.path))
            out.push_back(has_no_effect(file, line_of(*at), each.path, each.instead));
    }
    return out;
}

}  // namespace quire::cli
