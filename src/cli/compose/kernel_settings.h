// The settings of quire.toml in the forms that the parts of a kernel process take.
//
// Pure, apart from reading the environment and the number of processors. Settings were checked when
// they were read, so nothing here can fail.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/settings/config.h"
#include "diagnostics/diagnostics_feed.h"
#include "kernel/commands/command_settings.h"
#include "kernel/files/disk_watch.h"
#include "kernel/files/file_gate.h"
#include "kernel/files/git_flush.h"
#include "kernel/memory/memory_settings.h"
#include "mounts/mounts.h"
#include "tools/remember_tools.h"

namespace quire::cli {

// The settings that a look needs: rules for tools bind agents, and nothing else is to run.
Settings settings_for_looking(Settings settings);

// A part of the kernel takes its settings whole, when it starts and when the file has changed.
kernel::FileRules file_rules(const Settings& settings);
kernel::WatchSettings watch_settings(const Settings& settings);
kernel::CommandSettings command_settings(const Settings& settings);
std::optional<kernel::GitFlushSettings> flush_settings(const Settings& settings);
kernel::MemorySettings memory_settings(const Settings& settings);
std::vector<std::string> template_names(const Settings& settings);
// The blocks that have a tool of their own.
std::vector<tools::RememberTools::Named> remembered_blocks(const Settings& settings);

// `scratch`: a directory for the files of a check.
diagnostics::DiagnosticsOptions diagnostics_options(const DiagnosticsSettings& settings,
                                                    std::string workspace, std::string scratch);

// The servers to mount, run from the workspace. They get little of our environment, which may hold
// secrets.
std::vector<mounts::MountOptions> mount_options(const Settings& settings,
                                                const std::string& workspace,
                                                const std::string& version);

// The mounts whose tools nobody knows yet.
std::vector<std::string> unmet_mounts(const Settings& settings, const mounts::Mounts& mounts);

// The checks that run at once unless the settings say how many: half of the processors, since people
// work on this machine too.
std::size_t usual_jobs();
// Returns true if an agent may change the file in any way.
bool agents_write(const policy::PathRules& rules, const std::string& path);

}  // namespace quire::cli
