// A store is never read in place when it may be damaged, but for its check: opening a database with a
// log writes to both. Copies are made beside where they are wanted and renamed, so that a moment
// without power leaves a draft at worst.
#include "cli/compose/offline_store.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/concat.h"
#include "base/fd.h"
#include "server/state_directory.h"
#include "store/lock_file.h"
#include "store/store.h"

namespace quire::cli {
namespace {

namespace disk = std::filesystem;

// The database, its log, and the mark of the last commit, by which a loss is noticed.
constexpr std::array<const char*, 3> kStoreFiles = {"quire.db", "quire.db-wal", "last-commit"};

disk::path state_of(const std::string& workspace) {
    return disk::path(workspace) / ".quire";
}

bool is_there(const disk::path& path) {
    std::error_code ignored;
    return disk::exists(disk::symlink_status(path, ignored));
}

Failure no_store(const std::string& workspace) {
    return fail(Errc::not_found, "no_store",
                cat("there is no store in ", workspace,
                    "/.quire; quire restore FILE makes one from a backup"),
                {{"path", workspace}});
}

Failure not_copied(const disk::path& to, const std::error_code& error) {
    const bool is_full = error == std::errc::no_space_on_device;
    return fail(Errc::unavailable, is_full ? "disk_full" : "file_not_writable",
                cat("cannot copy to ", to.string(), ": ", error.message()),
                {{"file", to.string()}});
}

// Copies the files of a store; those that are not there are left out. The copies can be written,
// whatever the mode of the originals: opening a database needs that.
Result<void> copy_files(const disk::path& from, const disk::path& to) {
    for (const char* const name : kStoreFiles) {
        if (!is_there(from / name)) continue;
        std::error_code error;
        disk::copy_file(from / name, to / name, error);
        if (error) return not_copied(to / name, error);
        disk::permissions(to / name, disk::perms::owner_read | disk::perms::owner_write, error);
    }
    return {};
}

// A directory that goes with its end, with all that is in it.
class PassingDirectory {
public:
    static Result<PassingDirectory> make(const std::string& parent, const char* name) {
        std::string path = cat(parent, "/", name, "XXXXXX");
        if (::mkdtemp(path.data()) == nullptr) {
            return not_copied(path, std::error_code(errno, std::generic_category()));
        }
        return PassingDirectory(std::move(path));
    }
    PassingDirectory(PassingDirectory&& other) noexcept : path_(std::exchange(other.path_, {})) {}
    PassingDirectory(const PassingDirectory&) = delete;
    PassingDirectory& operator=(const PassingDirectory&) = delete;
    PassingDirectory& operator=(PassingDirectory&&) = delete;
    ~PassingDirectory() {
        std::error_code ignored;
        if (!path_.empty()) disk::remove_all(path_, ignored);
    }
    disk::path path() const { return path_; }

private:
    explicit PassingDirectory(std::string path) : path_(std::move(path)) {}
    std::string path_;
};

Result<void> flush(const disk::path& path) {
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file && ::fsync(file.get()) == 0) return {};
    return not_copied(path, std::error_code(errno, std::generic_category()));
}

// Why the copy cannot be taken for a store; "" if it can.
std::string all_findings(const kernel::StoreCheck& check) {
    std::string all;
    for (const kernel::CheckFinding& finding : check.findings) {
        if (!finding.mended)
            cat_to(all, cat(all.empty() ? "" : "; ", finding.document,
                            finding.document.empty() ? "" : ": ", finding.what));
    }
    return all;
}

}  // namespace

bool has_store(const std::string& workspace) {
    const disk::path state = state_of(workspace);
    return is_there(state / "quire.db") || is_there(state / "quire.db-wal");
}

Result<void> back_up_offline(const std::string& workspace, const std::string& file) {
    if (!has_store(workspace)) return no_store(workspace);
    const store::Opened opened =
        TRY(store::open_sqlite((state_of(workspace) / "quire.db").string()));
    return opened.store->back_up(file);
}

// The check also makes a wrong search index anew, which is the one thing that it mends.
Result<kernel::StoreCheck> check_offline(const std::string& workspace) {
    if (!has_store(workspace)) return no_store(workspace);
    const store::Opened opened =
        TRY(store::inspect_sqlite((state_of(workspace) / "quire.db").string()));
    return kernel::check_store(*opened.store, true);
}

// Three directories take part: the store as it is, which is only read; `directory`/store, a copy
// that the person keeps; and a second copy that is opened and removed again.
Result<kernel::Salvaged> salvage_offline(const std::string& workspace, const std::string& directory,
                                         const std::string& version) {
    if (!has_store(workspace)) return no_store(workspace);
    const disk::path state = state_of(workspace);
    // Nobody holds a workspace in which nobody may write. The lock is optional for a salvage: a
    // directory on a read-only medium has no lock that could be taken.
    const auto lock = store::LockFile::take((state / "lock").string());
    if (!lock && lock.error().reason() == "workspace_locked") return Failure(lock.error());
    kernel::SalvageDirectory into = TRY(kernel::SalvageDirectory::make(directory));
    const disk::path copy = disk::path(directory) / "store";
    std::error_code error;
    if (!disk::create_directory(copy, error)) return not_copied(copy, error);
    TRY(copy_files(state, copy));

    kernel::SalvageOptions options{.workspace = workspace,
                                   .version = version,
                                   .at_ms = SystemClock().wall_ms(),
                                   .kept_copy = "store/"};
    // A second copy is opened, so that the first stays as it was found.
    const PassingDirectory reading = TRY(PassingDirectory::make(directory, "reading-"));
    TRY(copy_files(copy, reading.path()));
    const auto opened = store::inspect_sqlite((reading.path() / "quire.db").string());
    if (!opened) return kernel::salvage_nothing(into, opened.error(), options);
    return kernel::salvage(*opened->store, std::move(into), options);
}

// The store appears whole or not at all: it is built and checked in a directory beside .quire,
// flushed, and then linked under its name. link() fails if a store has come there meanwhile, where
// a rename would replace it.
Result<kernel::StoreCheck> restore_store(const std::string& workspace, const std::string& file) {
    const disk::path state = state_of(workspace);
    if (has_store(workspace)) {
        return fail(Errc::conflict, "store_exists",
                    cat(state.string(),
                        " has a store already, and it is never written over. "
                        "Restore into another directory, or move that one away"),
                    {{"path", state.string()}});
    }
    std::error_code error;
    if (!disk::is_regular_file(file, error)) {
        return fail(Errc::not_found, "no_file", cat("there is no file ", file), {{"file", file}});
    }
    const PassingDirectory draft = TRY(PassingDirectory::make(workspace, ".quire-restore-"));
    const disk::path database = draft.path() / "quire.db";
    disk::copy_file(file, database, error);
    if (error) return not_copied(database, error);
    disk::permissions(database, disk::perms::owner_read | disk::perms::owner_write, error);
    kernel::StoreCheck check;
    {
        const auto opened = store::inspect_sqlite(database.string());
        if (!opened && opened.error().code() != Errc::corrupt) return Failure(opened.error());
        if (!opened) {
            return fail(Errc::corrupt, "damaged_backup",
                        cat(file, " is no store of quire that opens, and nothing was made of it"),
                        {{"file", file}});
        }
        check = TRY(kernel::check_store(*opened->store, false));
    }
    if (!check.is_clean()) {
        return fail(Errc::corrupt, "damaged_backup",
                    cat(file, " is damaged, and nothing was made of it: ", all_findings(check)),
                    {{"file", file}});
    }
    {
        // Opened for work it moves its log into the database, so that one file is all there is.
        const auto opened = store::open_sqlite(database.string());
        if (!opened) return Failure(opened.error());
    }
    TRY(flush(database));
    const server::StateDirectory made = TRY(server::StateDirectory::open(workspace));
    const auto lock = TRY(store::LockFile::take(made.file("lock")));
    if (::link(database.c_str(), made.file("quire.db").c_str()) != 0)
        return not_copied(made.file("quire.db"), std::error_code(errno, std::generic_category()));
    TRY(flush(made.path()));
    return check;
}

}  // namespace quire::cli
