#include "kernel/commands/command_journal.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/concat.h"
#include "base/fd.h"
#include "base/file_text.h"
#include "base/hex.h"
#include "base/value.h"
#include "base/write_all.h"
#include "fs/disk_entries.h"
#include "fs/hash.h"
#include "json/json.h"

namespace quire::kernel {
namespace {

using stage::ChangeKind;

constexpr const char* kName = "/commit.json";

// Names are bytes, and JSON has text.
std::string name_to_hex(const std::string& name) {
    return to_hex(as_bytes(name));
}
std::optional<std::string> name_from_hex(const std::string& digits) {
    const auto bytes = from_hex(digits);
    return bytes ? std::optional(std::string(bytes->begin(), bytes->end())) : std::nullopt;
}

Map value_of(const JournalEntry& entry) {
    return {{"path", name_to_hex(entry.path)},
            {"kind", name_of(entry.kind)},
            {"is_directory", entry.is_directory},
            {"was_link", entry.was_link},
            {"sets_mode", entry.sets_mode},
            {"mode", entry.mode},
            {"target", name_to_hex(entry.target)},
            {"before", entry.before},
            {"after", entry.after}};
}

std::optional<JournalEntry> entry_of(const Value& value) {
    const auto text = [&](std::string_view name) -> std::string {
        const Value* const found = value.get(name);
        return found != nullptr && found->is_string() ? found->as_string() : "";
    };
    const auto flag = [&](std::string_view name) {
        const Value* const found = value.get(name);
        return found != nullptr && found->is_bool() && found->as_bool();
    };
    const std::optional<std::string> path = name_from_hex(text("path"));
    const std::optional<std::string> target = name_from_hex(text("target"));
    const auto kind = enum_named<ChangeKind>(text("kind"));
    const Value* const mode = value.get("mode");
    if (!path || path->empty() || !target || !kind || mode == nullptr || !mode->is_int())
        return std::nullopt;
    return JournalEntry{*path,
                        *kind,
                        flag("is_directory"),
                        flag("was_link"),
                        flag("sets_mode"),
                        static_cast<std::uint32_t>(mode->as_int()),
                        *target,
                        text("before"),
                        text("after")};
}

// The entries of a journal; none if it was not written to its end, for then nothing was begun.
std::optional<std::vector<JournalEntry>> read_journal(const std::string& stage) {
    const Result<Value> value = json::parse(file_text(stage + kName));
    if (!value || !value->is_list()) return std::nullopt;
    std::vector<JournalEntry> out;
    for (const Value& each : value->as_list()) {
        std::optional<JournalEntry> entry = entry_of(each);
        if (!entry) return std::nullopt;
        out.push_back(std::move(*entry));
    }
    return out;
}

// Completes the commit of one stage.
class Completion {
public:
    Completion(const std::string& upper, fs::FileSystem& files, const fs::DiskEntries& disk)
        : upper_(upper), files_(files), disk_(disk) {}

    // Returns the paths that were left alone.
    std::vector<std::string> run(const std::vector<JournalEntry>& entries) {
        const auto each_of = [&](auto wanted, auto work) {
            for (const JournalEntry& each : entries) {
                if (wanted(each) && !work(each)) left_.push_back(each.path);
            }
        };
        // A link that is there again is the one that the command made.
        const auto is_replaced = [&](const JournalEntry& link) {
            return std::any_of(entries.begin(), entries.end(), [&](const JournalEntry& other) {
                return other.path == link.path && other.kind != ChangeKind::deleted;
            });
        };
        each_of([&](const auto& each) { return each.was_link; },
                [&](const auto& each) {
                    const auto gone = disk_.remove_link(each.path);
                    return gone.has_value() || is_replaced(each) || is_gone(each.path);
                });
        // A directory that becomes writable is so before what is in it changes.
        each_of([](const auto& each) { return each.kind == ChangeKind::mode && each.is_directory; },
                [&](const auto& each) {
                    return disk_.set_mode(each.path, each.mode | kToFill).has_value();
                });
        // A path that becomes something of another kind is emptied first.
        const auto is_file = [](const JournalEntry& each) {
            return !each.before.empty() || !each.after.empty();
        };
        each_of([&](const auto& each) { return is_file(each) && each.after.empty(); },
                [&](const auto& each) { return write(each); });
        for (auto each = entries.rbegin(); each != entries.rend(); ++each) {
            if (each->kind == ChangeKind::deleted && each->is_directory)
                static_cast<void>(disk_.remove_directory(each->path));
        }
        each_of([](const auto& each) { return each.kind == ChangeKind::directory; },
                [&](const auto& each) {
                    return disk_.make_directory(each.path, each.mode | kToFill).has_value();
                });
        each_of([&](const auto& each) { return !each.after.empty(); },
                [&](const auto& each) { return write(each); });
        each_of(
            [](const auto& each) { return each.kind == ChangeKind::link; },
            [&](const auto& each) { return disk_.make_link(each.path, each.target).has_value(); });
        // A directory gets its permissions after what is in it.
        for (auto each = entries.rbegin(); each != entries.rend(); ++each) {
            if (each->sets_mode && !disk_.set_mode(each->path, each->mode))
                left_.push_back(each->path);
        }
        return std::move(left_);
    }

private:
    bool is_gone(const std::string& path) {
        const Result<fs::FileBytes> now = files_.read(path, kLargestFile);
        return !now && now.error().code() == Errc::not_found;
    }

    // Gives the file the bytes that the command left, or deletes it.
    bool write(const JournalEntry& entry) {
        const Result<fs::FileBytes> now = files_.read(entry.path, kLargestFile);
        const bool is_missing = !now && now.error().code() == Errc::not_found;
        // The directory that takes the place of a deleted file is there already.
        if (entry.after.empty() && !now && now.error().reason() == "not_a_file") return true;
        if (!now && !is_missing) return false;
        const std::string hash = now ? now->hash.hex() : "";
        if (hash == entry.after) return true;
        if (hash != entry.before) return false;
        if (entry.after.empty()) return files_.remove(entry.path, now->hash).has_value();
        const Result<std::string> bytes = stage::staged_bytes(upper_, entry.path, kLargestFile);
        // After a crash of the machine they may not be what they were.
        if (!bytes || fs::Hash::of(*bytes).hex() != entry.after) return false;
        return (now ? files_.save(entry.path, *bytes, now->hash)
                    : files_.create(entry.path, *bytes))
            .has_value();
    }

    const std::string upper_;
    fs::FileSystem& files_;
    const fs::DiskEntries& disk_;
    std::vector<std::string> left_;
};

}  // namespace

Result<void> write_journal(const std::string& stage, const std::vector<JournalEntry>& entries) {
    List all;
    for (const JournalEntry& each : entries) all.push_back(value_of(each));
    const std::string path = stage + kName;
    // A reader that sees the journal sees all of it.
    const std::string draft = path + ".new";
    const Fd file(::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    const auto failed = [&](const char* why) {
        return fail(Errc::unavailable, "io_error", cat("nothing was committed: ", path, ": ", why),
                    {{"path", path}});
    };
    if (!file) return failed(std::strerror(errno));
    if (const auto written = write_all(file.get(), json::write(std::move(all))); !written)
        return failed(written.error().message().c_str());
    const bool done = ::fdatasync(file.get()) == 0 && ::rename(draft.c_str(), path.c_str()) == 0;
    return done ? Result<void>() : failed(std::strerror(errno));
}

void remove_journal(const std::string& stage) {
    ::unlink((stage + kName).c_str());
}

Result<std::optional<CompletedCommit>> complete_commit(const std::string& stage,
                                                       const std::string& directory,
                                                       fs::FileSystem& files) {
    const auto entries = read_journal(stage);
    if (!entries) return std::nullopt;
    const fs::DiskEntries disk = TRY(fs::DiskEntries::open(directory));
    CompletedCommit out{entries->size(), Completion(stage + "/upper", files, disk).run(*entries)};
    remove_journal(stage);
    return std::optional(std::move(out));
}

std::vector<std::string> complete_commands(const std::string& workspace, fs::FileSystem& files) {
    std::vector<std::string> out;
    std::error_code gone;
    for (const auto& stage :
         std::filesystem::directory_iterator(workspace + "/.quire/stages", gone)) {
        const auto done = complete_commit(stage.path().string(), workspace, files);
        if (!done || !*done) continue;
        const std::vector<std::string>& left = (*done)->left;
        std::string said =
            cat("a kernel was killed while it kept the changes of a command; ",
                (*done)->changes - left.size(), " of ", (*done)->changes, " are kept now");
        for (const std::string& path : left)
            cat_to(said, cat(path == left.front() ? "; left: " : ", ", path));
        out.push_back(std::move(said));
    }
    return out;
}

}  // namespace quire::kernel
