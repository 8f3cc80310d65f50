// Announcements are in memory only: after a restart changes are attributed to source:disk until
// agents announce again. Expired ones are swept when another comes, so there is no timer. A lookup
// goes through all of them, at most kMost, once for each change that is taken in.
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

bool has(const std::vector<ExpectedChange>& changes, const std::string& path,
         const std::string& hash) {
    // Nobody knows what a command will write below a directory, so any bytes match there. A change
    // whose bytes are unknown has the hash "", and matches only a file that was announced without
    // one.
    return std::any_of(changes.begin(), changes.end(), [&](const ExpectedChange& each) {
        if (each.path.ends_with('/')) return path.starts_with(each.path);
        return each.path == path && (each.hash.empty() || each.hash == hash);
    });
}

}  // namespace

void DiskAuthors::expect(const policy::Actor& actor, const std::string& key,
                         std::vector<ExpectedChange> changes) {
    const std::int64_t now = clock_.steady_ms();
    all_.with([&](All& all) {
        std::erase_if(all, [&](const auto& each) { return each.second.until_ms <= now; });
        // The change will then be attributed to source:disk, which is less exact and still true.
        if (all.size() >= kMost) return;
        all.insert_or_assign(key_of(actor, key),
                             Expected{actor, std::move(changes), now + kPatienceMs});
    });
}

std::vector<std::string> DiskAuthors::expected(const policy::Actor& actor,
                                               const std::string& key) const {
    return all_.with([&](const All& all) {
        std::vector<std::string> paths;
        const auto found = all.find(key_of(actor, key));
        if (found == all.end()) return paths;
        for (const ExpectedChange& each : found->second.changes) paths.push_back(each.path);
        return paths;
    });
}

void DiskAuthors::end(const policy::Actor& actor, const std::string& key) {
    const std::int64_t now = clock_.steady_ms();
    all_.with([&](All& all) {
        const auto found = all.find(key_of(actor, key));
        if (found == all.end()) return;
        std::vector<ExpectedChange>& changes = found->second.changes;
        std::erase_if(changes,
                      [](const ExpectedChange& each) { return !each.path.ends_with('/'); });
        found->second.until_ms = now + kLingerMs;
        if (changes.empty()) all.erase(found);
    });
}

std::optional<policy::Actor> DiskAuthors::author_of(const std::string& path,
                                                    const std::string& hash) const {
    const std::int64_t now = clock_.steady_ms();
    return all_.with([&](const All& all) {
        std::optional<policy::Actor> found;
        for (const auto& [key, each] : all) {
            if (each.until_ms <= now || !has(each.changes, path, hash)) continue;
            // One of two agents made it, and nothing tells which.
            if (found && !(*found == each.actor)) return std::optional<policy::Actor>();
            found = each.actor;
        }
        return found;
    });
}

}  // namespace quire::kernel
