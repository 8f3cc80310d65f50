// All comparisons are between paths without links, so that a link such as /tmp or /var/run cannot
// hide a place that is in use under its other name. A place above the workspace is hidden too, and
// the workspace is mounted into it afterwards. A place in the workspace stays as it is.
#include "stage/places.h"

#include <algorithm>
#include <climits>

#include <fcntl.h>
#include <unistd.h>

#include "base/concat.h"
#include "base/fd.h"
#include "stage/twins.h"

namespace quire::stage {
namespace {

// The path without links; "" where there is no directory.
std::string real_directory(const std::string& path) {
    const Fd opened(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!opened) return "";
    std::string out(static_cast<std::size_t>(PATH_MAX), '\0');
    const std::string link = cat("/proc/self/fd/", opened.get());
    const ssize_t size = ::readlink(link.c_str(), out.data(), out.size());
    out.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    return out;
}

}  // namespace

bool is_below(const std::string& path, const std::string& folder) {
    return path == folder ||
           (path.starts_with(folder) && path.size() > folder.size() && path[folder.size()] == '/');
}

Places places_of(const std::string& workspace, const std::string& home,
                 const std::vector<std::string>& shown, bool network) {
    Places out;
    const auto hide = [&](const std::string& path, bool writable) {
        const std::string real = real_directory(path);
        if (real.empty() || real == "/" || is_below(real, workspace)) return;
        const auto same = std::ranges::find(out.hidden, real, &HiddenPlace::path);
        if (same == out.hidden.end()) {
            out.hidden.push_back({real, writable});
        } else {
            same->writable |= writable;
        }
    };
    for (const char* const path : {"/tmp", "/var/tmp", "/dev/shm"}) hide(path, true);
    for (const char* const path : {"/run", "/home", "/root", "/media", "/mnt"}) hide(path, false);
    if (!home.empty()) hide(home, true);
    for (const std::string& path : twins_of(workspace)) hide(path, false);
    std::ranges::sort(out.hidden, {}, &HiddenPlace::path);

    std::vector<std::string> wanted = shown;
    // The system's resolver has its settings there, to which /etc/resolv.conf is often a link.
    if (network) wanted.emplace_back("/run/systemd/resolve");
    for (const std::string& path : wanted) {
        const std::string real = real_directory(path);
        const bool is_hidden = std::ranges::any_of(
            out.hidden, [&](const HiddenPlace& each) { return is_below(real, each.path); });
        if (!real.empty() && is_hidden && !is_below(workspace, real) &&
            !is_below(real, workspace) && real != home)
            out.shown.push_back(real);
    }
    return out;
}

}  // namespace quire::stage
