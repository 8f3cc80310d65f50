// DiskTree: the files of the disk as they are now, as a TreeView. What cannot be looked at is not there.
#pragma once

#include <string>
#include <vector>

#include "shell/prediction.h"

namespace quire::shell {

// Each question is a system call; nothing is kept. Paths are followed by the system as they are,
// outside of the workspace too, because scripts name such paths.
class DiskTree final : public TreeView {
public:
    Entry look(const std::string& path) const override;
    std::vector<std::string> list(const std::string& directory) const override;
};

}  // namespace quire::shell
