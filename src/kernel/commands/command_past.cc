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
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/concat.h"
#include "base/fd.h"
#include "base/file_text.h"
#include "base/hex.h"
#include "base/write_all.h"
#include "fs/disk_entries.h"
#include "json/json.h"

namespace quire::kernel {
namespace {

namespace disk = std::filesystem;

constexpr const char* kPastFolder = "/.quire/past";
constexpr const char* kRecordFile = "/past.json";
constexpr std::string_view kUnfinished = "new-";

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
        *name = to_hex(as_bytes(*name));
}
bool to_names(PastChange& change) {
    for (std::string* const name : {&change.path, &change.before.target, &change.after.target}) {
        const auto bytes = from_hex(*name);
        if (!bytes) return false;
        name->assign(bytes->begin(), bytes->end());
    }
    return true;
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
    for (const auto& record : disk::directory_iterator(past, gone)) {
        if (!record.path().filename().string().starts_with(kUnfinished))
            records.push_back(record.path());
    }
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

PastRecorder::~PastRecorder() {
    std::error_code gone;
    if (!is_finished_ && !directory_.empty()) disk::remove_all(directory_, gone);
}

Result<void> PastRecorder::open() {
    if (!directory_.empty()) return {};
    const std::string past = workspace_ + kPastFolder;
    std::error_code failed;
    disk::create_directories(past, failed);
    if (failed) return not_kept(past, failed.message().c_str());
    // mkdtemp() puts letters and digits for the last six.
    std::string made = cat(past, "/", kUnfinished, clock_.wall_ms(), "-", std::string(6, 'X'));
    if (::mkdtemp(made.data()) == nullptr) return not_kept(made, std::strerror(errno));
    directory_ = std::move(made);
    return {};
}

Result<void> PastRecorder::add(PastChange change, std::optional<std::string_view> bytes) {
    TRY(open());
    if (bytes) {
        if (bytes->size() > kMostPastBytes - std::min(size_, kMostPastBytes)) {
            changes_.push_back(change);
            return fail(Errc::out_of_range, "too_large",
                        cat(change.path, " was not kept for an undo: with it, more than ",
                            kMostPastBytes, " bytes would be"),
                        {{"limit", kMostPastBytes}, {"size", bytes->size()}});
        }
        change.bytes = cat(files_);
        TRY(write_file(cat(directory_, "/", change.bytes), *bytes));
        size_ += bytes->size();
        ++files_;
    }
    changes_.push_back(std::move(change));
    return {};
}

Result<std::string> PastRecorder::finish() {
    if (changes_.empty()) return std::string();
    TRY(write_past(directory_, changes_));
    const std::size_t at = directory_.rfind('/') + 1;
    const std::string past = directory_.substr(0, at - 1);
    const std::string name = directory_.substr(at + kUnfinished.size());
    make_room(past, kMostPastBytes - size_);
    const std::string finished = cat(past, "/", name);
    if (::rename(directory_.c_str(), finished.c_str()) != 0)
        return not_kept(finished, std::strerror(errno));
    is_finished_ = true;
    return name;
}

void sweep_past(const std::string& workspace) {
    std::error_code gone;
    for (const auto& record : disk::directory_iterator(workspace + kPastFolder, gone)) {
        if (record.path().filename().string().starts_with(kUnfinished))
            disk::remove_all(record.path(), gone);
    }
}

std::optional<std::string> past_directory(const std::string& workspace, std::string_view name) {
    const bool is_name = !name.empty() && std::ranges::all_of(name, [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               c == '-';
    });
    if (!is_name || name.starts_with(kUnfinished)) return std::nullopt;
    return cat(workspace, kPastFolder, "/", name);
}

Result<std::vector<PastChange>> read_past(const std::string& directory) {
    const Result<Value> value = json::parse(file_text(directory + kRecordFile));
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
    if (!changes.empty()) return {};
    std::error_code gone;
    for (const auto& file : disk::directory_iterator(directory, gone)) {
        if (file.path() != path) disk::remove(file.path(), gone);
    }
    return {};
}

}  // namespace quire::kernel
