// ViewParts: the parts of the kernel that adopted trees work with.
#pragma once

#include <string>

namespace quire {
class Clock;
}

namespace quire::kernel {

class DiskWatch;
class FileCalls;
class FileGate;
class Kernel;

// All outlive whoever has this.
struct ViewParts {
    Kernel& kernel;
    FileGate& gate;
    FileCalls& files;
    Clock& clock;
    std::string workspace;       // Absolute, without links.
    DiskWatch* watch = nullptr;  // The workspace's; null where nobody watches it.
};

}  // namespace quire::kernel
