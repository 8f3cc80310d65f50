// GitFlush: commits the texts of file documents to a ref of a git repository, beside whatever saves
// them on the disk. Index, branches, tags, work tree and a merge in progress stay untouched.
//
// One commit holds every file whose text differs from the ref's, whole, with edits that are not
// saved. Its tree is that of the commit before it with these files changed; the first commit of a
// ref starts from HEAD, and where HEAD has moved since, its changes come in as a second parent. Files
// that git ignores are left out. The commit's message ends in trailers that name actors, operations
// and versions:
//
//     Quire-Actor: agent:ada
//     Quire-Operation: agent:ada edit v7 src/main.cc
//     Quire-Head: 1f0c…                          the HEAD that the tree includes
//
// Without a call, a flush begins once `after_ms` have passed without a change, and at the end.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/function.h"
#include "json/fields.h"
#include "kernel/files/git_export.h"

namespace quire::sched {
class Scheduler;
}

namespace quire::kernel {

class FileGate;
class Kernel;

// [files.git]
struct GitFlushSettings {
    std::string ref;            // Full; git::is_own_ref() holds.
    std::int64_t after_ms = 0;  // The silence after which a flush begins.
    friend bool operator==(const GitFlushSettings&, const GitFlushSettings&) = default;
};

struct GitFlushed {
    std::string ref;
    std::string commit;                // The ref's tip; "" if there is none.
    std::vector<std::string> files;    // The paths that the new commit changed; none: no commit.
    std::vector<std::string> ignored;  // Changed files that git ignores.
    static json::Fields<GitFlushed> fields() {
        return json::Fields<GitFlushed>()
            .required("ref", &GitFlushed::ref)
            .required("commit", &GitFlushed::commit)
            .required("files", &GitFlushed::files)
            .required("ignored", &GitFlushed::ignored);
    }
};

class GitFlush {
public:
    struct Parts {
        Kernel& kernel;
        FileGate& gate;
        sched::Scheduler& workers;  // Git is waited for there.
        std::string directory;      // The workspace.
        // Is told of a flush that nobody asked for and that failed, once per reason.
        std::function<void(const std::string&)> warn;
    };
    // All parts outlive it and its last reply.
    explicit GitFlush(Parts parts);
    ~GitFlush();
    GitFlush(const GitFlush&) = delete;
    GitFlush& operator=(const GitFlush&) = delete;

    // From now on; none: no flush without a call.
    void set(std::optional<GitFlushSettings> settings);
    // Flushes now. Errors: invalid_argument "no_git_ref" where no ref is set; conflict "ref_moved"
    // if someone else keeps moving the ref; those of git::Repository.
    void flush(Reply<GitFlushed> reply);
    // Commits the history of all files to a new ref (git_export.h).
    void export_history(const Caller& by, std::string ref, Reply<GitExported> reply);
    // Flushes what is left, if a ref is set, and begins no other. Replies once git has ended.
    void stop(Reply<void> reply);

private:
    struct Body;
    std::shared_ptr<Body> body_;
};

}  // namespace quire::kernel
