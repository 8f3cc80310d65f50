// MemoryFiles: the twin of DiskFiles for tests, held to the same contract.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "fs/file_system.h"
#include "sched/guarded.h"

namespace quire::fs {

class MemoryFiles final : public FileSystem {
public:
    // Changes that another program makes.
    void put(const std::string& path, std::string bytes);
    // Other bytes under the same stamp, as a store through a mapping leaves them.
    void put_unseen(const std::string& path, std::string bytes);
    void link(const std::string& path, std::string target);
    void erase(const std::string& path);
    // A further name of the file at `path`; and one outside of the directory.
    void hard_link(const std::string& path, const std::string& name);
    void hard_link_outside(const std::string& path);
    // Another program writes to the file that the first save of the path displaced, through a
    // descriptor that it opened before.
    void write_late(const std::string& path, std::string bytes);
    // Lets time pass, as stamps tell it.
    void pass(std::int64_t ns);
    // From now on the directory cannot be listed.
    void fail_lists();
    // From now on names are found in any case, as on some file systems.
    void ignore_case();

    Result<Place> resolve(std::string_view path) override;
    Result<Stamp> stamp(const std::string& path) override;
    Result<FileBytes> read(const std::string& path, std::size_t limit) override;
    Result<FileBytes> peek(const std::string& path, std::size_t limit) override {
        return read(path, limit);
    }
    Result<Saved> save(const std::string& path, std::string_view bytes,
                       const Hash& expected) override;
    Result<Saved> create(const std::string& path, std::string_view bytes) override;
    Result<void> remove(const std::string& path, const Hash& expected) override;
    Result<Listing> list(std::size_t limit, const IgnoreNames& ignore) override;
    Result<std::size_t> sweep() override { return std::size_t{0}; }

private:
    struct Node {
        std::string bytes;  // For a link, its target.
        bool is_link = false;
        Stamp stamp;
        std::uint64_t identity = 0;  // Equal for the names of one file; 0 where it has one name.
        bool linked_elsewhere = false;
    };
    class Late;
    struct State {
        std::map<std::string, Node> nodes;  // A directory exists if something is below it.
        std::int64_t ticks = 0;
        bool ignores_case = false;
        bool fails_lists = false;
        std::map<std::string, std::shared_ptr<Late>> late;  // Displaced by the first saves.

        void put(const std::string& path, std::string bytes, bool is_link);
        std::string as_spelled(const std::string& path) const;
        Kind kind_of(const std::string& path) const;
        Result<Node*> file(const std::string& path);
        Result<void> make_room_for(const std::string& path) const;
    };
    sched::Guarded<State> state_;
};

}  // namespace quire::fs
