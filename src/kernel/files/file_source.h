// FileSource: the files of the workspace's directory as a source. It has no rules of its own: the
// calls are those of FileCalls, by an address in place of a path.
#pragma once

#include <string>
#include <vector>

#include "kernel/core/source.h"

namespace quire::kernel {

class DiskWatch;
class FileCalls;
class FileGate;
struct FileReconciled;
class Kernel;

// Takes in every change that was made on the disk before the call. Replies with what it found, as
// FileCalls::reconcile() without paths. Errors: its, and DiskWatch::sync()'s.
void reconcile_disk(DiskWatch& watch, FileCalls& files, const Caller& by,
                    Reply<std::vector<FileReconciled>> reply);

class FileSource final : public Source {
public:
    // All outlive it and its replies. `directory` is the workspace's: absolute.
    struct Parts {
        Kernel& kernel;
        FileGate& gate;
        FileCalls& files;
        DiskWatch& watch;
        std::string directory;
    };
    explicit FileSource(Parts parts) : parts_(std::move(parts)) {}

    SourceSpec spec() const override;
    SourceState state() const override;
    // Returns true for "file:PATH", and for the id of a file's block.
    bool matches(const std::string& address) const override;
    // The permission that the rules give for a path, its links left aside.
    policy::Permission permission_for(const policy::Actor& by,
                                      const std::string& name) const override;
    // The files that were opened at some time.
    std::vector<SourceBlock> blocks(const Caller& by) const override;
    void load(const Caller& by, std::string address, Reply<SourceVersion> reply) override;
    void create(const Caller& by, SourceCreate what, Reply<SourceVersion> reply) override;
    void save(const Caller& by, std::string address, Reply<OfBlock<SourceSaved>> reply) override;
    void erase(const Caller& by, std::string address, Reply<SourceVersion> reply) override;
    void history(const Caller& by, std::string address, std::size_t limit, std::string cursor,
                 Reply<OfBlock<HistoryPage>> reply) override;
    // Without `from` it is the file on the disk, empty if it is gone from there.
    void diff(const Caller& by, std::string address, std::optional<std::string> from,
              std::optional<std::string> to, Reply<OfBlock<BlockDiff>> reply) override;
    void rollback(const Caller& by, std::string address, std::string version_id,
                  Reply<OfBlock<Edited>> reply) override;
    // Replies before the walk over the directory has ended.
    void start_watch(Reply<std::string> reply) override;
    void stop_watch() override;
    // Replies once every change that was made before is in the documents. Errors: those of
    // FileCalls::reconcile().
    void reconcile(const Caller& by, Reply<void> reply) override;

private:
    // The path of "file:PATH", or that of a file's block; "" for an id that is no file's.
    std::string path_of(std::string address) const;

    Parts parts_;
};

}  // namespace quire::kernel
