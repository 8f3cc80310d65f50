// Globs of an abstract run: the words that a pattern becomes, in the tree as it was and with what the script
// has made since.
#include <algorithm>

#include "base/concat.h"
#include "shell/pattern.h"
#include "shell/run.h"

namespace quire::shell {

namespace {

constexpr std::size_t kMostMatches = 1024;  // Paths that one pattern fits.

}  // namespace

// Goes through the pattern component by component, in each working directory that there may be.
// Files that an earlier command deletes or hides make the result uncertain, because the tree
// shows the files as they were before the script; names that the script has made are found like
// others. Where no path fits, the word is the pattern itself.
Run::Matches Run::matches(const std::string& pattern) {
    Matches result;
    std::vector<std::string>& out = result.words;
    const bool is_absolute = pattern.starts_with('/');
    const std::vector<std::string> bases =
        is_absolute ? std::vector<std::string>{"/"} : state_->cwds;
    for (const std::string& base : bases) {
        std::vector<std::string> found{is_absolute ? "/" : ""};
        for (std::size_t at = is_absolute ? 1 : 0; at < pattern.size();) {
            const std::size_t slash = std::min(pattern.find('/', at), pattern.size());
            const std::string piece = pattern.substr(at, slash - at);
            const std::string join = slash < pattern.size() ? "/" : "";
            at = slash + 1;
            std::vector<std::string> next;
            for (const std::string& prefix : found) {
                if (!has_wildcard(piece)) {
                    next.push_back(cat(prefix, unescaped(piece), join));
                    continue;
                }
                std::vector<std::string> directories;
                resolved_ = 0;
                resolve(prefix.starts_with('/') ? prefix : cat(base, "/", prefix),
                        LastLink::followed, 0, directories);
                for (const std::string& directory : directories) {
                    std::vector<std::string> names = names_in(directory);
                    if (is_posix_ && piece.starts_with('.')) names.insert(names.end(), {".", ".."});
                    for (const std::string& name : names) {
                        // A wildcard at the beginning takes no dot. The names "." and ".." are
                        // never in the list, as in bash; other shells have them there.
                        if (name.starts_with('.') != piece.starts_with('.')) continue;
                        if (fits(piece, name)) next.push_back(cat(prefix, name, join));
                    }
                }
            }
            found = std::move(next);
            if (found.size() > kMostMatches) {
                warn("too_complex", unescaped(pattern), "it fits too many files");
                return result;
            }
        }
        const auto is_there = [&](const std::string& each) {
            const std::string path = each.starts_with('/') ? each : cat(base, "/", each);
            return look(path).kind != TreeView::Kind::none;
        };
        // Only where a file is there for certain, bash cannot fall back to the pattern itself.
        const bool is_exact = !has_replaced_ && has_plain_sets(pattern);
        const bool is_certain = is_exact && std::any_of(found.begin(), found.end(), is_there);
        result.are_certain = result.are_certain && is_certain && bases.size() == 1 &&
                             std::all_of(found.begin(), found.end(), is_there);
        if (!is_certain) {
            out.push_back(unescaped(pattern));
            result.has_pattern = true;
        }
        const bool was_wild_at_end = has_wildcard(last_component(pattern));
        for (std::string& each : found) {
            const Arg made = Value::of(each);
            if (was_wild_at_end || may_exist(made) || !paths_of(made, LastLink::itself).empty())
                out.push_back(std::move(each));
        }
    }
    if (out.empty()) out.push_back(unescaped(pattern));
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return result;
}

}  // namespace quire::shell
