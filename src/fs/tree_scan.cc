// A look is one pass over the names of a folder. Those that are not wanted are passed over before
// anything is asked about them, so an ignored folder costs nothing but its name. Drafts of saves,
// .git and .quire are never seen, and neither are names that are not UTF-8, which no caller could
// use.
#include "fs/tree_scan.h"

#include <algorithm>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/clock.h"
#include "base/concat.h"
#include "base/utf8.h"
#include "fs/draft_names.h"
#include "fs/folder_entries.h"

namespace quire::fs {
namespace {

// Longer than a step of the clock that stamps are made from.
constexpr std::int64_t kFreshNs = 50'000'000;
// A stamp that is kept for long needs more (fs::Stamp::settled).
constexpr std::int64_t kSettledNs = 2'000'000'000;

std::int64_t ns_of(const struct statx_timestamp& time) {
    return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

std::int64_t now_ns() {
    return SystemClock().wall_ms() * 1'000'000;
}

std::optional<FileSight> sight_at(int folder, const char* name, std::int64_t now) {
    struct statx status = {};
    if (::statx(folder, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT,
                STATX_BASIC_STATS | STATX_BTIME, &status) != 0)
        return std::nullopt;
    if (!S_ISREG(status.stx_mode) && !S_ISLNK(status.stx_mode)) return std::nullopt;
    FileSight sight;
    sight.device = ::gnu_dev_makedev(status.stx_dev_major, status.stx_dev_minor);
    sight.inode = status.stx_ino;
    sight.size = status.stx_size;
    sight.modified_ns = ns_of(status.stx_mtime);
    sight.changed_ns = ns_of(status.stx_ctime);
    if ((status.stx_mask & STATX_BTIME) != 0) sight.born_ns = ns_of(status.stx_btime);
    sight.is_link = S_ISLNK(status.stx_mode);
    sight.is_shared = status.stx_nlink > 1;
    sight.is_fresh = now - sight.changed_ns < kFreshNs;
    return sight;
}

unsigned char kind_at(int folder, const FolderEntry& entry) {
    if (entry.kind != DT_UNKNOWN) return entry.kind;
    struct stat status = {};
    if (::fstatat(folder, entry.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return DT_UNKNOWN;
    return static_cast<unsigned char>(IFTODT(status.st_mode));
}

}  // namespace

bool FileSight::is_file_of(const FileSight& other) const {
    if (device != other.device || inode != other.inode || is_link != other.is_link) return false;
    // A file system without a time of birth leaves only what would be the same of an untouched
    // file.
    if (born_ns != 0 || other.born_ns != 0) return born_ns == other.born_ns;
    return same_bytes_as(other);
}

Stamp FileSight::stamp() const {
    return {device, inode, size, modified_ns, changed_ns, now_ns() - changed_ns > kSettledNs};
}

std::string Folder::path() const {
    if (parent == nullptr) return "";
    return parent->path_of(name);
}

std::string Folder::path_of(std::string_view entry) const {
    const std::string own = path();
    return own.empty() ? std::string(entry) : cat(own, "/", entry);
}

bool TreeRules::keeps(std::string_view path, bool is_folder) const {
    if (!is_folder) return kept.contains(path);
    const std::string below = cat(path, "/");
    const auto first = kept.lower_bound(below);
    return first != kept.end() && first->starts_with(below);
}

bool TreeRules::wants(std::string_view path, bool is_folder, const text::IgnoreChain& chain,
                      bool is_partial) const {
    if (!is_partial && !chain.ignores(path, is_folder)) return true;
    return keeps(path, is_folder);
}

std::optional<FileSight> sight_of(int folder, const std::string& name) {
    return sight_at(folder, name.c_str(), now_ns());
}

// The ignore files are known by name first, so that a folder without any opens none.
Result<FolderSight> look_into(int root, int opened, const Folder& folder, const std::string& path,
                              const TreeRules& rules) {
    const std::vector<FolderEntry> entries = TRY(entries_in(opened, path));
    // The answer may be yes for a name that only ends alike; the file is then looked for in vain.
    const auto has = [&](std::string_view file) {
        return std::ranges::any_of(entries, [&](const FolderEntry& found) {
            return file.size() >= found.name.size() && file.ends_with(found.name);
        });
    };
    FolderSight sight;
    if (!folder.is_partial) {
        const text::IgnoreChain above =
            folder.parent == nullptr ? text::IgnoreChain() : folder.parent->chain;
        sight.chain = chain_below(
            above, path, rules.ignore, [&](const std::string& file) -> std::optional<std::string> {
                // The root's exclude file is not among its entries, so it is always tried.
                if (!path.empty() && !has(file)) return std::nullopt;
                return ignore_file_at(root, file);
            });
    }
    const std::int64_t now = now_ns();
    std::string full = path.empty() ? "" : cat(path, "/");
    const std::size_t prefix = full.size();
    for (const FolderEntry& found : entries) {
        if (is_draft(found.name) || !utf8::is_valid(found.name)) continue;
        const unsigned char kind = kind_at(opened, found);
        const bool is_folder = kind == DT_DIR;
        if (!is_folder && kind != DT_REG && kind != DT_LNK) continue;
        if (is_folder && (found.name == ".git" || found.name == ".quire")) continue;
        full.resize(prefix);
        full += found.name;
        if (!rules.wants(full, is_folder, sight.chain, folder.is_partial)) continue;
        if (is_folder) {
            sight.folders.insert(found.name);
        } else if (const auto file = sight_at(opened, found.name.c_str(), now)) {
            sight.files.emplace(found.name, *file);
        }
    }
    return sight;
}

}  // namespace quire::fs
