// FaultyVfs: SQLite's file layer with faults, for tests. While one is there, every database that is
// opened goes through it: a write or a flush can be made to fail, or the power to go out, with all
// that was not flushed at stake.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <new>
#include <random>
#include <string>
#include <vector>

#include <sqlite3.h>

#include "base/check.h"

namespace quire::store {

class FaultyVfs {
public:
    enum class Fault { none, write_error, disk_full, flush_error, power_loss };

    FaultyVfs() : base_(sqlite3_vfs_find(nullptr)), vfs_(*base_) {
        vfs_.zName = "quire-faulty";
        vfs_.szOsFile = static_cast<int>(sizeof(File)) + base_->szOsFile;
        vfs_.pAppData = this;
        vfs_.pNext = nullptr;
        vfs_.xOpen = open;
        CHECK(sqlite3_vfs_register(&vfs_, 1) == SQLITE_OK);
    }
    ~FaultyVfs() {
        sqlite3_vfs_unregister(&vfs_);
        sqlite3_vfs_register(base_, 1);
    }
    FaultyVfs(const FaultyVfs&) = delete;
    FaultyVfs& operator=(const FaultyVfs&) = delete;

    // Operations are writes, truncations and flushes, counted from here. The `at`th one (from 0)
    // that the fault applies to fails, and so does each one after it while `lasting`; power loss
    // always lasts.
    void arm(Fault fault, std::int64_t at, bool lasting) {
        const std::lock_guard lock(mutex_);
        fault_ = fault;
        at_ = at;
        lasting_ = lasting || fault == Fault::power_loss;
        seen_ = 0;
        struck_ = false;
    }
    std::int64_t operations() const { return seen_; }
    bool has_struck() const { return struck_; }

    // From now on keeps apart what is flushed and what is not.
    void watch(const std::vector<std::string>& paths) {
        const std::lock_guard lock(mutex_);
        disks_.clear();
        for (const std::string& path : paths) disks_[path].flushed = read_all(path);
    }
    // Contents that a disk may have after a power loss: everything that was flushed, and any part
    // of the rest, sector by sector.
    std::string after_power_loss(const std::string& path, std::mt19937& random) const {
        const Disk& disk = disks_.at(path);
        std::string bytes = disk.flushed;
        const auto kept = random() % 4;  // None, most, few or all of what was not flushed.
        for (const Write& write : disk.unflushed) {
            if (write.is_truncation) {
                if (kept == 3 || random() % 2 == 0)
                    bytes.resize(static_cast<std::size_t>(write.offset));
                continue;
            }
            constexpr std::size_t kSector = 512;
            for (std::size_t at = 0; at < write.bytes.size();) {
                const std::size_t place = static_cast<std::size_t>(write.offset) + at;
                const std::size_t length =
                    std::min(write.bytes.size() - at, kSector - place % kSector);
                const bool keep = kept == 3 || (kept == 1 && random() % 8 != 0) ||
                                  (kept == 2 && random() % 8 == 0);
                if (keep) {
                    if (bytes.size() < place + length) bytes.resize(place + length);
                    bytes.replace(place, length, write.bytes, at, length);
                }
                at += length;
            }
        }
        return bytes;
    }

    static std::string read_all(const std::string& path) {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

private:
    struct Write {
        std::int64_t offset = 0;
        std::string bytes;
        bool is_truncation = false;
    };
    struct Disk {
        std::string flushed;
        std::vector<Write> unflushed;
    };
    struct File {
        sqlite3_file base;
        FaultyVfs* vfs;
        std::string* path;
        sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
    };

    static File* as_file(sqlite3_file* file) { return reinterpret_cast<File*>(file); }
    static sqlite3_file* real(sqlite3_file* file) { return as_file(file)->real(); }

    // The code that this operation returns; SQLITE_OK means that it is carried out.
    int judge(bool is_flush) {
        const bool applies =
            fault_ == Fault::power_loss || (fault_ == Fault::flush_error && is_flush) ||
            ((fault_ == Fault::write_error || fault_ == Fault::disk_full) && !is_flush);
        if (!applies) {
            if (fault_ == Fault::none) ++seen_;
            return SQLITE_OK;
        }
        const std::int64_t number = seen_++;
        if (number < at_ || (number > at_ && !lasting_)) return SQLITE_OK;
        struck_ = true;
        if (fault_ == Fault::disk_full) return SQLITE_FULL;
        return is_flush ? SQLITE_IOERR_FSYNC : SQLITE_IOERR_WRITE;
    }

    Disk* disk_of(sqlite3_file* file) {
        const auto found = disks_.find(*as_file(file)->path);
        return found == disks_.end() ? nullptr : &found->second;
    }

    static int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags,
                    int* out_flags) {
        auto* const self = static_cast<FaultyVfs*>(vfs->pAppData);
        File* const own = as_file(file);
        own->base.pMethods = nullptr;
        own->vfs = self;
        own->real()->pMethods = nullptr;
        const int code = self->base_->xOpen(self->base_, name, own->real(), flags, out_flags);
        if (code != SQLITE_OK) return code;
        own->path = new std::string(name == nullptr ? "" : name);
        own->base.pMethods = methods();
        return SQLITE_OK;
    }

    static const sqlite3_io_methods* methods() {
        static const sqlite3_io_methods all = {
            .iVersion = 1,  // No shared memory: the store has none.
            .xClose =
                [](sqlite3_file* f) {
                    const int code = real(f)->pMethods->xClose(real(f));
                    delete as_file(f)->path;
                    f->pMethods = nullptr;
                    return code;
                },
            .xRead =
                [](sqlite3_file* f, void* to, int length, sqlite3_int64 at) {
                    return real(f)->pMethods->xRead(real(f), to, length, at);
                },
            .xWrite = write,
            .xTruncate = truncate,
            .xSync = flush,
            .xFileSize =
                [](sqlite3_file* f, sqlite3_int64* size) {
                    return real(f)->pMethods->xFileSize(real(f), size);
                },
            .xLock = [](sqlite3_file* f,
                        int level) { return real(f)->pMethods->xLock(real(f), level); },
            .xUnlock = [](sqlite3_file* f,
                          int level) { return real(f)->pMethods->xUnlock(real(f), level); },
            .xCheckReservedLock =
                [](sqlite3_file* f, int* out) {
                    return real(f)->pMethods->xCheckReservedLock(real(f), out);
                },
            .xFileControl =
                [](sqlite3_file* f, int op, void* argument) {
                    return real(f)->pMethods->xFileControl(real(f), op, argument);
                },
            .xSectorSize = [](sqlite3_file* f) { return real(f)->pMethods->xSectorSize(real(f)); },
            .xDeviceCharacteristics =
                [](sqlite3_file* f) { return real(f)->pMethods->xDeviceCharacteristics(real(f)); },
            .xShmMap = nullptr,
            .xShmLock = nullptr,
            .xShmBarrier = nullptr,
            .xShmUnmap = nullptr,
            .xFetch = nullptr,
            .xUnfetch = nullptr,
        };
        return &all;
    }

    static int write(sqlite3_file* file, const void* bytes, int length, sqlite3_int64 offset) {
        FaultyVfs& self = *as_file(file)->vfs;
        const std::lock_guard lock(self.mutex_);
        Disk* const disk = self.disk_of(file);
        const int verdict = self.judge(false);
        if (verdict != SQLITE_OK && self.fault_ != Fault::power_loss) return verdict;
        // The write during which the power goes may have reached the disk in part.
        if (disk != nullptr && (verdict == SQLITE_OK || self.seen_ == self.at_ + 1)) {
            disk->unflushed.push_back(
                {offset,
                 std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(length)),
                 false});
        }
        return verdict != SQLITE_OK
                   ? verdict
                   : real(file)->pMethods->xWrite(real(file), bytes, length, offset);
    }

    static int truncate(sqlite3_file* file, sqlite3_int64 size) {
        FaultyVfs& self = *as_file(file)->vfs;
        const std::lock_guard lock(self.mutex_);
        const int verdict = self.judge(false);
        if (verdict != SQLITE_OK) return verdict;
        if (Disk* const disk = self.disk_of(file)) disk->unflushed.push_back({size, "", true});
        return real(file)->pMethods->xTruncate(real(file), size);
    }

    static int flush(sqlite3_file* file, int flags) {
        FaultyVfs& self = *as_file(file)->vfs;
        const std::lock_guard lock(self.mutex_);
        const int verdict = self.judge(true);
        if (verdict != SQLITE_OK) return verdict;
        if (Disk* const disk = self.disk_of(file)) {
            for (const Write& write : disk->unflushed) {
                const auto offset = static_cast<std::size_t>(write.offset);
                if (write.is_truncation) {
                    disk->flushed.resize(offset);
                    continue;
                }
                if (disk->flushed.size() < offset + write.bytes.size())
                    disk->flushed.resize(offset + write.bytes.size());
                disk->flushed.replace(offset, write.bytes.size(), write.bytes);
            }
            disk->unflushed.clear();
        }
        return real(file)->pMethods->xSync(real(file), flags);
    }

    sqlite3_vfs* base_;
    sqlite3_vfs vfs_;
    mutable std::mutex mutex_;
    Fault fault_ = Fault::none;
    std::int64_t at_ = 0;
    bool lasting_ = false;
    std::atomic<std::int64_t> seen_{0};
    std::atomic<bool> struck_{false};
    std::map<std::string, Disk> disks_;
};

}  // namespace quire::store
