#include "kernel/files/disk_authors.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/concat.h"

namespace quire::kernel {
namespace {

std::string key_of(const policy::Actor& actor, const std::string& key) {
    return cat(actor.str(), "\n", key);
}

bool has(const std::vector<std::string>& paths, const std::string& path) {
    return std::any_of(paths.begin(), paths.end(), [&](const std::string& each) {
        return each == path || (each.ends_with('/') && path.starts_with(each));
    });
}

}  // namespace

void DiskAuthors::expect(const policy::Actor& actor, const std::string& key,
                         std::vector<std::string> paths) {
    const std::int64_t now = clock_.steady_ms();
    all_.with([&](All& all) {
        std::erase_if(all, [&](const auto& each) { return each.second.until_ms <= now; });
        if (all.size() >= kMost) return;
        all.insert_or_assign(key_of(actor, key),
                             Expected{actor, std::move(paths), now + kPatienceMs});
    });
}

std::vector<std::string> DiskAuthors::expected(const policy::Actor& actor,
                                               const std::string& key) const {
    return all_.with([&](const All& all) {
        const auto found = all.find(key_of(actor, key));
        return found == all.end() ? std::vector<std::string>() : found->second.paths;
    });
}

void DiskAuthors::end(const policy::Actor& actor, const std::string& key) {
    const std::int64_t now = clock_.steady_ms();
    all_.with([&](All& all) {
        const auto found = all.find(key_of(actor, key));
        if (found == all.end()) return;
        std::vector<std::string>& paths = found->second.paths;
        std::erase_if(paths, [](const std::string& path) { return !path.ends_with('/'); });
        found->second.until_ms = now + kLingerMs;
        if (paths.empty()) all.erase(found);
    });
}

std::optional<policy::Actor> DiskAuthors::author_of(const std::string& path) const {
    const std::int64_t now = clock_.steady_ms();
    return all_.with([&](const All& all) {
        std::optional<policy::Actor> found;
        for (const auto& [key, each] : all) {
            if (each.until_ms <= now || !has(each.paths, path)) continue;
            if (found && !(*found == each.actor)) return std::optional<policy::Actor>();
            found = each.actor;
        }
        return found;
    });
}

}  // namespace quire::kernel
