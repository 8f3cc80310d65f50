// Two statuses are kept for each entry, those in the workspace and in the copy. The command's
// changes show in the second, and changes that others make meanwhile in the first, so no file is
// read unless its status has changed. O(entries) for a comparison, and the bytes of files that were
// touched.
#include "stage/copied_tree.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/concat.h"
#include "base/fd.h"
#include "fs/beneath.h"
#include "fs/folder_entries.h"
#include "stage/layer_writer.h"

namespace quire::stage {
namespace {

constexpr std::size_t kDeepestCopy = 512;
constexpr std::size_t kPiece = std::size_t{1} << 16;

std::optional<SourceStatus> status_at(const std::string& path) {
    struct stat found {};
    if (::lstat(path.c_str(), &found) != 0) return std::nullopt;
    return SourceStatus(found);
}

std::string target_at(const std::string& path) {
    std::string out(static_cast<std::size_t>(PATH_MAX), '\0');
    const ssize_t size = ::readlink(path.c_str(), out.data(), out.size());
    out.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    return out;
}

// False also where one of them cannot be read: then the file counts as changed.
bool have_same_bytes(const std::string& a, const std::string& b) {
    const Fd left(::open(a.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    const Fd right(::open(b.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    if (!left || !right) return false;
    std::vector<char> one(kPiece), other(kPiece);
    for (off_t at = 0;;) {
        const ssize_t count = ::pread(left.get(), one.data(), kPiece, at);
        if (count < 0 || count != ::pread(right.get(), other.data(), kPiece, at)) return false;
        if (count == 0) return true;
        if (std::memcmp(one.data(), other.data(), static_cast<std::size_t>(count)) != 0)
            return false;
        at += count;
    }
}

// Walks a tree without following links, parents before what is in them. `take` returns false for a folder
// that is not entered.
Result<void> walk(
    const std::string& root, const std::string& path, std::size_t depth,
    const std::function<Result<bool>(const std::string& path, const SourceStatus&)>& take) {
    if (depth > kDeepestCopy) {
        return fail(Errc::out_of_range, "too_large",
                    cat("folders are more than ", kDeepestCopy, " deep"),
                    {{"limit", kDeepestCopy}});
    }
    const std::string whole = path.empty() ? root : cat(root, "/", path);
    const Fd opened(::open(whole.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    // One that may not be read has nothing to show.
    if (!opened) return {};
    std::vector<fs::FolderEntry> entries = TRY(fs::entries_in(opened.get(), path));
    std::ranges::sort(entries, {}, &fs::FolderEntry::name);
    for (const fs::FolderEntry& each : entries) {
        const std::string inner = path.empty() ? each.name : cat(path, "/", each.name);
        const auto status = status_at(cat(root, "/", inner));
        if (!status) continue;
        const bool enters = TRY(take(inner, *status));
        if (enters && status->is_folder()) TRY(walk(root, inner, depth + 1, take));
    }
    return {};
}

}  // namespace

Result<CopiedTree> CopiedTree::make(const std::string& workspace, const std::string& directory,
                                    const std::vector<std::string>& hidden,
                                    std::uint64_t most_bytes) {
    CopiedTree out(workspace, directory);
    LayerWriter writer(directory, "upper", most_bytes);
    std::map<std::string, std::unique_ptr<SourceFolder>> folders;
    auto& root = folders[""] = std::make_unique<SourceFolder>();
    const auto top = status_at(workspace);
    if (!top) return fs::system_failure(errno, workspace, "cannot look at");
    root->status = *top;
    TRY(writer.folder(*root));
    // The device of the workspace; entries of other file systems are mounts.
    struct stat held {};
    ::lstat(workspace.c_str(), &held);
    const auto take = [&](const std::string& path, const SourceStatus& status) -> Result<bool> {
        if (path == ".quire" || std::ranges::find(hidden, path) != hidden.end()) return false;
        const auto [above, name] = fs::split(path);
        SourceFolder& folder = *folders.at(above);
        if (status.is_folder()) {
            struct stat found {};
            // A mount is not entered.
            if (::lstat(cat(workspace, "/", path).c_str(), &found) != 0 ||
                found.st_dev != held.st_dev)
                return false;
            auto made = std::make_unique<SourceFolder>();
            made->parent = &folder;
            made->name = name;
            made->status = status;
            TRY(writer.folder(*made));
            out.entries_[path].source = status;
            folders[path] = std::move(made);
            return true;
        }
        if (!S_ISREG(status.mode) && !S_ISLNK(status.mode)) return false;
        const std::string place = above.empty() ? workspace : cat(workspace, "/", above);
        const Fd opened(::open(place.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (!opened) return false;
        SourceStatus copied = status;
        if (TRY(writer.copy(folder, name, opened.get(), copied)) == LayerWriter::Put::done)
            out.entries_[path].source = copied;
        return false;
    };
    TRY(walk(workspace, "", 0, take));
    TRY(writer.finish());
    for (auto& [path, entry] : out.entries_) {
        if (const auto copy = status_at(cat(directory, "/", path))) entry.copy = *copy;
    }
    return out;
}

// Compares a copy with the workspace that it was made of.
class CopiedTree::Comparison {
public:
    Comparison(const CopiedTree& tree, const std::vector<std::string>& hidden)
        : tree_(tree), hidden_(hidden) {}

    Result<std::vector<StagedChange>> run() {
        const auto take = [&](const std::string& path, const SourceStatus& now) -> Result<bool> {
            TRY(look(path, now));
            return now.is_folder();
        };
        TRY(walk(tree_.directory_, "", 0, take));
        std::ranges::sort(there_);
        for (const auto& [path, entry] : tree_.entries_) {
            if (!std::ranges::binary_search(there_, path)) TRY(add_deletion(path, entry));
        }
        std::ranges::stable_sort(out_, {}, &StagedChange::path);
        return std::move(out_);
    }

private:
    // Looks at one entry of the copy.
    Result<void> look(const std::string& path, const SourceStatus& now) {
        const auto found = tree_.entries_.find(path);
        const Entry* const before = found == tree_.entries_.end() ? nullptr : &found->second;
        // The command may have taken our own right to read away.
        const mode_t needed = now.is_folder() ? 0700 : S_ISREG(now.mode) ? 0400 : 0;
        if ((now.mode & needed) != needed)
            ::chmod(place_of(path).c_str(), (now.mode & 07777) | needed);
        StagedChange change{path};
        change.mode = now.mode & 07777;
        change.is_directory = now.is_folder();
        if (before != nullptr) {
            // Entries of another kind are here too. Their deletion is added apart, before what took
            // their place.
            there_.push_back(path);
            if ((before->copy.mode & S_IFMT) == (now.mode & S_IFMT))
                return look_again(*before, now, std::move(change));
            TRY(add_deletion(path, *before));
        } else {
            change.raced = !is_hidden(path) && status_at(live_of(path)).has_value();
        }
        // A new file at a hidden path would replace the one that the command has not seen.
        return add_new(now, std::move(change), before == nullptr && is_hidden(path));
    }

    // Looks at an entry that is of the kind that it was.
    Result<void> look_again(const Entry& before, const SourceStatus& now, StagedChange change) {
        const std::string place = place_of(change.path), live = live_of(change.path);
        const bool other_mode = change.mode != (before.copy.mode & 07777);
        change.mode_changed = other_mode && !S_ISLNK(now.mode);
        change.raced = has_raced(change.path, before);
        if (S_ISLNK(now.mode)) {
            change.kind = ChangeKind::link;
            change.target = target_at(place);
            const bool is_same = now == before.copy || change.target == target_at(live);
            return is_same ? Result<void>() : add(std::move(change));
        }
        const bool is_touched = !now.is_folder() && now != before.copy;
        const bool is_other = is_touched && (change.raced || !have_same_bytes(place, live));
        change.kind = is_other ? ChangeKind::modified : ChangeKind::mode;
        return is_other || change.mode_changed ? add(std::move(change)) : Result<void>();
    }

    Result<void> add_new(const SourceStatus& now, StagedChange change, bool replaces_hidden) {
        if (now.is_folder()) {
            change.kind = ChangeKind::directory;
        } else if (S_ISLNK(now.mode)) {
            change.kind = ChangeKind::link;
            change.target = target_at(place_of(change.path));
        } else if (S_ISREG(now.mode)) {
            change.kind = replaces_hidden ? ChangeKind::modified : ChangeKind::created;
        } else {
            change.kind = ChangeKind::special;
        }
        return add(std::move(change));
    }

    Result<void> add_deletion(const std::string& path, const Entry& before) {
        StagedChange change{path, ChangeKind::deleted};
        change.is_directory = before.source.is_folder();
        change.was_link = S_ISLNK(before.source.mode);
        change.raced = has_raced(path, before);
        return add(std::move(change));
    }

    Result<void> add(StagedChange change) {
        if (out_.size() >= kMostChanges) {
            return fail(Errc::out_of_range, "too_many_changes",
                        cat("the command changed more than ", kMostChanges, " files"),
                        {{"limit", kMostChanges}});
        }
        out_.push_back(std::move(change));
        return {};
    }

    // Returns true if the workspace's entry is not the one that was copied.
    bool has_raced(const std::string& path, const Entry& before) const {
        const auto now = status_at(live_of(path));
        if (!now) return true;
        return S_ISDIR(before.source.mode) ? now->mode != before.source.mode
                                           : *now != before.source;
    }
    bool is_hidden(const std::string& path) const {
        return std::ranges::find(hidden_, path) != hidden_.end();
    }
    std::string place_of(const std::string& path) const { return cat(tree_.directory_, "/", path); }
    std::string live_of(const std::string& path) const { return cat(tree_.workspace_, "/", path); }

    const CopiedTree& tree_;
    const std::vector<std::string>& hidden_;
    std::vector<std::string> there_;  // The entries that were copied and are there.
    std::vector<StagedChange> out_;
};

Result<std::vector<StagedChange>> CopiedTree::changes(
    const std::vector<std::string>& hidden) const {
    return Comparison(*this, hidden).run();
}

}  // namespace quire::stage
