// The order of bwrap's words is the order of its mounts: the root read-only, empty places over it,
// what stays visible into these, and the copy over the workspace. Only then do the empty places
// become read-only, since mount points are made in them. The filter is bytes in memory, handed over
// as a descriptor.
#include "stage/bubblewrap.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/concat.h"
#include "base/write_all.h"
#include "process/spawn.h"
#include "stage/interior.h"
#include "stage/places.h"
#include "stage/refused_calls.h"

namespace quire::stage {

std::string find_bubblewrap(const std::string& workspace) {
    const std::string at = process::found_in_path("bwrap", "/");
    // An agent could have put one into the workspace.
    return at.find('/') == std::string::npos || is_below(at, workspace) ? "" : at;
}

std::string bubblewrap_refusal(const std::string& program) {
    // One answer for the life of this process: the try costs the start of a program.
    static const std::string refusal = [&]() -> std::string {
        SystemClock clock;
        const process::Program asked{
            {program, "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "true"},
            "/",
            {"PATH=/usr/local/bin:/usr/bin:/bin"}};
        const auto ended =
            process::run_program(asked, {.timeout_ms = 10'000, .output_bytes = 400}, clock, {});
        if (!ended) return ended.error().message();
        if (ended->exit_code == 0 && !ended->timed_out) return "";
        const std::string words = ended->output.substr(0, ended->output.find('\n'));
        return words.empty() ? cat(program, " ended with ", ended->exit_code) : words;
    }();
    return refusal;
}

Result<Bubblewrap> Bubblewrap::make(const Plan& plan) {
    static const Result<process::CallFilter> filter = make_filter();
    const process::CallFilter wanted = TRY(filter);
    const auto& code = wanted.code();
    Fd file(::memfd_create("quire-seccomp", MFD_CLOEXEC));
    const std::string_view bytes(reinterpret_cast<const char*>(code.data()),
                                 code.size() * sizeof code[0]);
    if (!file || !write_all(file.get(), bytes) || ::lseek(file.get(), 0, SEEK_SET) != 0)
        return no_stage(cat("the system call filter: ", std::strerror(errno)));
    Bubblewrap made(
        std::move(file),
        LandInterior::observed({"", {}, plan.network, plan.memory_bytes, plan.file_bytes}));
    std::vector<std::string>& words = made.words_;
    const auto add = [&](auto... more) { (words.emplace_back(std::move(more)), ...); };
    add(plan.program, "--unshare-all", "--die-with-parent", "--cap-drop", "ALL", "--hostname",
        "stage", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc");
    if (plan.network) add("--share-net");
    const Places places = places_of(plan.workspace, plan.home, plan.shown, plan.network);
    for (const HiddenPlace& each : places.hidden) {
        // The new /dev has one.
        if (each.path != "/dev/shm") add("--tmpfs", each.path);
    }
    for (const std::string& each : places.shown) add("--ro-bind-try", each, each);
    add("--bind", plan.copy, plan.workspace);
    for (const HiddenPlace& each : places.hidden) {
        if (!each.writable) add("--remount-ro", each.path);
    }
    add("--chdir", plan.cwd, "--seccomp", cat(made.filter_.get()), "--");
    return made;
}

}  // namespace quire::stage
