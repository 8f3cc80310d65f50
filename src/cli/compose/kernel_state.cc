// Steps that a process takes on .quire before it opens the store in it, and the questions that it
// asks about the directory afterwards. A look works on a copy, so the workspace itself is never
// written.
#include "cli/compose/kernel_state.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "base/concat.h"
#include "base/fd.h"
#include "base/hex.h"
#include "store/store.h"

namespace quire::cli {

Result<void> write_ignore_file(const server::StateDirectory& state) {
    const std::string path = state.file(".gitignore");
    // O_EXCL leaves a file that a person has changed, and follows no link.
    const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file && errno == EEXIST) return {};
    if (!file || ::write(file.get(), "*\n", 2) != 2) {
        return fail(Errc::unavailable, "workspace_not_writable",
                    cat("cannot write ", path, ": ", std::strerror(errno)), {{"path", path}});
    }
    return {};
}

Result<server::StateDirectory> copied_state(const KernelProcessOptions& options) {
    const std::string database = cat(options.workspace, "/.quire/quire.db");
    if (::access(database.c_str(), F_OK) == 0) TRY(store::copy_store(database, options.copy_in));
    return server::StateDirectory::at(options.workspace, options.copy_in);
}

// The audit log begins with a hash of its own in every store. A client learns by it that the kernel
// it comes back to serves another store.
std::string store_id(store::Store& store) {
    const Result<store::AuditHash> origin = store.audit_origin();
    return origin ? to_hex(*origin) : std::string();
}

std::string real_path(const std::string& path) {
    std::error_code failed;
    const auto real = std::filesystem::canonical(path, failed);
    return failed ? path : real.string();
}

}  // namespace quire::cli
