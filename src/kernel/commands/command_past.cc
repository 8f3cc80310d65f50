// The record is a log of lines while the command is committed, and one file when that is done. The
// lines are appended and never changed: a later line of a number replaces an earlier one, and a
// torn line at the end is skipped. finish() writes the file, moves the directory to its place with
// one rename, and so makes the record visible whole.
//
// Failures here never stop a commit. They become notes, and the change cannot be undone.
#include "kernel/commands/command_past.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/concat.h"
#include "base/fd.h"
#include "base/file_text.h"
#include "base/hex.h"
#include "base/write_all.h"
#include "fs/disk_entries.h"
#include "fs/file_system.h"
#include "json/json.h"
#include "kernel/commands/command_journal.h"

namespace quire::kernel {
namespace {

namespace disk = std::filesystem;

constexpr const char* kPastFolder = "/.quire/past";
constexpr const char* kRecordFile = "/past.json";
constexpr const char* kLinesFile = "/changes.json";
// The most bytes of a record without those of files.
constexpr std::size_t kMostRecord = std::size_t{1} << 30;

Failure not_kept(const std::string& path, const char* why) {
    return fail(Errc::unavailable, "io_error", cat(path, ": ", why), {{"path", path}});
}

Result<void> write_file(const std::string& path, std::string_view bytes) {
    const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!file) return not_kept(path, std::strerror(errno));
    return write_all(file.get(), bytes);
}

// Names are bytes, and JSON has text.
void to_text(PastChange& change) {
    for (std::string* const name : {&change.path, &change.before.target, &change.after.target})
        name_to_hex(*name);
}
bool to_names(PastChange& change) {
    return name_from_hex(change.path) && name_from_hex(change.before.target) &&
           name_from_hex(change.after.target);
}

// Returns true if a path is as it was: of the same kind, with the same target or permissions.
bool is_unchanged(const PathState& before, const PathState& after, bool is_mode) {
    return before.kind == after.kind && before.target == after.target &&
           !(is_mode && before.mode != after.mode);
}

// Returns true if the path is as a change of bytes left it.
// Reads the whole file for its hash, so it is asked only after a kill.
bool is_there(const fs::DiskEntries& entries, fs::FileSystem& files, const std::string& path,
              const PathState& after) {
    const Result<PathState> now = path_state(entries, path);
    if (!now || now->kind != after.kind) return false;
    if (now->kind != PathKind::file) return true;
    const Result<fs::FileBytes> bytes = files.read(path, kLargestFile);
    return bytes && bytes->hash.hex() == after.hash;
}

std::uint64_t size_of(const disk::path& directory) {
    std::uint64_t size = 0;
    std::error_code gone;
    for (const auto& file : disk::directory_iterator(directory, gone)) {
        const std::uintmax_t bytes = file.file_size(gone);
        if (!gone) size += bytes;
    }
    return size;
}

// Removes the oldest records until the others take `most` bytes at most and leave a place for one more. Names
// begin with the time.
void make_room(const std::string& past, std::uint64_t most) {
    std::vector<disk::path> records;
    std::error_code gone;
    for (const auto& record : disk::directory_iterator(past, gone))
        records.push_back(record.path());
    std::ranges::sort(records);
    std::uint64_t size = 0;
    std::size_t count = 0;
    for (auto record = records.rbegin(); record != records.rend(); ++record) {
        size += size_of(*record);
        if (size > most || ++count >= kMostPasts) disk::remove_all(*record, gone);
    }
}

}  // namespace

json::Fields<PathState> PathState::fields() {
    return json::Fields<PathState>()
        .required("kind", &PathState::kind)
        .optional("mode", &PathState::mode)
        .optional("target", &PathState::target)
        .optional("hash", &PathState::hash);
}

json::Fields<PastChange> PastChange::fields() {
    return json::Fields<PastChange>()
        .required("path", &PastChange::path)
        .required("before", &PastChange::before)
        .required("after", &PastChange::after)
        .optional("is_mode", &PastChange::is_mode)
        .optional("bytes", &PastChange::bytes);
}

Result<PathState> path_state(const fs::DiskEntries& entries, const std::string& path) {
    const std::optional<fs::EntryLook> look = TRY(entries.look(path));
    if (!look) return PathState{};
    if (look->is_link) return PathState{PathKind::link, 0, look->target, {}};
    switch (look->kind) {
        case fs::Kind::missing:
            return PathState{};
        case fs::Kind::file:
            return PathState{PathKind::file, look->mode, {}, {}};
        case fs::Kind::directory:
            return PathState{PathKind::directory, look->mode, {}, {}};
        case fs::Kind::other:
            break;
    }
    return PathState{PathKind::other, 0, {}, {}};
}

// A line of changes.json. A later line of the same number stands for an earlier one.
struct PastRecorder::Line {
    std::size_t number = 0;
    Progress progress = Progress::announced;
    PastChange change = {};

    static json::Fields<Line> fields() {
        return json::Fields<Line>()
            .required("number", &Line::number)
            .required("progress", &Line::progress)
            .required("change", &Line::change);
    }
};

Result<void> PastRecorder::add_line(std::size_t number) {
    if (!lines_) {
        if (::mkdir(directory_.c_str(), 0700) != 0 && errno != EEXIST)
            return not_kept(directory_, std::strerror(errno));
        const std::string path = directory_ + kLinesFile;
        lines_ = Fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
        if (!lines_) return not_kept(path, std::strerror(errno));
    }
    const Change& change = changes_[number];
    Line line{number, change.progress, change.what};
    to_text(line.change);
    // A line that a full disk has torn stands alone.
    return write_all(lines_.get(), cat("\n", json::write(json::Codec<Line>::encode(line)), "\n"));
}

void PastRecorder::write(std::size_t number) {
    if (const auto written = add_line(number); !written) note(written.error());
}

// Bytes of one command count together; a file that is too large for the rest is left out alone.
Result<std::string> PastRecorder::keep(const PastChange& change, std::string_view bytes) {
    if (bytes.size() > kMostPastBytes - std::min(size_, kMostPastBytes)) {
        return fail(Errc::out_of_range, "too_large",
                    cat(change.path, " was not kept for an undo: with it, more than ",
                        kMostPastBytes, " bytes would be"),
                    {{"limit", kMostPastBytes}, {"size", bytes.size()}});
    }
    const std::string name = cat(files_);
    TRY(write_file(cat(directory_, "/", name), bytes));
    size_ += bytes.size();
    ++files_;
    return name;
}

void PastRecorder::note(const Error& why) {
    notes_.push_back(why.message());
}

// Bytes need a second line, as the first makes the directory for them. A kill between the two comes
// before the change itself, so resume() withdraws the number and nothing is lost.
std::size_t PastRecorder::announce(PastChange change, std::optional<std::string_view> bytes) {
    const std::size_t number = changes_.size();
    changes_.push_back({std::move(change)});
    // The first line makes the directory.
    write(number);
    if (!bytes) return number;
    Result<std::string> name = keep(changes_[number].what, *bytes);
    if (name) {
        changes_[number].what.bytes = std::move(*name);
        write(number);
    } else {
        note(name.error());
    }
    return number;
}

void PastRecorder::made(std::size_t number, PathState after) {
    changes_[number].what.after = std::move(after);
    changes_[number].progress = Progress::made;
    changes_[number].order = ++made_;
    write(number);
}

void PastRecorder::withdraw(std::size_t number) {
    changes_[number].progress = Progress::withdrawn;
    write(number);
}

std::optional<std::size_t> PastRecorder::announce_at(const fs::DiskEntries& entries,
                                                     const std::string& path, bool is_mode) {
    Result<PathState> before = path_state(entries, path);
    if (!before) return std::nullopt;
    return announce({path, std::move(*before), {}, is_mode, {}});
}

// Asks the disk and not the result of the work: some works do nothing, and a failed one may have
// done a part.
void PastRecorder::settle(const fs::DiskEntries& entries, std::size_t number) {
    const PastChange& what = changes_[number].what;
    Result<PathState> after = path_state(entries, what.path);
    if (after && !is_unchanged(what.before, *after, what.is_mode)) {
        made(number, std::move(*after));
    } else {
        withdraw(number);
    }
}

void PastRecorder::resume(const fs::DiskEntries& entries, fs::FileSystem& files) {
    const std::string text = file_text(directory_ + kLinesFile);
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const Result<Value> value = json::parse(std::string_view(text).substr(at, end - at));
        at = end + 1;
        // A line may be torn.
        if (!value) continue;
        json::Read<Line> line = json::read<Line>(*value);
        // A number beyond the size of the file cannot have been written, and would make the list
        // endless.
        if (!line || line->number > text.size() || !to_names(line->change)) continue;
        while (changes_.size() <= line->number) changes_.push_back({{}, Progress::withdrawn, 0});
        changes_[line->number] = {std::move(line->change), line->progress, ++made_};
    }
    for (std::size_t number = 0; number < changes_.size(); ++number) {
        const PastChange what = changes_[number].what;
        if (!what.bytes.empty()) ++files_;
        if (changes_[number].progress != Progress::announced) continue;
        // Only announced changes are open: the kernel was killed after the line and before the next
        // one. The disk tells if the change was made.
        const bool is_of_bytes =
            !what.is_mode && !(what.before.hash.empty() && what.after.hash.empty());
        if (!is_of_bytes) {
            settle(entries, number);
        } else if (is_there(entries, files, what.path, what.after)) {
            made(number, what.after);
        } else {
            withdraw(number);
        }
    }
    size_ = size_of(directory_);
}

// The changes in the order in which they were made, which an undo reverses.
bool PastRecorder::finish(const std::string& name) {
    std::vector<PastChange> kept;
    std::ranges::sort(changes_, {}, &Change::order);
    for (Change& each : changes_) {
        if (each.progress == Progress::made) kept.push_back(std::move(each.what));
    }
    changes_.clear();
    const std::string past = workspace_ + kPastFolder;
    const std::string place = cat(past, "/", name);
    std::error_code failed;
    if (kept.empty()) {
        discard();
        return false;
    }
    Result<void> done = write_past(directory_, kept);
    if (done) {
        disk::create_directories(past, failed);
        make_room(past, kMostPastBytes - std::min(size_, kMostPastBytes));
        if (::rename(directory_.c_str(), place.c_str()) != 0)
            done = not_kept(place, std::strerror(errno));
    }
    if (!done) {
        notes_.push_back(cat("what was changed beside texts cannot be undone: ",
                             std::move(done).error().message()));
        discard();
        return false;
    }
    ::unlink((place + kLinesFile).c_str());
    return true;
}

bool PastRecorder::is_finished(const std::string& workspace, const std::string& name) {
    std::error_code failed;
    return disk::exists(cat(workspace, kPastFolder, "/", name, kRecordFile), failed);
}

void PastRecorder::discard() {
    std::error_code gone;
    disk::remove_all(directory_, gone);
    lines_.reset();
    changes_.clear();
}

void sweep_past(const std::string& workspace) {
    std::error_code gone;
    for (const auto& record : disk::directory_iterator(workspace + kPastFolder, gone)) {
        // kRecordFile without its slash.
        if (!disk::exists(record.path() / (kRecordFile + 1), gone))
            disk::remove_all(record.path(), gone);
    }
}

// The name comes from a client. Letters, digits and '-' cannot lead out of the folder.
std::optional<std::string> past_directory(const std::string& workspace, std::string_view name) {
    const bool is_name = !name.empty() && std::ranges::all_of(name, [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               c == '-';
    });
    if (!is_name) return std::nullopt;
    return cat(workspace, kPastFolder, "/", name);
}

Result<std::vector<PastChange>> read_past(const std::string& directory) {
    const Result<Value> value =
        json::parse(file_text(directory + kRecordFile), {.bytes = kMostRecord});
    const auto gone = [&] {
        return fail(Errc::not_found, "nothing_to_undo",
                    "what the command changed beside texts cannot be undone: its record in "
                    ".quire/past is not there any more");
    };
    if (!value || !value->is_list()) return gone();
    std::vector<PastChange> out;
    for (const Value& each : value->as_list()) {
        json::Read<PastChange> change = json::read<PastChange>(each);
        if (!change || !to_names(*change)) return gone();
        out.push_back(std::move(*change));
    }
    return out;
}

Result<void> write_past(const std::string& directory, const std::vector<PastChange>& changes) {
    List all;
    for (PastChange each : changes) {
        to_text(each);
        all.push_back(json::Codec<PastChange>::encode(each));
    }
    const std::string path = directory + kRecordFile;
    const std::string draft = path + ".new";
    TRY(write_file(draft, json::write(std::move(all))));
    if (::rename(draft.c_str(), path.c_str()) != 0) return not_kept(path, std::strerror(errno));
    // All is undone, so the kept bytes have no use. The empty record stays.
    if (!changes.empty()) return {};
    std::error_code gone;
    for (const auto& file : disk::directory_iterator(directory, gone)) {
        if (file.path() != path) disk::remove(file.path(), gone);
    }
    return {};
}

}  // namespace quire::kernel
