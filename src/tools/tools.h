// The tools: one function per tool, which makes it as a profile shows it. One source per tool.
//
//   tool                   profiles            a call of it
//   block_list             model full          lists blocks with their first lines, page by page
//   block_create           model full          makes a block in a conversation, or opens a file
//   block_append           model full          adds text at the end of a block
//   block_search           model full          finds lines, in one block; in `model` in all as well
//   block_undo             model full          takes the last change back; in `model` redoes it too
//   block_apply_patch      model full          applies a patch to files and blocks, all or none
//   block_view             model               shows numbered lines
//   block_str_replace      model               replaces text that occurs once
//   block_insert           model               inserts lines
//   block_replace_lines    model               replaces lines that the call quotes
//   file, file_history     model full compat   files by path, and their versions
//   context                model full compat   structured memory by label
//   shell                  model full compat   runs commands apart from the files
//   approvals              model full compat   lists and answers what agents ask for; people only
//   str_replace_based_…    compat              files, as models know them from elsewhere
//   memory                 compat              text memory as files below /memories
//
// The other block tools, which are for programs, are in `full` alone. A tool keeps references to
// the kernel's calls that it is given; they outlive it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/tool.h"

namespace quire::kernel {
class ApprovalCalls;
class CommandCalls;
class DiskWatch;
class FileCalls;
class Kernel;
class MemoryCalls;
class Source;
class WorkspaceSearch;
}  // namespace quire::kernel

namespace quire::tools {

using MadeTool = std::unique_ptr<const Tool>;

// --- blocks. Without files or memory (nullptr), no block is one. ---

// In the profiles `model` and `full`; make_block_list() is the same in both. The profile decides
// arguments and answers: `full` has more of them and counts from 0, `model` says them in fewer
// words.
MadeTool make_block_list(kernel::Kernel& kernel);
MadeTool make_block_create(kernel::Kernel& kernel, kernel::FileCalls* files, Profile profile);
MadeTool make_block_append(kernel::Kernel& kernel, kernel::FileCalls* files, Profile profile);
MadeTool make_block_search(kernel::Kernel& kernel, kernel::WorkspaceSearch& all, Profile profile);
MadeTool make_block_undo(kernel::Kernel& kernel, kernel::FileCalls* files, Profile profile);

// The tool is the same in both, and works on files too.
MadeTool make_block_apply_patch(kernel::Kernel& kernel, kernel::FileCalls& files);

// In `full` only: tools for programs and editors, which keep a copy of the text or show it to
// people.
MadeTool make_block_status(kernel::Kernel& kernel);
MadeTool make_block_edit(kernel::Kernel& kernel, kernel::FileCalls* files);
MadeTool make_block_splice(kernel::Kernel& kernel, kernel::FileCalls* files);
MadeTool make_block_read(kernel::Kernel& kernel);
MadeTool make_kernel_search(kernel::WorkspaceSearch& search);
MadeTool make_block_mark(kernel::Kernel& kernel);
MadeTool make_block_fork(kernel::Kernel& kernel);
MadeTool make_block_cursor(kernel::Kernel& kernel);
MadeTool make_block_delete(kernel::Kernel& kernel);
MadeTool make_block_redo(kernel::Kernel& kernel, kernel::FileCalls* files);
MadeTool make_block_history(kernel::Kernel& kernel);

// Without sources no block is one's. These tools take files and memory blocks by name, in lists of
// ids too.
struct BlockNames;
MadeTool make_block_diff(const BlockNames& of);
MadeTool make_block_rollback(const BlockNames& of);
MadeTool make_block_subscribe(const BlockNames& names);
MadeTool make_block_events(kernel::Kernel& kernel);
MadeTool make_block_sync(const BlockNames& names);

// In `model` only.
MadeTool make_block_view(kernel::Kernel& kernel);
MadeTool make_block_str_replace(kernel::Kernel& kernel, kernel::FileCalls* files);
MadeTool make_block_insert(kernel::Kernel& kernel, kernel::FileCalls* files);
MadeTool make_block_replace_lines(kernel::Kernel& kernel, kernel::FileCalls* files);

// --- files, memory, approvals: in every profile ---

// The calls behind the tool `file`. Its copies refer to the same, which outlive them.
struct FileTool {
    kernel::Kernel& kernel;  // Says the limits of an edit.
    kernel::Source& source;  // The files' own.
    kernel::FileCalls& files;
    kernel::DiskWatch& watch;
};
MadeTool make_file(const FileTool& of, Profile profile);
// `files`: the source that has the workspace's files, by which their versions are found.
MadeTool make_file_history(kernel::Source& files, Profile profile);
// `templates`: the names of the workspace's own, which the tool's description has beside those that
// are built in.
MadeTool make_context(kernel::MemoryCalls& memory, Profile profile,
                      const std::vector<std::string>& templates = {});
MadeTool make_shell(kernel::CommandCalls& commands, Profile profile);
// A tool for people only.
MadeTool make_approvals(kernel::ApprovalCalls& approvals);

// --- profile `compat`: the names, commands and answers that models know from elsewhere ---

// The tool str_replace_based_edit_tool. It saves each edit at once, since models expect that of it.
MadeTool make_text_editor(kernel::Kernel& kernel, kernel::FileCalls& files);
// The tool memory: text blocks as files below /memories. Blocks with another schema, and archived
// ones, are not among them.
MadeTool make_memory(kernel::Kernel& kernel, kernel::MemoryCalls& memory);

// --- the names of the operations of each tool that has some, for rules that allow a few of them ---

std::vector<std::string> file_operations();
std::vector<std::string> file_history_operations();
std::vector<std::string> context_operations();
std::vector<std::string> approval_operations();
std::vector<std::string> block_cursor_operations();
std::vector<std::string> shell_operations();
std::vector<std::string> text_editor_operations();
std::vector<std::string> memory_operations();

// --- the operations that have a read-only twin in profile `model` (Operation::twin) ---

std::vector<std::string> file_twins();
std::vector<std::string> context_twins();

// --- the tables of operations, for commands that are made from them ---

Operations file_table(Profile profile);
Operations file_history_table();
Operations context_table(Profile profile);

}  // namespace quire::tools
