// The tree and its events. A watch is always placed before the folder is looked into, so what is
// made in it between the two is found by the look, and what is made later has its event: no file in
// a new folder is missed, however deep. A folder that is moved is lost at its old place and entered
// at its new one; its files are found to be the same when they settle (tree_settle.cc).
//
// A look never changes what was last seen of a known file; it only touches the files that differ.
// So all changes are found in one place, and a look at the wrong moment costs nothing.
#include "fs/tree_watch.h"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/concat.h"
#include "base/utf8.h"
#include "fs/draft_names.h"

namespace quire::fs {
namespace {

constexpr std::size_t kMostEventsARound = 1U << 15;
// A cookie that has not been seen by then is given up, and the tree looked at instead.
constexpr std::int64_t kCookieMs = 1000;
// Polling takes at most this part of one processor.
constexpr std::int64_t kPollShare = 20;

}  // namespace

Result<std::unique_ptr<TreeWatch>> TreeWatch::open(const std::string& directory, Options options,
                                                   const Clock& clock) {
    Fd root(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!root) return system_failure(errno, directory, "cannot open the workspace");
    TRY(open_beneath(root.get(), "", O_PATH));
    return std::unique_ptr<TreeWatch>(
        new TreeWatch(directory, std::move(root), std::move(options), clock));
}

TreeWatch::TreeWatch(std::string directory, Fd root, Options options, const Clock& clock)
    : directory_(std::move(directory)),
      root_fd_(std::move(root)),
      options_(std::move(options)),
      clock_(clock),
      source_(options_.source ? std::move(options_.source) : inotify_source()),
      rules_{options_.ignore, {}},
      root_(std::make_unique<Folder>()),
      poll_ms_(options_.poll_ms) {}

TreeWatch::~TreeWatch() = default;

int TreeWatch::fd() const {
    return source_->fd();
}

// The order: events, then a walk if one is due, then polls. They only touch files; settle() judges
// those that are quiet, and syncs are finished last, when nothing that they wait for is left.
TreeWatch::Round TreeWatch::round() {
    const std::int64_t now = clock_.steady_ms();
    Round round;
    if (is_detached_ && now - polled_ms_ >= poll_ms_) {
        polled_ms_ = now;
        is_detached_ = !is_attached();
        is_rescan_due_ = is_rescan_due_ || !is_detached_;
    }
    take_events();
    if (!is_detached_) {
        for (Sync& sync : syncs_) {
            if (sync.is_seen || now - sync.since_ms < kCookieMs) continue;
            sync.is_seen = is_rescan_due_ = true;
        }
        if (is_started_ && now - rescanned_ms_ >= options_.rescan_ms) is_rescan_due_ = true;
        if (std::exchange(is_rescan_due_, false)) rescan();
    }
    if (!is_detached_) {
        if (is_polling() && now - polled_ms_ >= poll_ms_) poll(now);
        round.changes = settle(now);
        finish_syncs();
    }
    if (is_detached_) {
        reached_sync_ = last_sync_;  // There is nothing to be seen.
        syncs_.clear();
    }
    round.next_ms = next_ms(now);
    return round;
}

// The first walk finds no changes.
void TreeWatch::rescan() {
    if (!is_attached()) {
        is_detached_ = true;
        return;
    }
    ++rescans_;
    rescanned_ms_ = clock_.steady_ms();
    if (cookie_watch_ < 0) watch_cookies();
    enter(*root_, {.is_quiet = !std::exchange(is_started_, true), .is_deep = true});
    if (rescans_ > 1) return;
    for (const std::string& path : rules_.kept) {
        const FileSight* const sight = seen(path);
        if (sight != nullptr && sight->is_shared) shared_.insert(path);
    }
}

void TreeWatch::set_ignore(IgnoreNames names) {
    if (names == rules_.ignore) return;
    rules_.ignore = std::move(names);
    is_rescan_due_ = true;
}

// The path must still lead to the directory that is open.
bool TreeWatch::is_attached() const {
    struct stat held = {}, there = {};
    return ::fstat(root_fd_.get(), &held) == 0 && held.st_nlink > 0 &&
           ::stat(directory_.c_str(), &there) == 0 && held.st_dev == there.st_dev &&
           held.st_ino == there.st_ino;
}

// --- events ---

bool TreeWatch::take_events() {
    std::vector<WatchEvent> events;
    while (events.size() < kMostEventsARound && source_->read(events)) {
    }
    for (const WatchEvent& event : events) take(event);
    return events.size() < kMostEventsARound;
}

void TreeWatch::take(const WatchEvent& event) {
    if ((event.mask & IN_Q_OVERFLOW) != 0) {
        ++overflows_;
        is_rescan_due_ = true;
        for (Sync& sync : syncs_) sync.is_seen = true;  // Their cookies may be among the lost.
        return;
    }
    if (event.watch == cookie_watch_) {
        if ((event.mask & IN_IGNORED) != 0) cookie_watch_ = -1;
        if ((event.mask & IN_CREATE) != 0) take_cookie(event.name);
        return;
    }
    const auto found = watches_.find(event.watch);
    if (found == watches_.end()) return;
    Folder& folder = *found->second;
    if ((event.mask & (IN_IGNORED | IN_UNMOUNT)) != 0) {
        watches_.erase(found);
        folder.watch = -1;
    }
    if (event.name.empty()) {
        constexpr std::uint32_t kEnds = IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED;
        if ((event.mask & kEnds) == 0) return;
        // The parent's events tell of other folders, unless they were lost.
        if (&folder == root_.get()) is_detached_ = is_detached_ || !is_attached();
        if (folder.watch < 0 && !folder.is_gone) is_rescan_due_ = true;
        return;
    }
    if (is_draft(event.name) || !utf8::is_valid(event.name)) return;
    if ((event.mask & IN_ISDIR) != 0) return take_folder_event(folder, event.name, event.mask);
    std::string path = folder.path_of(event.name);
    if (!rules_.wants(path, false, folder.chain, folder.is_partial)) return;
    touch(path, true);
    Touched& file = touched_[path];
    // A file that was written and not closed keeps a sync waiting, up to the cap.
    if ((event.mask & IN_MODIFY) != 0) file.is_open = true;
    if ((event.mask & (IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE)) != 0)
        file.is_open = false;
}

void TreeWatch::take_folder_event(Folder& folder, const std::string& name, std::uint32_t mask) {
    if (name == ".git" || name == ".quire") return;
    const std::string path = folder.path_of(name);
    if (!rules_.wants(path, true, folder.chain, folder.is_partial)) return;
    const auto known = folder.folders.find(name);
    if ((mask & (IN_DELETE | IN_MOVED_FROM)) != 0) {
        if (known != folder.folders.end()) lose(*known->second);
        return;
    }
    if ((mask & (IN_CREATE | IN_MOVED_TO | IN_ATTRIB)) == 0) return;
    // A look at one that is lost finds that, and one that took the place of another is new.
    if ((mask & IN_ATTRIB) == 0 && known != folder.folders.end()) lose(*known->second);
    enter(add_folder(folder, name), {.is_deep = true});
}

// --- the tree ---

Folder& TreeWatch::add_folder(Folder& parent, const std::string& name) {
    std::unique_ptr<Folder>& folder = parent.folders[name];
    if (folder == nullptr) {
        folder = std::make_unique<Folder>();
        folder->parent = &parent;
        folder->name = name;
    }
    folder->is_gone = false;
    folder->is_partial = parent.is_partial || parent.chain.ignores(folder->path(), true);
    return *folder;
}

// Asks for a watch even if there is one: another folder may have taken this one's name.
void TreeWatch::watch(Folder& folder, int opened) {
    const int watch = source_->add(opened);
    if (watch >= 0 && watch == folder.watch) return;
    unwatch(folder);
    if (watch < 0) {
        folder.is_polled = true;
        ++polled_folders_;
        return;
    }
    // A folder that was moved has its watch already; it belongs to the new place now.
    const auto [at, is_new] = watches_.emplace(watch, &folder);
    if (!is_new) std::exchange(at->second, &folder)->watch = -1;
    folder.watch = watch;
}

void TreeWatch::unwatch(Folder& folder) {
    if (std::exchange(folder.is_polled, false)) --polled_folders_;
    if (folder.watch < 0) return;
    watches_.erase(folder.watch);
    source_->remove(std::exchange(folder.watch, -1));
}

// The folder and all below it stay in the tree, without watches, until their files have settled:
// they may turn up elsewhere, as moved ones. Only what has nothing to report goes at once.
void TreeWatch::lose(Folder& top) {
    std::vector<Folder*> all{&top};
    for (std::size_t i = 0; i < all.size(); ++i) {
        Folder& folder = *all[i];
        unwatch(folder);
        folder.is_gone = true;
        for (const auto& [name, sight] : folder.files) touch(folder.path_of(name));
        for (const auto& [name, child] : folder.folders) all.push_back(child.get());
    }
    while (!all.empty()) {
        Folder& folder = *all.back();
        all.pop_back();
        if (folder.files.empty() && folder.folders.empty() && folder.parent != nullptr)
            folder.parent->folders.erase(std::string(folder.name));
    }
}

void TreeWatch::forget(Folder& top) {
    std::vector<Folder*> ahead{&top};
    while (!ahead.empty()) {
        Folder& folder = *ahead.back();
        ahead.pop_back();
        unwatch(folder);
        for (const auto& [name, child] : folder.folders) ahead.push_back(child.get());
    }
    if (top.parent != nullptr) top.parent->folders.erase(std::string(top.name));
}

// Takes away folders that are gone and have nothing left to report.
void TreeWatch::prune(const std::string& path) {
    Folder* folder = folder_at(path);
    while (folder != nullptr && folder->parent != nullptr && folder->is_gone &&
           folder->files.empty() && folder->folders.empty()) {
        Folder* const parent = folder->parent;
        parent->folders.erase(std::string(folder->name));
        folder = parent;
    }
}

Folder* TreeWatch::folder_at(std::string_view path) const {
    Folder* folder = root_.get();
    while (folder != nullptr && !path.empty()) {
        const std::string_view name = path.substr(0, path.find('/'));
        path.remove_prefix(std::min(path.size(), name.size() + 1));
        const auto found = folder->folders.find(name);
        folder = found == folder->folders.end() ? nullptr : found->second.get();
    }
    return folder;
}

const FileSight* TreeWatch::seen(const std::string& path) const {
    const auto [parent, name] = split(path);
    const Folder* const folder = folder_at(parent);
    if (folder == nullptr) return nullptr;
    const auto found = folder->files.find(name);
    return found == folder->files.end() ? nullptr : &found->second;
}

void TreeWatch::touch(std::string path, bool is_hinted) {
    const std::int64_t now = clock_.steady_ms();
    const auto [at, is_new] = touched_.try_emplace(std::move(path), Touched{now, now});
    Touched& file = at->second;
    if (is_hinted) file.last_ms = now;
    file.is_hinted = file.is_hinted || is_hinted;
    if (file.sync == 0 && !syncs_.empty()) file.sync = syncs_.front().number;
    if (is_new)
        settle_due_ms_ =
            std::min(settle_due_ms_, now + std::min(options_.settle_ms, options_.cap_ms));
}

void TreeWatch::enter(Folder& top, Look how) {
    std::vector<Folder*> ahead{&top};
    while (!ahead.empty()) {
        Folder& folder = *ahead.back();
        ahead.pop_back();
        look(folder, how, ahead);
    }
}

void TreeWatch::look(Folder& folder, Look how, std::vector<Folder*>& ahead) {
    const std::string path = folder.path();
    const int opened = try_open_beneath(root_fd_.get(), path, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
    if (opened < 0) {
        const bool is_missing = errno == ENOENT || errno == ENOTDIR || errno == ELOOP;
        // Any other failure, such as a folder that may not be read, leaves what was seen there as
        // it is.
        if (is_missing && folder.parent != nullptr) lose(folder);
        return;
    }
    const Fd here(opened);
    watch(folder, opened);
    Result<FolderSight> now = look_into(root_fd_.get(), opened, folder, path, rules_);
    if (!now) return;
    const text::IgnoreChain before = std::exchange(folder.chain, now->chain);
    compare(folder, *now, before, how.is_quiet);
    // Folders first that are not there or not wanted any more, then those that are.
    std::vector<Folder*> gone;
    for (const auto& [name, child] : folder.folders) {
        if (!child->is_gone && !now->folders.contains(name)) gone.push_back(child.get());
    }
    for (Folder* child : gone) {
        struct stat status = {};
        const bool is_there = ::fstatat(opened, child->name.c_str(), &status,
                                        AT_SYMLINK_NOFOLLOW) == 0 &&
                              S_ISDIR(status.st_mode);
        // A folder that is there and not among those wanted is ignored from now on. Its files are
        // no deletions.
        is_there ? forget(*child) : lose(*child);
    }
    for (const std::string& name : now->folders) {
        const auto known = folder.folders.find(name);
        const bool is_new = known == folder.folders.end() || known->second->is_gone;
        const std::string below = is_new ? folder.path_of(name) : std::string();
        if (is_new && !how.is_quiet && before.ignores(below, true) &&
            !rules_.keeps(below, true)) {
            // Ignore files left it out until now, so what is in it is no news.
            enter(add_folder(folder, name), {.is_quiet = true, .is_deep = true});
        } else if (is_new || how.is_deep) {
            ahead.push_back(&add_folder(folder, name));
        }
    }
}

// Touches the files that differ from what was last seen. Files that ignore files left out before, or
// leave out now, are added and taken away without a word.
void TreeWatch::compare(Folder& folder, FolderSight& now, const text::IgnoreChain& before,
                        bool is_quiet) {
    if (is_quiet && folder.files.empty()) {
        folder.files = std::move(now.files);
        return;
    }
    std::vector<std::string> dropped;
    for (const auto& [name, sight] : folder.files) {
        if (now.files.contains(name)) continue;
        const std::string path = folder.path_of(name);
        if (rules_.wants(path, false, folder.chain, folder.is_partial)) {
            touch(path);
        } else {
            dropped.push_back(name);
        }
    }
    for (const std::string& name : dropped) folder.files.erase(name);
    for (const auto& [name, sight] : now.files) {
        const auto known = folder.files.find(name);
        if (known != folder.files.end() && known->second.same_as(sight) && !known->second.is_fresh)
            continue;
        const std::string path = folder.path_of(name);
        const bool was_ignored = before.ignores(path, false) && !rules_.keeps(path, false);
        if (known == folder.files.end() && (is_quiet || was_ignored)) {
            folder.files.emplace(name, sight);
        } else if (known == folder.files.end() || !known->second.same_as(sight)) {
            touch(path);
        } else {
            touch(path, true);
        }
    }
}

void TreeWatch::poll(std::int64_t now) {
    // The folders are gathered first, because a look may change the tree under a walk.
    const std::int64_t began = clock_.steady_ms();
    std::vector<Folder*> ahead{root_.get()};
    std::vector<std::string> polled;
    while (!ahead.empty()) {
        Folder& folder = *ahead.back();
        ahead.pop_back();
        if (folder.is_polled) polled.push_back(folder.path());
        for (const auto& [name, child] : folder.folders) ahead.push_back(child.get());
    }
    for (const std::string& path : polled) {
        if (Folder* folder = folder_at(path)) enter(*folder, {});
    }
    // A write through another name of a file has no event here.
    std::erase_if(shared_, [&](const std::string& path) {
        const FileSight* const before = seen(path);
        const auto [above, name] = split(path);
        const auto opened = open_beneath(root_fd_.get(), above, O_PATH | O_DIRECTORY);
        const auto sight = opened ? sight_of(opened->get(), name) : std::nullopt;
        if (before == nullptr || !sight || !before->same_as(*sight)) touch(path);
        return !sight || !sight->is_shared;
    });
    polled_ms_ = now;
    poll_ms_ = std::max(options_.poll_ms, (clock_.steady_ms() - began) * kPollShare);
}

// A file whose folder is ignored gets a chain of folders of its own.
void TreeWatch::keep(const std::string& path) {
    if (!rules_.kept.insert(path).second || !is_started_) return;
    if (const FileSight* sight = seen(path)) {
        if (sight->is_shared) shared_.insert(path);
        return;
    }
    Folder* folder = root_.get();
    for (std::size_t from = 0, end = 0; (end = path.find('/', from)) != std::string::npos;
         from = end + 1) {
        const std::string name = path.substr(from, end - from);
        if (name == ".git" || name == ".quire") return;
        const auto known = folder->folders.find(name);
        if (known != folder->folders.end() && !known->second->is_gone) {
            folder = known->second.get();
            continue;
        }
        // A folder that is wanted and not there has nothing to keep yet; its creation will have an
        // event.
        if (!folder->is_partial && !folder->chain.ignores(folder->path_of(name), true)) return;
        return enter(add_folder(*folder, name), {.is_quiet = true});
    }
    const std::string name = split(path).second;
    if (!folder->is_partial && !folder->chain.ignores(path, false)) return;
    const Result<Fd> opened =
        open_beneath(root_fd_.get(), folder->path(), O_RDONLY | O_DIRECTORY | O_NONBLOCK);
    if (!opened) return;
    const auto sight = sight_of(opened->get(), name);
    if (!sight) return;
    folder->files.emplace(name, *sight);
    if (sight->is_shared) shared_.insert(path);
}

WatchState TreeWatch::state() const {
    if (is_detached_) return WatchState::detached;
    if (!is_started_) return WatchState::starting;
    return polled_folders_ > 0 ? WatchState::polling : WatchState::watching;
}

TreeStatus TreeWatch::status() const {
    TreeStatus status;
    std::vector<std::pair<const Folder*, bool>> ahead{{root_.get(), false}};  // Below a polled one.
    while (!ahead.empty()) {
        const auto [folder, below_polled] = ahead.back();
        ahead.pop_back();
        status.files += folder->files.size();
        ++status.folders;
        if (folder->is_polled && !below_polled) status.polled.push_back(folder->path());
        for (const auto& [name, child] : folder->folders)
            ahead.emplace_back(child.get(), below_polled || folder->is_polled);
    }
    std::ranges::sort(status.polled);
    status.state = state();
    if (!status.polled.empty()) status.poll_ms = poll_ms_;
    status.overflows = overflows_;
    status.rescans = rescans_;
    return status;
}

}  // namespace quire::fs
