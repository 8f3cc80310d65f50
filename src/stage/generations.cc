// The state is a tree of SourceFolders that mirrors the live tree, and a watch for each folder.
// refresh() takes the events, finds the folders they touch, and looks at these
// (generations_look.cc); a layer gets the differences.
//
// Three doubts lead to a wider look: lost events and time (everything is looked at), files with
// several names (each is looked at by itself), and folders that the system does not watch (looked
// at each time). Whatever a layer cannot express sets must_lay_out_anew_, and the call ends with
// one new layer in place of all.
#include "stage/generations.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/concat.h"
#include "fs/beneath.h"

namespace quire::stage {
namespace {

namespace files = std::filesystem;

constexpr const char* kExclude = ".git/info/exclude";
// A store through a mapping has no event, so everything is looked at now and then.
constexpr std::int64_t kVerifyMs = 600'000;

// A short name: the system takes the names of all layers in 256 bytes.
std::string short_name(std::uint64_t number) {
    constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuvwxyz";
    std::string out;
    for (; number > 0 || out.empty(); number /= kDigits.size())
        out.insert(out.begin(), kDigits[number % kDigits.size()]);
    return out;
}

}  // namespace

Generations::Generations(std::string workspace, Options options,
                         std::shared_ptr<sched::Scheduler> remover, const Clock& clock)
    : workspace_(std::move(workspace)),
      directory_(directory_of(workspace_)),
      options_(std::move(options)),
      remover_(std::move(remover)),
      clock_(clock),
      source_(options_.source ? std::move(options_.source) : fs::inotify_source()),
      root_(std::make_unique<SourceFolder>()) {}

void Generations::sweep(const std::string& workspace, sched::Scheduler& remover) {
    std::error_code failed;
    const std::string state = workspace + "/.quire";
    const std::string left = directory_of(workspace);
    if (files::exists(files::symlink_status(left, failed))) {
        std::string gone = cat(state, "/", kGone, "XXXXXX");
        const bool is_moved = ::mkdtemp(gone.data()) != nullptr &&
                              ::rename(left.c_str(), cat(gone, "/generations").c_str()) == 0;
        if (!is_moved) remove_directory(left);
    }
    for (const auto& each : files::directory_iterator(state, failed)) {
        if (!each.path().filename().string().starts_with(kGone)) continue;
        remover.post([path = each.path().string()] { remove_directory(path); });
    }
}

// --- refreshing ---

// If nothing happened it costs a look at the files with several names. Events are taken first, so a
// change during the call is found by the next one.
Result<void> Generations::refresh(const std::stop_token& stop) {
    stop_ = stop;
    if (!root_fd_) {
        root_fd_ = Fd(::open(workspace_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        struct stat found {};
        if (!root_fd_ || ::fstat(root_fd_.get(), &found) != 0)
            return fs::system_failure(errno, workspace_, "cannot open");
        device_ = found.st_dev;
    }
    take_events();
    const bool is_long = std::exchange(has_other_rules_, false) ||
                         (newest_ != nullptr && newest_->layers.size() >= kMostLayers);
    const bool has_some = newest_ != nullptr;
    Result<void> done = !has_some || is_long ? lay_out_anew() : add_layer();
    if (!done) start_over();
    // Without what the layers have of earlier, it may fit.
    if (!done && has_some && done.error().reason() == "too_large") {
        done = lay_out_anew();
        if (!done) start_over();
    }
    return done;
}

// Forgets all that is known, after an error.
void Generations::start_over() {
    writer_.reset();
    newest_.reset();
    for (const auto& [watch, folder] : watches_) source_->remove(watch);
    watches_.clear();
    touched_.clear();
    unwatched_.clear();
    shared_.clear();
    root_ = std::make_unique<SourceFolder>();
    is_all_touched_ = true;
    must_lay_out_anew_ = false;
}

void Generations::set(fs::IgnoreNames ignore, std::uint64_t most_bytes) {
    options_.most_bytes = most_bytes;
    if (ignore == options_.ignore) return;
    options_.ignore = std::move(ignore);
    has_other_rules_ = true;
}

Result<std::unique_ptr<LayerWriter>> Generations::begin_layer() {
    if (::mkdir(directory_.c_str(), 0700) != 0 && errno != EEXIST)
        return fs::system_failure(errno, directory_, "cannot make");
    // Layers that are being removed still have their names.
    constexpr int kMostNames = 10'000;
    std::string name, path;
    for (int turn = 0; turn < kMostNames; ++turn) {
        name = short_name(++layers_made_);
        path = cat(directory_, "/", name);
        if (::mkdir(path.c_str(), 0700) == 0) break;
        if (errno != EEXIST || turn + 1 == kMostNames)
            return fs::system_failure(errno, path, "cannot make");
    }
    const std::uint64_t used = newest_ == nullptr ? 0 : newest_->disk_bytes;
    // While all is laid out anew, the files are counted twice, and take the disk once.
    const std::uint64_t most = must_lay_out_anew_ || used == 0 ? options_.most_bytes
                               : options_.most_bytes > used    ? options_.most_bytes - used
                                                               : 0;
    return std::make_unique<LayerWriter>(path, name, most);
}

Result<void> Generations::lay_out_anew() {
    must_lay_out_anew_ = true;
    ++rebuilds_;
    ++look_;
    touched_.clear();
    shared_.clear();
    is_all_touched_ = false;
    exclude_ = exclude_stamp();
    looked_ms_ = clock_.steady_ms();
    writer_ = TRY(begin_layer());
    // Removes the directory if this fails.
    auto layer = std::make_shared<const Layer>(directory_, writer_->name(), remover_);
    // The overlay merges the roots of all its layers in any case.
    root_->reaches_live = root_->has_had_live = true;
    TRY(look_at(*root_, open_folder(*root_), Look::anew));
    TRY(writer_->finish());
    newest_ = std::make_shared<const Generation>(
        Generation{directory_, {std::move(layer)}, writer_->bytes()});
    writer_.reset();
    must_lay_out_anew_ = false;
    return {};
}

Result<void> Generations::add_layer() {
    if (exclude_stamp() != exclude_) return lay_out_anew();
    for (const std::string& path : changed_shared()) {
        SourceFolder* const folder = folder_at(fs::split(path).first);
        if (folder != nullptr) touched_.insert(folder);
    }
    if (clock_.steady_ms() - looked_ms_ >= kVerifyMs) is_all_touched_ = true;
    if (!is_all_touched_ && touched_.empty() && unwatched_.empty()) return {};
    ++look_;
    writer_ = TRY(begin_layer());
    auto layer = std::make_shared<const Layer>(directory_, writer_->name(), remover_);
    new_shared_.clear();
    TRY(look_at_touched());
    if (!must_lay_out_anew_ && touch_other_names()) TRY(look_at_touched());
    if (must_lay_out_anew_) {
        writer_.reset();
        return lay_out_anew();
    }
    TRY(writer_->finish());
    if (!writer_->is_empty()) {
        Generation next = *newest_;
        next.layers.insert(next.layers.begin(), std::move(layer));
        next.disk_bytes += writer_->bytes();
        newest_ = std::make_shared<const Generation>(std::move(next));
    }
    writer_.reset();
    return {};
}

Result<void> Generations::look_at_touched() {
    if (std::exchange(is_all_touched_, false)) {
        touched_.clear();
        looked_ms_ = clock_.steady_ms();
        return look_at(*root_, open_folder(*root_), Look::deep);
    }
    std::vector<SourceFolder*> due(touched_.begin(), touched_.end());
    due.insert(due.end(), unwatched_.begin(), unwatched_.end());
    touched_.clear();
    // Parents first: what a parent does not have any more is gone with all that is below it.
    std::ranges::sort(due, {}, [](const SourceFolder* each) { return each->depth(); });
    std::vector<std::string> paths;
    paths.reserve(due.size());
    for (const SourceFolder* each : due) paths.push_back(each->path());
    for (const std::string& path : paths) {
        SourceFolder* const folder = folder_at(path);
        if (folder == nullptr || folder->look == look_) continue;
        const Fd opened = open_folder(*folder);
        // It is gone, which its parent knows, or will be told by an event.
        if (!opened) continue;
        TRY(look_at(*folder, opened, Look::changes));
        if (must_lay_out_anew_) return {};
    }
    return {};
}

// Looks only for a sign that something has happened; refresh() finds out what.
bool Generations::is_outdated() const {
    if (newest_ == nullptr || has_other_rules_ || is_all_touched_ || !touched_.empty() ||
        !unwatched_.empty())
        return true;
    pollfd events{source_->fd(), POLLIN, 0};
    if (events.fd < 0 || ::poll(&events, 1, 0) > 0) return true;
    return exclude_stamp() != exclude_ || !changed_shared().empty() ||
           clock_.steady_ms() - looked_ms_ >= kVerifyMs;
}

// --- events ---

// The watch is set before the folder is listed. A change after the listing thus has an event.
void Generations::watch(SourceFolder& folder, int opened) {
    const int watch = source_->add(opened);
    if (watch >= 0 && watch == folder.watch) return;
    unwatch(folder);
    if (watch < 0) {
        unwatched_.insert(&folder);
        return;
    }
    // A folder that was moved has its watch already; it belongs to the new place now.
    const auto [at, is_new] = watches_.emplace(watch, &folder);
    if (!is_new) std::exchange(at->second, &folder)->watch = -1;
    folder.watch = watch;
}

void Generations::unwatch(SourceFolder& folder) {
    unwatched_.erase(&folder);
    if (folder.watch < 0) return;
    watches_.erase(folder.watch);
    source_->remove(std::exchange(folder.watch, -1));
}

// Call it before the folder is destroyed, with those below it.
void Generations::forget(SourceFolder& top) {
    const std::string below = top.path() + "/";
    const auto first = shared_.lower_bound(below);
    auto last = first;
    while (last != shared_.end() && last->first.starts_with(below)) ++last;
    shared_.erase(first, last);
    std::vector<SourceFolder*> ahead{&top};
    while (!ahead.empty()) {
        SourceFolder& folder = *ahead.back();
        ahead.pop_back();
        unwatch(folder);
        touched_.erase(&folder);
        for (const auto& [name, entry] : folder.entries) {
            if (entry.folder != nullptr) ahead.push_back(entry.folder.get());
        }
    }
}

void Generations::take_events() {
    constexpr int kMostReads = 1024;  // More than the queue of the system holds.
    std::vector<fs::WatchEvent> events;
    for (int turn = 0; turn < kMostReads && source_->read(events); ++turn) {
        for (const fs::WatchEvent& event : events) {
            if ((event.mask & IN_Q_OVERFLOW) != 0) is_all_touched_ = true;
            const auto found = watches_.find(event.watch);
            if (found == watches_.end()) continue;
            SourceFolder& folder = *found->second;
            if ((event.mask & (IN_IGNORED | IN_UNMOUNT)) != 0) {
                watches_.erase(found);
                folder.watch = -1;
            }
            // Work in a tree that is live, such as a build at the root, has no say.
            const bool is_known_live = (event.mask & (IN_MODIFY | IN_CLOSE_WRITE)) != 0 &&
                                       folder.live.contains(event.name);
            if (!is_known_live) touched_.insert(&folder);
        }
        events.clear();
    }
}

std::optional<std::string> Generations::exclude_stamp() const {
    struct stat found {};
    if (!root_fd_ || ::fstatat(root_fd_.get(), kExclude, &found, 0) != 0) return std::nullopt;
    const SourceStatus status(found);
    return cat(status.inode, " ", status.size, " ", status.modified_ns, " ", status.changed_ns);
}

// A file with several names may be written through another one, of which no event comes here.
std::vector<std::string> Generations::changed_shared() const {
    std::vector<std::string> out;
    for (const auto& [path, status] : shared_) {
        struct stat found {};
        const bool is_same =
            ::fstatat(root_fd_.get(), path.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0 &&
            SourceStatus(found) == status;
        if (!is_same) out.push_back(path);
    }
    return out;
}

// A file that gets another name has no event at its first one. Touches the folders of the other names of
// files that were found to have several. Returns false if there are none. O(files) if there are any.
bool Generations::touch_other_names() {
    if (new_shared_.empty()) return false;
    std::vector<SourceFolder*> ahead{root_.get()};
    while (!ahead.empty()) {
        SourceFolder& folder = *ahead.back();
        ahead.pop_back();
        for (const auto& [name, entry] : folder.entries) {
            if (entry.folder != nullptr) {
                ahead.push_back(entry.folder.get());
            } else if (new_shared_.contains(entry.status.inode) &&
                       shared_.emplace(folder.path_of(name), entry.status).second) {
                touched_.insert(&folder);
            }
        }
    }
    return !touched_.empty();
}

SourceFolder* Generations::folder_at(std::string_view path) const {
    SourceFolder* folder = root_.get();
    while (folder != nullptr && !path.empty()) {
        const std::string_view name = path.substr(0, path.find('/'));
        path.remove_prefix(std::min(path.size(), name.size() + 1));
        const auto found = folder->entries.find(name);
        folder = found == folder->entries.end() ? nullptr : found->second.folder.get();
    }
    return folder;
}

Fd Generations::open_folder(const SourceFolder& folder) const {
    return Fd(fs::try_open_beneath(root_fd_.get(), folder.path(), O_RDONLY | O_DIRECTORY));
}

}  // namespace quire::stage
