// CopiedTree: a private copy of a workspace for one command, for systems that cannot mount an overlay.
//
// All of the workspace is copied, also what ignore files leave out and .git, so that the command sees what
// it would see there; .quire and what the command shall not see are left out. Blocks are shared with the
// files where the file system can do that. What the command changed is found by comparing: a file of the
// copy whose status is as it was has not been touched.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "stage/changes.h"
#include "stage/source_folder.h"

namespace quire::stage {

class CopiedTree {
public:
    // Fills `directory`, which is there and empty. Paths of `hidden` are left out. Errors: those of
    // LayerWriter.
    static Result<CopiedTree> make(const std::string& workspace, const std::string& directory,
                                   const std::vector<std::string>& hidden,
                                   std::uint64_t most_bytes);

    // The difference of the copy as it is now and the workspace; sorted by path. A change is raced if the
    // file in the workspace is not the one that was copied. Errors: as those of changes_in().
    Result<std::vector<StagedChange>> changes(const std::vector<std::string>& hidden) const;

private:
    class Comparison;
    // Two looks at one entry, by which changes of either side show.
    struct Entry {
        SourceStatus source;  // In the workspace,
        SourceStatus copy;    // and in the copy, before the command began.
    };
    CopiedTree(std::string workspace, std::string directory)
        : workspace_(std::move(workspace)), directory_(std::move(directory)) {}

    std::string workspace_;
    std::string directory_;
    std::map<std::string, Entry> entries_;
};

}  // namespace quire::stage
