// DiskTree: the files of the disk as they are now, as a TreeView. What cannot be looked at is not there.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "shell/prediction.h"

namespace quire::shell {

class DiskTree final : public TreeView {
public:
    Entry look(const std::string& path) const override {
        namespace files = std::filesystem;
        std::error_code error;
        const files::file_status status = files::symlink_status(path, error);
        switch (status.type()) {
            case files::file_type::symlink:
                return {Kind::link, files::read_symlink(path, error).string()};
            case files::file_type::directory:
                return {Kind::directory};
            case files::file_type::not_found:
            case files::file_type::none:
                return {Kind::none};
            default:
                return {Kind::file};
        }
    }
    std::vector<std::string> list(const std::string& directory) const override {
        std::error_code error;
        std::vector<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(directory, error))
            names.push_back(entry.path().filename().string());
        std::sort(names.begin(), names.end());
        return names;
    }
};

}  // namespace quire::shell
