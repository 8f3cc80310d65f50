// Generation: the files of a workspace at one moment, in directories of ours that nobody writes to.
//
// It is a stack of layers. The lowest has all files; each layer above has what had changed since, with
// whiteouts for what was gone. A stage mounts the stack over the live tree, which still shows through
// where ignore files leave something out (stage/generations.h says how). A layer's directory is removed
// when the last generation with it is gone, and a stage holds the generation that its command sees.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace quire::sched {
class Scheduler;
}

namespace quire::stage {

// The directory of one layer.
class Layer {
public:
    // `remover` removes the directory in the end: it may have many files.
    Layer(std::string parent, std::string name, std::shared_ptr<sched::Scheduler> remover)
        : parent_(std::move(parent)), name_(std::move(name)), remover_(std::move(remover)) {}
    Layer(const Layer&) = delete;
    Layer& operator=(const Layer&) = delete;
    ~Layer();

    const std::string& name() const { return name_; }
    std::string path() const { return parent_ + "/" + name_; }

private:
    const std::string parent_;
    const std::string name_;
    const std::shared_ptr<sched::Scheduler> remover_;
};

// Immutable and shared: a stage keeps the layers alive that its command sees.
struct Generation {
    std::string parent;                                // The directory of all layers.
    std::vector<std::shared_ptr<const Layer>> layers;  // Newest first.
    std::uint64_t disk_bytes = 0;                      // All layers together.

    // The paths of the layers' directories, newest first.
    std::vector<std::string> paths() const;
};

// The beginning of names in .quire for what is being removed. A kernel that is killed leaves them.
inline constexpr const char* kGone = "gone-";

// Removes a directory with all that is in it, also where its permissions forbid that.
void remove_directory(const std::string& directory);

}  // namespace quire::stage
