// SourceFolder: what the newest generation has of one folder of the live tree, and how that was when it
// was copied.
// Generations keeps a tree of them, and CopiedTree makes one for the time of a copy. The tree costs
// memory for each entry.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include <sys/stat.h>

#include "text/ignore.h"

namespace quire::stage {

struct SourceFolder;

// The properties of an entry by which a change of it shows.
struct SourceStatus {
    std::uint32_t mode = 0;  // With the kind.
    std::uint32_t user = 0;
    std::uint32_t group = 0;
    std::uint64_t inode = 0;
    std::uint64_t size = 0;
    std::int64_t modified_ns = 0;
    std::int64_t changed_ns = 0;

    SourceStatus() = default;
    explicit SourceStatus(const struct stat& found);
    bool operator==(const SourceStatus&) const = default;
    bool is_folder() const { return S_ISDIR(mode); }
    // Returns true if the permissions, the owner and the time are the same.
    bool looks_as(const SourceStatus& other) const {
        return mode == other.mode && user == other.user && group == other.group &&
               modified_ns == other.modified_ns;
    }
};

// A file, a link or a folder that the generation has.
struct SourceEntry {
    SourceStatus status;
    std::string layer;  // The name of the layer that has the file or the link.
    std::unique_ptr<SourceFolder> folder = {};
    // It was changed so shortly before it was copied that a later change may leave the same status.
    bool is_fresh = false;
};

struct SourceFolder {
    // The folder that holds it by its entries; null for the root.
    SourceFolder* parent = nullptr;
    std::string name;
    SourceStatus status;
    text::IgnoreChain chain;  // Says which of its entries are ignored.
    // The number of its watch; -1 if the system allowed none.
    int watch = -1;
    std::map<std::string, SourceEntry, std::less<>> entries;
    // Entries that are shown from the live tree: ignored ones, devices, fifos and sockets, other mounts,
    // repositories, and files that cannot be read.
    std::set<std::string, std::less<>> live;
    // Names that a layer covers by a whiteout or by an entry of another kind.
    std::set<std::string, std::less<>> covered;
    // True if the live folder shows through the layers. False if a layer hides it whole.
    bool reaches_live = true;
    // It had an entry of the live tree at some time, and so may have one again.
    bool has_had_live = false;
    // The layer in which it was made last, and the look in which it was seen last.
    std::string made_in = {};
    std::uint64_t look = 0;

    std::string path() const;  // "" for the root.
    std::string path_of(std::string_view entry) const;
    std::size_t depth() const;
};

}  // namespace quire::stage
