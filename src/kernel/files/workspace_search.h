// WorkspaceSearch: finds lines in the files and blocks that a caller may see.
//
// It looks into every file of the workspace that ignore files do not leave out, opened or not, and into
// conversations and memory. An index of signatures (search_index.h) rules out most of what cannot match,
// unread; what the index does not know is read, and is known from then on. Files are indexed from
// start() on. A file is known by its stamp, so a search sees every change that was made before it, but
// for a store through a mapping where the directory is watched; files that changed within the last two
// seconds, or that have an encoding by rule, are always read. A document in memory is searched there.
//
// Links are not followed: their targets are searched where they are. Results come by path, then
// conversations and memory blocks by name.
#pragma once

#include <memory>
#include <string>

#include "base/function.h"
#include "kernel/core/caller.h"

namespace quire::sched {
class Scheduler;
}

namespace quire::kernel {

class DiskWatch;
class FileGate;
class Kernel;
struct FoundAll;
struct SearchAll;

// Any thread.
class WorkspaceSearch {
public:
    // All outlive it and its last reply.
    struct Parts {
        Kernel& kernel;
        FileGate* gate = nullptr;  // Null: there are no files.
        DiskWatch* watch = nullptr;  // Saves walks over the directory; may be null.
        sched::Scheduler& worker;  // Searches and indexing run there, and wait for the disk.
        std::string index_file = {};  // Keeps the index; "" for none.
    };
    explicit WorkspaceSearch(Parts parts);
    // Searches the documents of a kernel without files, on its own scheduler.
    explicit WorkspaceSearch(Kernel& kernel);
    WorkspaceSearch(const WorkspaceSearch&) = delete;
    WorkspaceSearch& operator=(const WorkspaceSearch&) = delete;
    ~WorkspaceSearch();

    // Reads the index of the last process, and indexes what it lacks.
    void start();
    // Ends what is under way, keeps the index, and replies. Later searches are refused.
    void stop(Reply<void> reply);

    // Errors: those of the store; unavailable "kernel_ending".
    void search(Caller by, SearchAll what, Reply<FoundAll> reply);

private:
    struct Body;
    class Run;
    std::shared_ptr<Body> body_;
};

}  // namespace quire::kernel
