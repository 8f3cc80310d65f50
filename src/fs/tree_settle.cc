// Settling: which of the touched files are quiet, and what has become of them.
//
// A file is judged by what the system says of it now against what was last seen, never by its
// events. Two judgements wait longer than the settling time, at most for the cap: a file that became
// empty, because its writer is likely to go on, and one that vanished while another is being made,
// because it may be the same file.
#include <algorithm>
#include <map>
#include <set>

#include <fcntl.h>

#include "base/concat.h"
#include "fs/tree_watch.h"

namespace quire::fs {
namespace {

// Files that settle at different moments are looked at together.
constexpr std::int64_t kGrainMs = 10;
// Larger files are not read to find out whether they are renamed ones.
constexpr std::size_t kMostHashedBytes = std::size_t{64} << 20;

// An open folder, for files that are looked at one after the other.
class OpenFolder {
public:
    explicit OpenFolder(int root) : root_(root) {}
    // The descriptor of the folder, or -1.
    int at(const std::string& path) {
        if (!is_held_ || path != path_) {
            folder_ = Fd(try_open_beneath(root_, path, O_PATH | O_DIRECTORY));
            path_ = path;
            is_held_ = true;
        }
        return folder_.get();
    }

private:
    int root_;
    bool is_held_ = false;
    std::string path_;
    Fd folder_;
};

Entry entry_of(std::string path, const FileSight& sight) {
    return {std::move(path), sight.is_link ? 0 : sight.size, sight.is_link, sight.stamp()};
}

// Returns true if the file's path is before those of the folder's files.
bool comes_before(std::string_view file, std::string_view folder) {
    // Paths are sorted by their bytes, so a folder's files stand where its name with a '/' would:
    // behind "a-b" and before "ab".
    const int order = file.substr(0, folder.size()).compare(folder);
    if (order != 0 || file.size() <= folder.size()) return order <= 0;
    return static_cast<unsigned char>(file[folder.size()]) < '/';
}

// Calls take(path, sight) for each file that was last seen, sorted by path.
template <class Take>
void for_each_seen(const Folder& root, Take take) {
    struct Position {
        const Folder* folder;
        std::string prefix;
        decltype(root.files.begin()) file;
        decltype(root.folders.begin()) below;
    };
    const auto begin = [](const Folder& folder, std::string prefix) {
        return Position{&folder, std::move(prefix), folder.files.begin(), folder.folders.begin()};
    };
    std::vector<Position> stack;
    stack.push_back(begin(root, ""));
    while (!stack.empty()) {
        Position& here = stack.back();
        const bool has_below = here.below != here.folder->folders.end();
        if (here.file != here.folder->files.end() &&
            (!has_below || comes_before(here.file->first, here.below->first))) {
            take(cat(here.prefix, here.file->first), here.file->second);
            ++here.file;
        } else if (has_below) {
            const auto& [name, folder] = *here.below++;
            if (!folder->is_gone) stack.push_back(begin(*folder, cat(here.prefix, name, "/")));
        } else {
            stack.pop_back();
        }
    }
}

TreeChange change_of(ChangeType type, const std::string& path, const FileSight& sight) {
    TreeChange change;
    change.type = type;
    change.path = path;
    change.stamp = sight.stamp();
    change.is_link = sight.is_link;
    return change;
}

std::optional<Hash> hash_at(int root, const std::string& path, std::size_t size) {
    if (size > kMostHashedBytes) return std::nullopt;
    const Result<Fd> file = open_beneath(root, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (!file) return std::nullopt;
    const Result<std::string> bytes = read_all(file->get(), size, kMostHashedBytes, path);
    if (!bytes || bytes->size() != size) return std::nullopt;
    return Hash::of(*bytes);
}

}  // namespace

// Returns true if the next settling may change what is ignored.
bool TreeWatch::has_touched_rules() const {
    return std::ranges::any_of(touched_, [this](const auto& entry) {
        const std::string name = split(entry.first).second;
        return std::ranges::find(rules_.ignore, name) != rules_.ignore.end();
    });
}

// A file with several names may have been written through another one, whose event is all there is; it
// may also be the other one that is new.
std::optional<std::vector<Entry>> TreeWatch::list() {
    if (!is_started_ || is_detached_ || !take_events()) return std::nullopt;
    if (is_detached_ || is_rescan_due_ || is_polling() || has_touched_rules()) return std::nullopt;
    std::vector<Entry> out;
    OpenFolder parent(root_fd_.get());
    std::set<std::uint64_t> shared;  // Inodes.
    const auto look_at = [&](const std::string& path) {
        const auto [above, name] = split(path);
        const int opened = parent.at(above);
        return opened < 0 ? std::nullopt : sight_of(opened, name);
    };
    const auto add_as_it_is = [&](const std::string& path) {
        const auto sight = look_at(path);
        if (!sight) return;
        if (sight->is_shared) shared.insert(sight->inode);
        out.push_back(entry_of(path, *sight));
    };
    for_each_seen(*root_, [&](std::string path, const FileSight& sight) {
        if (touched_.contains(path)) return;
        if (sight.is_shared && !sight.is_link) return add_as_it_is(path);
        out.push_back(entry_of(std::move(path), sight));
    });
    for (const auto& [path, file] : touched_) add_as_it_is(path);
    for (Entry& entry : out) {
        if (entry.is_link || !shared.contains(entry.stamp.inode)) continue;
        if (const auto sight = look_at(entry.path)) entry = entry_of(entry.path, *sight);
    }
    if (!touched_.empty())
        std::ranges::sort(out, [](const Entry& a, const Entry& b) { return a.path < b.path; });
    return out;
}

bool TreeWatch::is_quiet(const Touched& file, std::int64_t now) const {
    if (file.sync != 0 && !file.is_open) return true;
    return now - file.last_ms >= options_.settle_ms || now - file.first_ms >= options_.cap_ms;
}

std::vector<std::string> TreeWatch::due_files(std::int64_t now) {
    std::vector<std::string> due;
    for (const auto& [path, file] : touched_) {
        if (is_quiet(file, now)) due.push_back(path);
    }
    std::ranges::sort(due);
    return due;
}

std::vector<TreeChange> TreeWatch::settle(std::int64_t now) {
    const bool has_sync = !syncs_.empty() && syncs_.front().is_seen;
    if (has_sync) {
        // They were touched before the sync was seen.
        for (auto& [path, file] : touched_) {
            if (file.sync == 0) file.sync = syncs_.front().number;
        }
    } else if (now < settle_due_ms_) {
        return {};
    }
    const std::vector<std::string> due = due_files(now);
    const bool may_be_moved = std::ranges::any_of(touched_, [&](const auto& entry) {
        return seen(entry.first) == nullptr && !is_quiet(entry.second, now);
    });
    Outcome outcome;
    OpenFolder parent(root_fd_.get());
    std::vector<std::string> vanished;
    for (const std::string& path : due) {
        const auto [above, name] = split(path);
        const int opened = parent.at(above);
        const std::optional<FileSight> sight =
            opened < 0 ? std::nullopt : sight_of(opened, name);
        const FileSight* const before = seen(path);
        const Touched file = touched_.at(path);
        const bool is_emptied = before != nullptr && sight && !sight->is_link &&
                                before->size > 0 && sight->size == 0;
        // Deletions wait only while a file that may be the same one is still unquiet.
        const bool waits = is_emptied || (before != nullptr && !sight && may_be_moved);
        if (waits && now - file.last_ms < options_.cap_ms) continue;
        touched_.erase(path);
        judge(path, sight, file.is_hinted, outcome);
        if (!sight) vanished.push_back(above);
    }
    for (const std::string& path : vanished) prune(path);
    pair_renames(outcome);
    for (const std::string& path : outcome.other_rules) {
        if (Folder* folder = folder_at(path)) enter(*folder, {.is_deep = true});
    }
    settle_due_ms_ = now + options_.rescan_ms;
    for (const auto& [path, file] : touched_) {
        const std::int64_t quiet =
            std::min(file.last_ms + options_.settle_ms, file.first_ms + options_.cap_ms);
        settle_due_ms_ = std::min(settle_due_ms_, std::max(quiet, now + kGrainMs));
    }
    std::vector<TreeChange> all = std::move(outcome.modified);
    for (auto* part : {&outcome.deleted, &outcome.created})
        all.insert(all.end(), std::make_move_iterator(part->begin()),
                   std::make_move_iterator(part->end()));
    std::ranges::sort(all, {}, &TreeChange::path);
    return all;
}

void TreeWatch::judge(const std::string& path, const std::optional<FileSight>& now, bool is_hinted,
                      Outcome& outcome) {
    const auto [above, name] = split(path);
    Folder* const folder = folder_at(above);
    if (folder == nullptr) return;
    const auto known = folder->files.find(name);
    const bool was_there = known != folder->files.end();
    if (!was_there && (!now || folder->is_gone)) return;
    const bool is_same = was_there && now && known->second.same_as(*now);
    // Equal times of a file that was fresh when it was seen prove nothing once an event has named
    // it. It is reported as unsure, and whoever knows its bytes compares them.
    if (is_same && !(is_hinted && known->second.is_fresh)) return;
    if (now && now->is_shared && rules_.kept.contains(path)) shared_.insert(path);
    if (!now) {
        outcome.deleted.push_back(change_of(ChangeType::deleted, path, known->second));
        outcome.deleted_sights.push_back(known->second);
        folder->files.erase(known);
    } else if (!was_there) {
        folder->files.emplace(name, *now);
        outcome.created.push_back(change_of(ChangeType::created, path, *now));
        outcome.created_sights.push_back(*now);
    } else {
        TreeChange change = change_of(ChangeType::modified, path, *now);
        change.is_unsure = is_same || (known->second.same_bytes_as(*now) && !known->second.is_fresh);
        known->second = *now;
        outcome.modified.push_back(std::move(change));
    }
    if (!is_same && std::ranges::find(rules_.ignore, name) != rules_.ignore.end())
        outcome.other_rules.push_back(above);
}

// Turns pairs of a deleted and a created file into renamed ones.
void TreeWatch::pair_renames(Outcome& outcome) {
    if (outcome.deleted.empty() || outcome.created.empty()) return;
    // All candidates by inode.
    std::multimap<std::uint64_t, std::size_t> created;
    for (std::size_t i = 0; i < outcome.created_sights.size(); ++i)
        created.emplace(outcome.created_sights[i].inode, i);
    std::map<std::size_t, std::vector<std::size_t>> deleted_of;  // Keyed by the created one.
    for (std::size_t d = 0; d < outcome.deleted_sights.size(); ++d) {
        const auto [first, last] = created.equal_range(outcome.deleted_sights[d].inode);
        std::vector<std::size_t> same;
        for (auto at = first; at != last; ++at) {
            if (outcome.created_sights[at->second].is_file_of(outcome.deleted_sights[d]))
                same.push_back(at->second);
        }
        // Exactly one candidate on both sides, or there is no telling which file became which.
        if (same.size() == 1) deleted_of[same.front()].push_back(d);
    }
    std::vector<bool> is_paired(outcome.deleted.size());
    for (const auto& [c, candidates] : deleted_of) {
        if (candidates.size() != 1) continue;
        outcome.created[c].type = ChangeType::renamed;
        outcome.created[c].from = outcome.deleted[candidates.front()].path;
        is_paired[candidates.front()] = true;
    }
    if (options_.known_hash) pair_by_content(outcome, is_paired);
    std::size_t d = 0;
    std::erase_if(outcome.deleted, [&](const TreeChange&) { return is_paired[d++]; });
}

// A file that was copied and deleted has another inode; its content tells, if it is known.
void TreeWatch::pair_by_content(Outcome& outcome, std::vector<bool>& is_paired) {
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<std::size_t>> deleted;
    std::set<std::uint64_t> sizes;
    for (std::size_t d = 0; d < outcome.deleted.size(); ++d) {
        if (is_paired[d] || outcome.deleted[d].is_link) continue;
        const std::uint64_t size = outcome.deleted_sights[d].size;
        const auto hash = size == 0 ? std::nullopt : options_.known_hash(outcome.deleted[d].path);
        if (!hash) continue;
        deleted[{hash->high, hash->low}].push_back(d);
        sizes.insert(size);
    }
    if (deleted.empty()) return;
    std::map<std::size_t, std::vector<std::size_t>> created_of;  // Keyed by the deleted one.
    for (std::size_t c = 0; c < outcome.created.size(); ++c) {
        const FileSight& sight = outcome.created_sights[c];
        if (outcome.created[c].type == ChangeType::renamed || sight.is_link ||
            !sizes.contains(sight.size))
            continue;
        const auto hash = hash_at(root_fd_.get(), outcome.created[c].path, sight.size);
        const auto same = hash ? deleted.find({hash->high, hash->low}) : deleted.end();
        if (same != deleted.end() && same->second.size() == 1)
            created_of[same->second.front()].push_back(c);
    }
    for (const auto& [d, candidates] : created_of) {
        if (candidates.size() != 1) continue;
        outcome.created[candidates.front()].type = ChangeType::renamed;
        outcome.created[candidates.front()].from = outcome.deleted[d].path;
        is_paired[d] = true;
    }
}

std::int64_t TreeWatch::next_ms(std::int64_t now) const {
    std::int64_t next = options_.rescan_ms;
    if (!touched_.empty()) next = std::min(next, settle_due_ms_ - now);
    if (is_polling() || is_detached_) next = std::min(next, polled_ms_ + poll_ms_ - now);
    // A cookie's event may be late, and somebody waits for it.
    if (!syncs_.empty()) next = std::min(next, std::int64_t{50});
    return is_rescan_due_ ? 0 : std::max(next, std::int64_t{0});
}

}  // namespace quire::fs
