// Three things say what is run: the settings, the list of units, and the files that compilers read
// by themselves. Only the settings are out of the agents' reach. So each check asks the rules
// (Reach) about the list, the compiler, what the command names, and clang-tidy's own files, right
// before it runs.
#include "diagnostics/checker.h"

#include <map>
#include <string_view>

#include "base/concat.h"
#include "diagnostics/diagnostics_feed.h"

namespace quire::diagnostics {
namespace {

// A tool that is a path is one from the root, wherever the tool is run.
std::string tool_of(const DiagnosticsOptions& options) {
    const std::string& tool = options.tool;
    return tool.find('/') == std::string::npos ? tool : absolute_path(options.root, tool);
}

// The reason why nothing can be run, if the settings alone show it; else "". clang-tidy finds the
// list by its name in a directory, so another name cannot be used with it.
std::string refusal_of(const DiagnosticsOptions& options) {
    const CheckTool tool{options.root, tool_of(options), "", 0};
    const std::string_view list = options.compile_commands;
    if (!tool.is_tidy() || list.substr(list.rfind('/') + 1) == "compile_commands.json") return "";
    return cat("clang-tidy reads no list that is not called compile_commands.json; give ", list,
               " that name, or make a link of that name to it, and name that in quire.toml");
}

}  // namespace

Checker::Checker(const DiagnosticsOptions& options, Clock& clock)
    : options_(options),
      settings_refusal_(refusal_of(options)),
      list_(absolute_path(options.root, options.compile_commands)),
      tool_{options.root, tool_of(options), absolute_path(list_, ".."), options.timeout_ms,
            options.writable},
      reach_(options.root, options.agents_write),
      clock_(clock) {}

// A fault in the settings comes first: changing rules would not help.
std::string Checker::refusal() const {
    return settings_refusal_.empty() && reach_.is_agents(list_) ? agents_refusal(list_, reach_)
                                                                : settings_refusal_;
}

std::string Checker::flags_refusal() const {
    const std::string flags = absolute_path(tool_.database, "compile_flags.txt");
    if (!tool_.is_tidy() || !reach_.is_agents(flags)) return "";
    return cat("agents may write ", reach_.below_root(flags).value_or(flags),
               ", which clang-tidy reads in place of compile_commands.json. A rule with "
               "permission = \"read_only\" before the one that lets them makes it run");
}

std::optional<Checked> Checker::check(const Listed& listed, const std::string& scratch,
                                      const std::stop_token& stop) const {
    if (std::string why = distrust(listed.unit); !why.empty())
        return Checked{{}, {}, std::move(why)};
    CheckTool tool = tool_;
    if (tool.is_tidy()) {
        const Result<std::string> config =
            tidy_config_of(absolute_path(options_.root, listed.path), options_.root, reach_);
        if (!config) return Checked{{}, {}, config.error().message()};
        tool.tidy_config = *config;
    }
    std::optional<Checked> out = check_unit(listed.unit, tool, scratch, clock_, stop);
    if (out) name_from_root(*out);
    return out;
}

// The reason why the unit is not checked: programs that agents may write are not run. "" if it is
// checked. A compiler from the settings replaces the one of the unit, which is then not looked at.
// clang-tidy takes over the unit's command, so both programs are looked at.
std::string Checker::distrust(const CompileUnit& unit) const {
    if (!options_.agents_write) return "";
    const bool is_compiler = !tool_.program.empty() && !tool_.is_tidy();
    for (const std::string& each : {program_of(unit), tool_.program}) {
        if (each.empty() || (is_compiler && each != tool_.program)) continue;
        const std::string part = reach_.agents_part(unit, each);
        if (part == each) return cat("agents may write its compiler, ", each);
        if (!part.empty()) return cat("its command names ", part, ", which agents may write");
    }
    return "";
}

// A compiler may call a file by another name of the root. Each distinct path is resolved once,
// since that asks the disk.
void Checker::name_from_root(Checked& checked) const {
    std::map<std::string, std::optional<std::string>> known;
    for (Finding& each : checked.findings) {
        if (!each.path.starts_with('/')) continue;
        const auto [at, is_new] = known.try_emplace(each.path);
        if (is_new) at->second = reach_.below_root(each.path);
        if (at->second) each.path = *at->second;
    }
}

}  // namespace quire::diagnostics
