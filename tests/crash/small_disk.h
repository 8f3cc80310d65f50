// A small disk of a test's own, where this process may mount one.
#pragma once

#include <string>

#include <sys/mount.h>

#include "base/test_directory.h"

namespace quire::crash {

class SmallDisk {
public:
    SmallDisk() : mounted_(::mount("tmpfs", path().c_str(), "tmpfs", 0, "size=24m") == 0) {}
    ~SmallDisk() {
        if (mounted_) ::umount2(path().c_str(), MNT_DETACH);
    }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;
    bool is_there() const { return mounted_; }
    const std::string& path() const { return directory_.path(); }
    // Mounts it anew: with "size=100m" it is larger.
    bool remount(unsigned long flags, const char* data) const {
        return ::mount("tmpfs", path().c_str(), "tmpfs", MS_REMOUNT | flags, data) == 0;
    }

private:
    const TestDirectory directory_;
    const bool mounted_;
};

}  // namespace quire::crash
