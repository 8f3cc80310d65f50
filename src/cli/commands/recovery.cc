// The arguments of backup, restore and salvage. Paths are made absolute where the command runs,
// because the kernel that may carry it out has another working directory.
#include "cli/commands/recovery.h"

#include <filesystem>

#include <CLI/CLI.hpp>

namespace quire::cli {

void add_file(CLI::App& app, RecoveryTarget& target) {
    app.add_option("file", target.path, "The file")->type_name("FILE")->required();
}

void add_directory(CLI::App& app, RecoveryTarget& target) {
    app.add_option("directory", target.path, "The directory, new or empty")
        ->type_name("DIR")
        ->required();
}

std::string absolute_path(const std::string& path) {
    return std::filesystem::absolute(path).lexically_normal().string();
}

}  // namespace quire::cli
