// DiskFiles: a directory of the real file system, held by its descriptor.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/function.h"
#include "fs/beneath.h"
#include "fs/file_system.h"
#include "fs/resolve.h"
#include "sched/guarded.h"

namespace quire::fs {

// Thread-safe: beside the directory it keeps a counter for names, and which files were found busy.
class DiskFiles final : public FileSystem {
public:
    // Settings of one instance.
    struct Options {
        // Distinguishes unfinished saves of this process from those of a dead one; random per
        // process.
        std::uint64_t incarnation = 0;
        // Is called after each step of a save with the step's name, for tests that stop there.
        Function<void(std::string_view step)> after_step;
        // How long a file that is open for writing must be left alone before it is read, and how
        // long a read waits for that.
        std::int64_t settle_ms = 100;
        std::int64_t busy_ms = 5000;
    };

    // save(), create() and remove() are refused while the directory's path leads elsewhere. Errors:
    // not_found "file_not_found"; unsupported "unsupported_kernel" without openat2.
    static Result<std::unique_ptr<DiskFiles>> open(const std::string& directory, Options options);

    Result<Place> resolve(std::string_view path) override;
    Result<Stamp> stamp(const std::string& path) override;
    Result<FileBytes> read(const std::string& path, std::size_t limit) override;
    Result<FileBytes> peek(const std::string& path, std::size_t limit) override;
    Result<Saved> save(const std::string& path, std::string_view bytes,
                       const Hash& expected) override;
    Result<Saved> create(const std::string& path, std::string_view bytes) override;
    Result<void> remove(const std::string& path, const Hash& expected) override;
    Result<Listing> list(std::size_t limit, const IgnoreNames& ignore) override;
    Result<std::size_t> sweep() override;
    // Like sweep(), but moves the drafts into .quire/recovered of the other directory, which may be on
    // another file system.
    Result<std::size_t> sweep_into(DiskFiles& other);

    // From the next read on.
    void set_settle_ms(std::int64_t ms) {
        settle_ms_.with([ms](std::int64_t& now) { now = ms; });
    }

private:
    // A new file beside the one it will replace; unlinked on destruction unless it took its place.
    class Draft;

    DiskFiles(std::string directory, Fd root, Options options)
        : directory_(std::move(directory)),
          root_(std::move(root)),
          options_(std::move(options)),
          settle_ms_(options_.settle_ms) {}

    // Checks that the directory's path still leads to it, so that nothing is written where nobody
    // looks. Error: unavailable "workspace_removed" {directory}.
    Result<void> check_attached() const;

    void step(std::string_view name) {
        if (options_.after_step) options_.after_step(name);
    }
    // The part of an absolute path that lies below the directory; none if it does not lead there.
    std::optional<std::string> below_root(std::string_view path) const;
    std::string draft_name();
    Result<Draft> write_draft(int parent, std::string_view bytes, mode_t mode,
                              std::string_view path);
    // Opens a regular file for reading, without waiting for the other end of a fifo.
    Result<Fd> open_file(int directory, const std::string& name, const std::string& path);
    // The outcome of reading an open file once; the hash is left out.
    struct ReadOnce {
        FileBytes file;
        bool is_of_one_moment = false;
    };
    // Errors: out_of_range "too_large" {limit, size}; those of the system.
    static Result<ReadOnce> read_once(int fd, const std::string& path, std::size_t limit);
    // Opens the file for reading once no writer is busy with it. Errors: unavailable "busy".
    Result<Fd> open_settled(const std::string& path);
    // The entry at a path whose parents are no links.
    Result<Look> look_at(const std::string& path);
    // Adds the other names of a file with several.
    void find_hard_links(Place& place);
    Result<Fd> make_parents(const std::string& parent);
    // Moves the entry into .quire/recovered, and returns its path there; where that fails it stays.
    std::string recover(int parent, const std::string& name);
    // Undoes the exchange of a save that met other bytes than it expected. Errors: conflict
    // "disk_changed" if the file is replaced over and over; those of the system.
    Result<void> put_back(int parent, Draft& draft, const std::string& name,
                          const std::string& path);

    const std::string directory_;
    Fd root_;
    Options options_;
    sched::Guarded<std::uint64_t> drafts_{0};
    sched::Guarded<std::int64_t> settle_ms_;
    // When reads began to wait for a busy file, and when the last one gave up; milliseconds of the
    // system's monotonic clock.
    struct Wait {
        std::int64_t since = 0, last = 0;
    };
    sched::Guarded<std::map<std::string, Wait>> waits_;
};

}  // namespace quire::fs
