// LayerWriter: fills the directory of a new layer.
//
// Files are copied with their permissions and times, and with their owner where we may give it. A folder
// appears in the layer with the first thing that is put into it, and gets its properties at the end.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"
#include "stage/source_folder.h"

namespace quire::stage {

class LayerWriter {
public:
    // An outcome for which the entry is not there: it is gone, or it may not be read.
    enum class Put { done, gone, unreadable };

    // `directory` is there and empty; `name` is the layer's. More than `most_bytes` are not written.
    LayerWriter(std::string directory, std::string name, std::uint64_t most_bytes)
        : directory_(std::move(directory)), name_(std::move(name)), most_bytes_(most_bytes) {}

    // Makes the folder in the layer, and those above it.
    Result<void> folder(SourceFolder& folder);
    // Copies the file or link `name` of the folder that is open at `live`, as it is now; its status then is
    // stored. Errors: unavailable "io_error", "disk_full"; out_of_range "too_large" {limit}.
    Result<Put> copy(SourceFolder& folder, const std::string& name, int live, SourceStatus& status);
    // Gives the entry, a file or a link, the same inode as in another layer. False where it cannot.
    Result<bool> share(SourceFolder& folder, const std::string& name, const std::string& layer,
                       const SourceStatus& status);
    // Hides the name, which layers below have.
    Result<void> hide(SourceFolder& folder, const std::string& name);
    // Hides all that layers below, and the live tree, have in the folder.
    Result<void> hide_below(SourceFolder& folder);
    // Gives the folders their properties. Call it last.
    Result<void> finish();

    bool is_empty() const { return folders_.empty(); }
    std::uint64_t bytes() const { return bytes_; }
    const std::string& name() const { return name_; }

private:
    std::string place(const SourceFolder& folder, std::string_view name = {}) const;
    // Adds blocks of 512 bytes to what the layer takes. out_of_range "too_large" {limit} beyond
    // most_bytes_.
    Result<void> count(std::uint64_t blocks);
    Result<Put> copy_file(const std::string& to, const std::string& name, int live,
                          SourceStatus& status);
    Result<Put> copy_link(const std::string& to, const std::string& name, int live,
                          SourceStatus& status);

    const std::string directory_;
    const std::string name_;
    const std::uint64_t most_bytes_;
    std::uint64_t bytes_ = 0;
    std::map<std::string, SourceStatus> folders_;  // Keyed by their places.
};

}  // namespace quire::stage
