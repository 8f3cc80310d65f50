// DiskIntake: takes settled changes of the disk into the documents of files, as calls of
// source:disk, and publishes them.
//
// A change is certain only once the file's bytes have been compared with those last seen: a save of
// our own, which the document has already, is published with the actor who made it; a file that was
// only touched is not published at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/function.h"
#include "fs/tree_watch.h"
#include "kernel/core/hub.h"

namespace quire::kernel {

class FileGate;
class Kernel;
class LiveDocument;
enum class Evidence;

// A change of a file on the disk, whoever made it.
struct FileEvent {
    std::string path;
    fs::ChangeType change_type = fs::ChangeType::modified;
    std::string from = {};      // The path before, of a renamed file.
    std::string block_id = {};  // "" for a file that is not loaded.
    std::string actor = {};     // source:disk, or who saved or deleted it through the kernel.
};

using FileHub = Hub<FileEvent>;

// Any thread. Kernel, gate and hub outlive it and what it began.
class DiskIntake {
public:
    DiskIntake(Kernel& kernel, FileGate& gate, FileHub& hub);

    // Takes a change in, and publishes it. `done` is called when both has happened, or the change
    // was refused.
    void take(fs::TreeChange change, Function<void()> done);
    // Takes in whatever has become of the document's file. Publishes a change.
    void check(const std::shared_ptr<LiveDocument>& document, Evidence evidence,
               Function<void()> done);
    // The hash that the bytes of a loaded file had when they were last seen.
    std::optional<fs::Hash> known_hash(const std::string& path) const;

private:
    struct Body;
    std::shared_ptr<Body> body_;
};

}  // namespace quire::kernel
