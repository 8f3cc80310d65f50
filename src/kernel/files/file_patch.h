// A patch over files and blocks, as values: the request, and the answer. file_patch.cc says how a
// patch runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/function.h"
#include "base/result.h"
#include "edits/numbering.h"
#include "edits/patch.h"

namespace quire::kernel {

// A part of a patch that is about to be written.
struct PlannedPart {
    std::uint64_t version = 0;  // The block's; 0 for a new file.
    // The hash of the file's bytes on the disk, 32 digits, and the bytes that it gets. "" for none.
    std::string before = {};
    std::string after = {};
};

// The request. Each part names, by `FilePatch::name`, a file of the workspace by its path or by
// "file:PATH", or a block by its id.
struct PatchRequest {
    std::vector<edits::FilePatch> parts;
    bool dry_run = false;
    edits::Numbering numbering = edits::Numbering::zero_half_open;  // For messages and details.
    bool to_disk = false;  // Files are saved, whatever the settings say.
    // Called when nothing else can refuse the patch, before anything changes; an error refuses it.
    Function<Result<void>(const std::vector<PlannedPart>&)> before = {};
    std::string operation = "patch";  // Names the versions in histories.
};

// One part of the patch, done. After a dry run the version is today's, and a file that would be
// created has neither block nor version.
struct PatchedBlock {
    std::string block_id;
    std::string path;  // The file's, after a move the new one; "" for a block.
    std::uint64_t version = 0;
    std::vector<edits::HunkPlace> hunks;
};
// The outcome of the whole patch; there is none for a part of it, because all parts are done or
// none is.
struct Patched {
    std::vector<PatchedBlock> blocks;  // In the patch's order.
    std::string diff;                  // Unified, of all that changed.
    std::vector<std::string> notes;
};

}  // namespace quire::kernel
