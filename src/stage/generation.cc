// A layer goes away with its last user, wherever that is: the work is handed to the remover,
// because a layer may have many files and the last user may be any thread.
#include "stage/generation.h"

#include <filesystem>
#include <system_error>

#include <sys/stat.h>

#include "sched/scheduler.h"

namespace quire::stage {
namespace {

namespace files = std::filesystem;

}  // namespace

Layer::~Layer() {
    remover_->post([place = path()] { remove_directory(place); });
}

std::vector<std::string> Generation::paths() const {
    std::vector<std::string> out;
    out.reserve(layers.size());
    for (const auto& layer : layers) out.push_back(layer->path());
    return out;
}

void remove_directory(const std::string& directory) {
    std::error_code ignored;
    files::remove_all(directory, ignored);
    if (!files::exists(files::symlink_status(directory, ignored))) return;
    // A directory that may not be entered is entered after its permissions were changed, which the
    // iterator sees at the next step down; so some turns reach every depth that a turn cannot.
    constexpr int kTurns = 64;
    for (int turn = 0; turn < kTurns; ++turn) {
        ::chmod(directory.c_str(), 0700);
        for (files::recursive_directory_iterator
                 at(directory, files::directory_options::skip_permission_denied, ignored),
             end;
             at != end; at.increment(ignored)) {
            if (at->is_directory(ignored) && !at->is_symlink(ignored))
                ::chmod(at->path().c_str(), 0700);
        }
        files::remove_all(directory, ignored);
        if (!files::exists(files::symlink_status(directory, ignored))) return;
    }
}

}  // namespace quire::stage
