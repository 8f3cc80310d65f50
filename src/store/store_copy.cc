// A private copy of a store for those who only look. SQLite could open the file in its place with
// `immutable=1`, but would then pass over the log, and with it over what was acknowledged last. A
// copy has the log, may be migrated, and takes the notes that every call writes.
#include <filesystem>
#include <string>
#include <system_error>

#include "base/concat.h"
#include "store/lock_file.h"
#include "store/store.h"

namespace quire::store {
namespace {

using Path = std::filesystem::path;

Failure not_copied(const Path& file, const std::error_code& error) {
    const bool is_full = error == std::errc::no_space_on_device;
    return fail(Errc::unavailable, is_full ? "disk_full" : "store_not_readable",
                cat("the store cannot be written in its place, and ", file.string(),
                    " cannot be copied: ", error.message(),
                    is_full ? ". Name a larger directory in TMPDIR" : ""),
                {{"file", file.string()}});
}

}  // namespace

Result<void> copy_store(const std::string& path, const std::string& into) {
    const Path database(path);
    const std::string lock = (database.parent_path() / "lock").string();
    TRY(LockFile::require_free(lock));
    for (const Path& file :
         {database, Path(path + "-wal"), database.parent_path() / kLastCommitFile}) {
        std::error_code error;
        if (file != database && !std::filesystem::exists(file, error)) continue;
        const Path copy = Path(into) / file.filename();
        if (!std::filesystem::copy_file(file, copy, error)) return not_copied(file, error);
        std::filesystem::permissions(
            copy, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write, error);
        if (error) return not_copied(file, error);
    }
    // A kernel that began meanwhile may have written between the files.
    return LockFile::require_free(lock);
}

}  // namespace quire::store
