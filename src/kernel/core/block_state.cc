// Most blocks are never appended to, and those that were fall silent: what appending needs is made
// at the first append and given up when nothing waits or is under way.
#include "kernel/core/block_state.h"

#include "base/concat.h"
#include "kernel/core/appends.h"
#include "kernel/core/cursors.h"

namespace quire::kernel {

Failure no_such_block(const std::string& block_id) {
    return fail(Errc::not_found, "invalid_reference",
                cat("there is no block '", block_id, "'; block_list shows those there are"),
                {{"block_id", block_id}});
}

BlockState::BlockState() = default;
BlockState::~BlockState() = default;

Appends& BlockState::appends_made() {
    if (appends == nullptr) appends = std::make_unique<Appends>();
    return *appends;
}
bool BlockState::has_waiting_appends() const {
    return appends != nullptr && !appends->empty();
}
void BlockState::end_append_run(const std::string& actor) {
    if (appends != nullptr) appends->groups.erase(actor);
}
void BlockState::end_append_runs() {
    if (appends != nullptr) appends->groups.clear();
}
void BlockState::forget_idle_appends() {
    const bool is_idle = appends != nullptr && appends->empty() && appends->groups.empty() &&
                         !appends->in_flight && !appends->timer_set;
    if (is_idle) appends = nullptr;
}
bool BlockState::has_append_runs() const {
    return appends != nullptr && !appends->groups.empty();
}

}  // namespace quire::kernel
