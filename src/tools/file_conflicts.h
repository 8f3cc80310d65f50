// The operations conflicts, resolve and reconcile of the tool `file`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernel/files/file_calls.h"
#include "tools/operation_tool.h"

namespace quire::kernel {
class DiskWatch;
}

namespace quire::tools {

// The open conflicts of one file, or of all without a path, each with the base and both sides
// whole. Errors: those of FileCalls::conflicts().
void show_file_conflicts(kernel::FileCalls& files, OperationCall call,
                         std::optional<std::string> path);
// Settles one conflict, or all of the path, and answers with the edit that this made. Errors: those
// of FileCalls::resolve().
void resolve_file_conflicts(kernel::FileCalls& files, OperationCall call, kernel::FileResolve what);
// Takes in what changed on the disk, for these paths. Without paths it answers once every change
// that was made on the disk before is taken in. Errors: those of FileCalls::reconcile() and
// kernel::reconcile_disk().
void reconcile_files(kernel::FileCalls& files, kernel::DiskWatch& watch, OperationCall call,
                     std::optional<std::vector<std::string>> paths);

// The schemas of what they answer, beside that of an edit.
Map file_conflicts_answer();
Map reconciled_answer();

}  // namespace quire::tools
