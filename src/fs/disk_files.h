// DiskFiles: a directory of the real file system, held by its descriptor.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/function.h"
#include "fs/beneath.h"
#include "fs/file_system.h"
#include "sched/guarded.h"

namespace quire::fs {

// Thread-safe: it keeps no state beside the directory and a counter for names.
class DiskFiles final : public FileSystem {
public:
    // Settings of one instance.
    struct Options {
        // Distinguishes unfinished saves of this process from those of a dead one; random per
        // process.
        std::uint64_t incarnation = 0;
        // Is called after each step of a save with the step's name, for tests that stop there.
        Function<void(std::string_view step)> after_step;
    };

    // Errors: not_found "file_not_found"; unsupported "unsupported_kernel" without openat2.
    static Result<std::unique_ptr<DiskFiles>> open(const std::string& directory, Options options);

    Result<Place> resolve(std::string_view path) override;
    Result<Stamp> stamp(const std::string& path) override;
    Result<FileBytes> read(const std::string& path, std::size_t limit) override;
    Result<Saved> save(const std::string& path, std::string_view bytes,
                       const Hash& expected) override;
    Result<Saved> create(const std::string& path, std::string_view bytes) override;
    Result<void> remove(const std::string& path, const Hash& expected) override;
    Result<Listing> list(std::size_t limit, const IgnoreNames& ignore) override;
    Result<std::size_t> sweep() override;

private:
    // A new file beside the one it will replace; unlinked on destruction unless it took its place.
    class Draft;

    DiskFiles(Fd root, Options options) : root_(std::move(root)), options_(std::move(options)) {}

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
    Result<Fd> make_parents(const std::string& parent);
    Result<void> put_back(int parent, Draft& draft, const std::string& name,
                          const std::string& path);

    Fd root_;
    Options options_;
    sched::Guarded<std::uint64_t> drafts_{0};
};

}  // namespace quire::fs
