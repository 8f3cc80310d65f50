// One function for the disk and for its twin in memory, which differ only in how they look at a
// step. The answer is true for the moment of each look: a component may be swapped at once, and
// then the operation that gets the path fails, because it opens without following links
// (beneath.cc).
#include "fs/resolve.h"

#include <deque>

#include "base/concat.h"

namespace quire::fs {
namespace {

constexpr std::size_t kMaxPath = 4096;
constexpr int kMaxLinks = 40;

// Empty components and "." are skipped.
std::deque<std::string> components(std::string_view path) {
    std::deque<std::string> out;
    while (!path.empty()) {
        const std::size_t slash = path.find('/');
        const std::string_view name = path.substr(0, slash);
        if (!name.empty() && name != ".") out.emplace_back(name);
        path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
    }
    return out;
}

std::string join(const std::deque<std::string>& names) {
    std::string out;
    for (const std::string& name : names) cat_to(out, out.empty() ? "" : "/"), cat_to(out, name);
    return out;
}

Failure outside(std::string_view path, std::string_view why) {
    return fail(Errc::denied, "outside_workspace",
                cat(path, " ", why,
                    "; name a file of the workspace by its path from the workspace's root"));
}

}  // namespace

// Works off a queue of components. A link's target is put in front of it; '..' removes the last
// finished component.
Result<Place> resolve(std::string_view path, Function<Result<Look>(const std::string&)> look) {
    if (path.find('\0') != std::string_view::npos)
        return invalid("invalid_path", "a path cannot contain a NUL");
    if (path.size() > kMaxPath) return invalid("invalid_path", "a path has at most 4096 bytes");
    if (path.starts_with('/')) return outside(path, "is absolute");

    Place place;
    place.kind = Kind::directory;
    std::deque<std::string> done;
    std::deque<std::string> todo = components(path);
    int links = 0;
    while (!todo.empty()) {
        const std::string name = std::move(todo.front());
        todo.pop_front();
        if (place.kind != Kind::directory && (place.kind != Kind::missing || name == "..")) {
            return fail(Errc::not_found, "file_not_found",
                        cat("there is no ", path, ": ", join(done), " is not a directory"));
        }
        if (name == "..") {
            if (done.empty()) return outside(path, "leads above the workspace's root");
            done.pop_back();
            continue;
        }
        done.push_back(name);
        if (place.kind == Kind::missing) continue;  // Nothing can exist below a missing entry.
        Look here = TRY(look(join(done)));
        if (!here.name.empty()) done.back() = here.name;
        if (!here.is_link) {
            place.kind = here.kind;
            continue;
        }
        if (++links > kMaxLinks)
            return invalid("invalid_path", cat(path, " goes through more than 40 links"));
        // An absolute target is refused even if it leads below the root: the directory may be known
        // under several absolute paths.
        if (here.target.starts_with('/')) {
            return outside(path,
                           cat("is reached by a link to ", here.target, ", which is absolute"));
        }
        // The name under which the caller reached the file through this link: rules are asked for
        // it too.
        std::string alias = join(done);
        for (const std::string& rest : todo) cat_to(alias, "/"), cat_to(alias, rest);
        place.aliases.push_back(std::move(alias));
        done.pop_back();
        std::deque<std::string> target = components(here.target);
        todo.insert(todo.begin(), target.begin(), target.end());
    }
    place.path = join(done);
    return place;
}

}  // namespace quire::fs
