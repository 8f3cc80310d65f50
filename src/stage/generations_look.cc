// Looking at the live tree, folder by folder, and writing what differs to the layer that is being made.
//
// A look goes down from one folder. For each entry it decides between four cases: shown from the
// live tree, as it was, changed, or gone. A file that vanishes while it is copied is looked at
// again by the next refresh.
#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>

#include "base/concat.h"
#include "fs/beneath.h"
#include "fs/draft_names.h"
#include "fs/folder_entries.h"
#include "fs/ignore_chain.h"
#include "stage/generations.h"

namespace quire::stage {
namespace {

// Paths so deep cannot be named in one word either.
constexpr std::size_t kDeepestFolder = 512;

// Longer than a step of the clock that stamps files.
constexpr std::int64_t kFreshNs = 50'000'000;

bool is_file_or_link(const SourceStatus& status) {
    return S_ISREG(status.mode) || S_ISLNK(status.mode);
}

}  // namespace

// The entries that are there now, each with whether it is shown from the live tree.
Result<Generations::LiveEntries> Generations::entries_of(SourceFolder& folder, const Fd& opened,
                                                         Look how) {
    const std::string path = folder.path();
    const std::vector<fs::FolderEntry> found = TRY(fs::entries_in(opened.get(), path));
    if (how == Look::anew) {
        const text::IgnoreChain above =
            folder.parent == nullptr ? text::IgnoreChain() : folder.parent->chain;
        folder.chain = fs::chain_below(above, path, options_.ignore, [&](const std::string& file) {
            return fs::ignore_file_at(root_fd_.get(), file);
        });
    }
    LiveEntries out;
    for (const fs::FolderEntry& each : found) {
        // Drafts are the files of saves that are under way; the save renames or removes them at
        // once.
        const bool is_state = folder.parent == nullptr && each.name == ".quire";
        if (is_state || fs::is_draft(each.name)) continue;
        struct stat status {};
        if (::fstatat(opened.get(), each.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
        LiveEntry entry{SourceStatus(status), false};
        const bool is_folder = entry.status.is_folder();
        entry.is_live = each.name == ".git" || each.name == ".quire" || status.st_dev != device_ ||
                        (!is_folder && !is_file_or_link(entry.status)) ||
                        folder.chain.ignores(folder.path_of(each.name), is_folder);
        if (S_ISREG(entry.status.mode) && status.st_nlink > 1 && !entry.is_live) {
            const auto [at, is_new] =
                shared_.insert_or_assign(folder.path_of(each.name), entry.status);
            if (is_new) new_shared_.insert(entry.status.inode);
        } else if (!shared_.empty()) {
            shared_.erase(folder.path_of(each.name));
        }
        out.emplace(each.name, entry);
    }
    return out;
}

Result<void> Generations::look_at(SourceFolder& folder, const Fd& opened, Look how) {
    if (stop_.stop_requested()) return fail(Errc::unavailable, "cancelled", "the kernel is ending");
    struct stat status {};
    if (!opened || ::fstat(opened.get(), &status) != 0)
        return fs::system_failure(errno, folder.path(), "cannot open");
    if (folder.depth() > kDeepestFolder) {
        return fail(Errc::out_of_range, "too_large",
                    cat("the workspace's folders are more than ", kDeepestFolder, " deep"),
                    {{"limit", kDeepestFolder}});
    }
    folder.look = look_;
    watch(folder, opened.get());
    const bool looks_other = !folder.status.looks_as(SourceStatus(status));
    folder.status = SourceStatus(status);
    const LiveEntries now = TRY(entries_of(folder, opened, how));
    if (how == Look::anew || looks_other) TRY(writer_->folder(folder));

    auto before = how == Look::anew ? std::exchange(folder.entries, {})
                                    : std::map<std::string, SourceEntry, std::less<>>();
    if (how == Look::anew) {
        folder.live.clear();
        folder.covered.clear();
    } else {
        std::vector<std::string> gone;
        for (const auto& [name, entry] : folder.entries) {
            if (!now.contains(name)) gone.push_back(name);
        }
        for (const std::string& name : gone) TRY(remove(folder, name));
        std::erase_if(folder.live, [&](const std::string& name) { return !now.contains(name); });
    }
    for (const auto& [name, entry] : now) {
        if (entry.is_live) {
            TRY(take_live(folder, name));
            continue;
        }
        auto& known = how == Look::anew ? before : folder.entries;
        const auto found = known.find(name);
        TRY(take({folder, opened, how}, name, entry,
                 found == known.end() ? nullptr : &found->second));
        if (must_lay_out_anew_ && how != Look::anew) return {};
    }
    for (auto& [name, entry] : before) {
        if (entry.folder != nullptr) forget(*entry.folder);
    }
    if (how != Look::anew || folder.parent == nullptr) return {};
    const bool needs_live =
        folder.has_had_live || !folder.live.empty() ||
        std::ranges::any_of(folder.entries, [](const auto& each) {
            return each.second.folder != nullptr && each.second.folder->reaches_live;
        });
    folder.reaches_live = needs_live;
    return needs_live ? Result<void>() : writer_->hide_below(folder);
}

// In a folder that hides the live tree, and where a layer has the name, it would not show.
Result<void> Generations::take_live(SourceFolder& folder, const std::string& name) {
    const bool is_new = folder.live.insert(name).second;
    folder.has_had_live = true;
    if (is_new &&
        (!folder.reaches_live || folder.covered.contains(name) || folder.entries.contains(name)))
        must_lay_out_anew_ = true;
    return {};
}

Result<void> Generations::remove(SourceFolder& folder, const std::string& name) {
    const auto found = folder.entries.find(name);
    TRY(writer_->hide(folder, name));
    folder.covered.insert(name);
    if (std::ranges::find(options_.ignore, name) != options_.ignore.end())
        must_lay_out_anew_ = true;
    shared_.erase(folder.path_of(name));
    if (found->second.folder != nullptr) forget(*found->second.folder);
    folder.entries.erase(found);
    return {};
}

// Takes one entry into the layer, if the layers before do not have it as it is.
Result<void> Generations::take(const Visit& visit, const std::string& name, const LiveEntry& now,
                               SourceEntry* before) {
    if (now.status.is_folder()) return take_folder(visit, name, now, before);
    const auto& [folder, opened, how] = visit;
    const bool is_same = before != nullptr && before->status == now.status && !before->is_fresh;
    if (how != Look::anew) {
        if (is_same) return {};
        if (std::ranges::find(options_.ignore, name) != options_.ignore.end()) {
            must_lay_out_anew_ = true;
            return {};
        }
        if (before != nullptr && before->folder != nullptr) {
            forget(*before->folder);
            folder.covered.insert(name);
        }
        folder.live.erase(name);
    } else if (is_same && before->folder == nullptr &&
               TRY(writer_->share(folder, name, before->layer, before->status))) {
        SourceEntry& kept = folder.entries[name];
        kept.status = before->status;
        kept.layer = writer_->name();
        return {};
    }
    SourceEntry entry{now.status, writer_->name()};
    switch (TRY(writer_->copy(folder, name, opened.get(), entry.status))) {
        case LayerWriter::Put::done:
            entry.is_fresh = clock_.wall_ms() * 1'000'000 - entry.status.changed_ns < kFreshNs;
            folder.entries[name] = std::move(entry);
            break;
        case LayerWriter::Put::gone:
            // It was there, so something has happened since, which an event will tell.
            touched_.insert(&folder);
            if (before != nullptr && how != Look::anew) TRY(remove(folder, name));
            break;
        case LayerWriter::Put::unreadable:
            if (before != nullptr && how != Look::anew) {
                if (before->folder != nullptr) forget(*before->folder);
                folder.entries.erase(name);
                must_lay_out_anew_ = true;
            }
            return take_live(folder, name);
    }
    return {};
}

Result<void> Generations::take_folder(const Visit& visit, const std::string& name,
                                      const LiveEntry& now, SourceEntry* before) {
    const auto& [folder, opened, how] = visit;
    const bool was_folder = before != nullptr && before->folder != nullptr;
    if (how == Look::changes && was_folder && before->status.inode == now.status.inode) {
        const bool looks_other = !before->status.looks_as(now.status);
        before->status = before->folder->status = now.status;
        return looks_other ? writer_->folder(*before->folder) : Result<void>();
    }
    const Fd inner(
        ::openat(opened.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!inner && (errno == EACCES || errno == EPERM)) {
        if (before != nullptr && how != Look::anew) must_lay_out_anew_ = true;
        return take_live(folder, name);
    }
    if (!inner) {
        touched_.insert(&folder);
        return before != nullptr && how != Look::anew ? remove(folder, name) : Result<void>();
    }
    if (was_folder && how != Look::anew) {
        before->status = now.status;
        return look_at(*before->folder, inner, Look::deep);
    }
    // A file that becomes a folder hides what the layers below, and the live tree, have of that name.
    if (before != nullptr && how != Look::anew) folder.covered.insert(name);
    folder.live.erase(name);
    std::unique_ptr<SourceFolder> child =
        was_folder ? std::move(before->folder) : std::make_unique<SourceFolder>();
    child->parent = &folder;
    child->name = name;
    SourceFolder& held = *child;
    SourceEntry& entry = folder.entries[name];
    entry = {now.status, {}, std::move(child)};
    TRY(look_at(held, inner, Look::anew));
    const bool can_reach = folder.reaches_live && !folder.covered.contains(name);
    if (how != Look::anew && held.reaches_live && !can_reach) must_lay_out_anew_ = true;
    return {};
}

}  // namespace quire::stage
