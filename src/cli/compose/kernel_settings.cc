// One function for each part of the kernel, from the structs of quire.toml to those of the part:
// units become milliseconds and bytes, words become enumerators, and defaults that depend on the
// machine are filled in.
#include "cli/compose/kernel_settings.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include <unistd.h>

#include "base/check.h"
#include "base/concat.h"
#include "base/enum_words.h"
#include "memory/remember.h"
#include "memory/schema_form.h"

namespace quire::cli {

// It starts from the defaults, so a section that is added later does nothing in a kernel that only
// looks.
Settings settings_for_looking(Settings settings) {
    Settings out;
    out.files = std::move(settings.files);
    out.files.git.reset();
    out.files.watch = false;
    out.files.notify.clear();
    out.limits = settings.limits;
    out.approvals.elicitation = false;
    return out;
}

std::optional<kernel::GitFlushSettings> flush_settings(const Settings& settings) {
    if (!settings.files.git) return std::nullopt;
    return kernel::GitFlushSettings{settings.files.git->ref, settings.files.git->after_s * 1000};
}

// A pin is the list of tools that was approved for a mount; without one nobody knows its tools.
std::vector<std::string> unmet_mounts(const Settings& settings, const mounts::Mounts& mounts) {
    std::vector<std::string> unmet;
    for (const std::string& name : mounts.names()) {
        if (!mounts.has_pin(name)) unmet.push_back(name);
    }
    // Mounts that were added to the settings since the start need a new kernel.
    const auto& met = mounts.names();
    for (const auto& [name, mount] : settings.mounts) {
        if (std::ranges::find(met, name) == met.end()) unmet.push_back(name);
    }
    return unmet;
}

std::vector<std::string> template_names(const Settings& settings) {
    std::vector<std::string> names;
    for (const auto& [name, each] : settings.memory.templates) names.push_back(name);
    return names;
}

std::vector<tools::RememberTools::Named> remembered_blocks(const Settings& settings) {
    std::vector<tools::RememberTools::Named> out;
    for (const std::string& label : settings.memory.tools.labels)
        out.push_back({memory::remember_name(label), label});
    return out;
}

kernel::FileRules file_rules(const Settings& settings) {
    return {policy::PathRules(settings.files.rules), settings.files.ignore,
            settings.files.never_merge_globs};
}

kernel::WatchSettings watch_settings(const Settings& settings) {
    return {settings.files.watch, settings.files.settle_ms, settings.files.ignore};
}

kernel::CommandSettings command_settings(const Settings& settings) {
    const ShellSettings& shell = settings.shell;
    kernel::CommandSettings out;
    out.enforcement = shell.enforcement;
    out.minimum_tier = enum_named<stage::Tier>(shell.minimum_tier).value_or(stage::Tier::staged);
    out.network = shell.network;
    out.limits.timeout_ms = shell.timeout_s * 1000;
    out.limits.output_bytes = static_cast<std::size_t>(shell.output_bytes);
    out.limits.processes = static_cast<std::uint64_t>(shell.processes);
    out.limits.memory_bytes = static_cast<std::uint64_t>(shell.memory_bytes);
    out.limits.disk_bytes = static_cast<std::uint64_t>(shell.disk_bytes);
    out.file_bytes = settings.limits.block_bytes;
    return out;
}

kernel::MemorySettings memory_settings(const Settings& settings) {
    kernel::MemorySettings out;
    out.style = *enum_named<memory::RenderStyle>(settings.memory.render);
    for (const auto& [name, each] : settings.memory.templates) {
        Result<memory::BlockSchema> schema = memory::parse_schema(each.schema);
        CHECK(schema.has_value());
        out.templates.push_back({name, each.description, std::move(*schema)});
    }
    return out;
}

diagnostics::DiagnosticsOptions diagnostics_options(const DiagnosticsSettings& settings,
                                                    std::string workspace, std::string scratch) {
    diagnostics::DiagnosticsOptions made;
    made.root = std::move(workspace);
    made.label = settings.label;
    made.compile_commands = settings.compile_commands;
    made.tool = settings.tool;
    made.scratch = std::move(scratch);
    made.timeout_ms = settings.timeout_s * 1000;
    made.jobs = settings.jobs > 0 ? settings.jobs : usual_jobs();
    return made;
}

namespace {

// A server of others does not get our environment: it may hold keys of other services. What the
// settings name comes on top and wins.
std::vector<std::string> environment_of(const MountSettings& settings) {
    std::vector<std::string> out;
    for (const char* const name :
         {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TZ", "TMPDIR"}) {
        const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
        if (value != nullptr && !settings.env.contains(name)) out.push_back(cat(name, "=", value));
    }
    for (const auto& [name, value] : settings.env) out.push_back(cat(name, "=", value));
    return out;
}

}  // namespace

std::vector<mounts::MountOptions> mount_options(const Settings& settings,
                                                const std::string& workspace,
                                                const std::string& version) {
    std::vector<mounts::MountOptions> out;
    for (const auto& [name, each] : settings.mounts) {
        mounts::MountOptions made;
        made.server.name = name;
        made.server.command = each.command;
        made.server.environment = environment_of(each);
        made.server.directory =
            (std::filesystem::path(workspace) / each.directory).lexically_normal().string();
        made.server.version = version;
        made.timeout_ms = each.timeout_s * 1000;
        made.operations = each.operations;
        out.push_back(std::move(made));
    }
    return out;
}

std::size_t usual_jobs() {
    return static_cast<std::size_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN) / 2));
}

// A change that needs a person's approval does not count: the person will have seen it.
bool agents_write(const policy::PathRules& rules, const std::string& path) {
    using policy::Operation;
    const auto may = [&](Operation operation) {
        return rules.decide(path, operation, {}).verdict == policy::Verdict::allow;
    };
    return may(Operation::create) || may(Operation::append) || may(Operation::overwrite) ||
           may(Operation::erase);
}

}  // namespace quire::cli
