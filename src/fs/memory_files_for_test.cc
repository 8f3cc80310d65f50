#include "fs/memory_files_for_test.h"

#include "base/concat.h"
#include "base/utf8.h"
#include "fs/ignore_chain.h"
#include "fs/resolve.h"

namespace quire::fs {
namespace {

Failure disk_changed(std::string_view path) {
    return fail(Errc::conflict, "disk_changed",
                cat(path, " changed on disk; it was left unchanged"));
}

}  // namespace

// The bytes of a displaced file, which write_late() changes.
class MemoryFiles::Late final : public Displaced {
public:
    explicit Late(std::string bytes) : known_(bytes), now_(std::move(bytes)) {}
    void write(std::string bytes) {
        now_.with([&](std::string& now) { now = std::move(bytes); });
    }
    Result<std::optional<std::string>> changed(std::size_t, bool) override {
        std::string now = now_.with([](const std::string& bytes) { return bytes; });
        if (now == known_) return std::optional<std::string>();
        return std::optional(std::move(now));
    }
    const std::string& known() const override { return known_; }
    void accept(std::string bytes) override { known_ = std::move(bytes); }
    bool is_being_written() const override { return false; }

private:
    std::string known_;
    sched::Guarded<std::string> now_;
};

void MemoryFiles::pass(std::int64_t ns) {
    state_.with([&](State& state) { state.ticks += ns; });
}

void MemoryFiles::State::put(const std::string& path, std::string bytes, bool is_link) {
    Stamp stamp;
    stamp.size = bytes.size();
    stamp.inode = static_cast<std::uint64_t>(++ticks);
    stamp.modified_ns = stamp.changed_ns = ticks;
    stamp.settled = true;  // Ticks never repeat.
    nodes[path] = {std::move(bytes), is_link, stamp};
}

// The last component as a node has it that differs in nothing but case. The rest is as it was spelled
// by earlier calls.
std::string MemoryFiles::State::as_spelled(const std::string& path) const {
    if (!ignores_case || kind_of(path) != Kind::missing) return path;
    const auto lower = [](std::string text) {
        for (char& c : text) {
            if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        }
        return text;
    };
    for (const auto& [name, node] : nodes) {
        if (name.size() >= path.size() &&
            (name.size() == path.size() || name[path.size()] == '/') &&
            lower(name.substr(0, path.size())) == lower(path))
            return name.substr(0, path.size());
    }
    return path;
}

Kind MemoryFiles::State::kind_of(const std::string& path) const {
    if (path.empty()) return Kind::directory;
    if (nodes.count(path) > 0) return Kind::file;
    const auto below = nodes.lower_bound(path + "/");
    return below != nodes.end() && below->first.starts_with(path + "/") ? Kind::directory
                                                                        : Kind::missing;
}

Result<MemoryFiles::Node*> MemoryFiles::State::file(const std::string& path) {
    const auto node = nodes.find(path);
    if (node != nodes.end() && !node->second.is_link) return &node->second;
    if (node != nodes.end())
        return fail(Errc::conflict, "path_changed", cat(path, " became a link"));
    if (kind_of(path) == Kind::directory)
        return invalid("not_a_file", cat(path, " is a directory, not a file"));
    return fail(Errc::not_found, "file_not_found", cat("there is no ", path));
}

// A directory exists through its files, so each parent must not be a file.
Result<void> MemoryFiles::State::make_room_for(const std::string& path) const {
    if (kind_of(path) != Kind::missing)
        return fail(Errc::conflict, "file_exists", cat(path, " exists already"));
    for (std::size_t at = path.find('/'); at != std::string::npos; at = path.find('/', at + 1)) {
        if (nodes.count(path.substr(0, at)) > 0) {
            return fail(Errc::not_found, "file_not_found",
                        cat(path.substr(0, at), " is not a directory"));
        }
    }
    return {};
}

void MemoryFiles::put(const std::string& path, std::string bytes) {
    state_.with([&](State& state) { state.put(path, std::move(bytes), false); });
}
void MemoryFiles::put_unseen(const std::string& path, std::string bytes) {
    state_.with([&](State& state) { state.nodes.at(path).bytes = std::move(bytes); });
}
void MemoryFiles::link(const std::string& path, std::string target) {
    state_.with([&](State& state) { state.put(path, std::move(target), true); });
}
void MemoryFiles::hard_link(const std::string& path, const std::string& name) {
    state_.with([&](State& state) {
        Node& node = state.nodes.at(path);
        if (node.identity == 0) node.identity = static_cast<std::uint64_t>(++state.ticks);
        state.nodes[name] = node;
    });
}
void MemoryFiles::hard_link_outside(const std::string& path) {
    state_.with([&](State& state) { state.nodes.at(path).linked_elsewhere = true; });
}
void MemoryFiles::write_late(const std::string& path, std::string bytes) {
    state_.with([&](State& state) { state.late.at(path)->write(std::move(bytes)); });
}
void MemoryFiles::fail_lists() {
    state_.with([](State& state) { state.fails_lists = true; });
}

void MemoryFiles::ignore_case() {
    state_.with([](State& state) { state.ignores_case = true; });
}
void MemoryFiles::erase(const std::string& path) {
    state_.with([&](State& state) { state.nodes.erase(path); });
}

Result<Place> MemoryFiles::resolve(std::string_view path) {
    Place place = TRY(fs::resolve(path, [&](const std::string& at) -> Result<Look> {
        return state_.with([&](State& state) -> Look {
            const std::string here = state.as_spelled(at);
            const std::string name = here.substr(here.rfind('/') + 1);
            const auto node = state.nodes.find(here);
            if (node != state.nodes.end() && node->second.is_link)
                return {Kind::missing, true, node->second.bytes, name};
            return {state.kind_of(here), false, "", name};
        });
    }));
    state_.with([&](State& state) {
        const auto node = state.nodes.find(place.path);
        if (node == state.nodes.end()) return;
        place.linked_elsewhere = node->second.linked_elsewhere;
        for (const auto& [name, other] : state.nodes) {
            if (other.identity != 0 && other.identity == node->second.identity &&
                name != place.path)
                place.hard_links.push_back(name);
        }
    });
    return place;
}

Result<Stamp> MemoryFiles::stamp(const std::string& path) {
    return state_.with([&](State& state) -> Result<Stamp> { return TRY(state.file(path))->stamp; });
}

Result<FileBytes> MemoryFiles::read(const std::string& path, std::size_t limit) {
    return state_.with([&](State& state) -> Result<FileBytes> {
        const Node* node = TRY(state.file(path));
        if (node->bytes.size() > limit) {
            Map details;
            details.set("limit", limit);
            details.set("size", node->bytes.size());
            return fail(Errc::out_of_range, "too_large",
                        cat(path, " has more than ", limit, " bytes"), std::move(details));
        }
        return FileBytes{node->bytes, Hash::of(node->bytes), node->stamp};
    });
}

// Has the same errors as the real one, in the same order.
Result<Saved> MemoryFiles::save(const std::string& path, std::string_view bytes,
                                const Hash& expected) {
    return state_.with([&](State& state) -> Result<Saved> {
        auto node = state.file(path);
        if (!node && node.error().code() == Errc::not_found) return disk_changed(path);
        if (!node) return Failure(std::move(node).error());
        if ((*node)->identity != 0 || (*node)->linked_elsewhere) {
            return fail(Errc::conflict, "hard_linked",
                        cat(path, " was not saved: the file has several names"));
        }
        if (Hash::of((*node)->bytes) != expected) return disk_changed(path);
        const auto displaced = std::make_shared<Late>((*node)->bytes);
        state.late.try_emplace(path, displaced);
        state.put(path, std::string(bytes), false);
        return Saved{Hash::of(bytes), state.nodes[path].stamp, {}, displaced};
    });
}

Result<Saved> MemoryFiles::create(const std::string& path, std::string_view bytes) {
    return state_.with([&](State& state) -> Result<Saved> {
        TRY(state.make_room_for(path));
        state.put(path, std::string(bytes), false);
        return Saved{Hash::of(bytes), state.nodes[path].stamp, {}, nullptr};
    });
}

Result<void> MemoryFiles::remove(const std::string& path, const Hash& expected) {
    return state_.with([&](State& state) -> Result<void> {
        const Node* node = TRY(state.file(path));
        if (Hash::of(node->bytes) != expected) return disk_changed(path);
        state.nodes.erase(path);
        return {};
    });
}

namespace {

// The paths that ignore files leave out, with the chain of each folder made when first asked for.
class IgnoredNodes {
public:
    using Read = Function<std::optional<std::string>(const std::string& path)>;
    IgnoredNodes(const IgnoreNames& names, Read read) : names_(names), read_(std::move(read)) {}

    bool holds(const std::string& path, bool is_folder) {
        const std::size_t slash = path.rfind('/');
        const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash);
        const auto* const chain = chain_of(folder);
        return chain == nullptr || chain->ignores(path, is_folder);
    }

private:
    // Returns null for a folder that is left out itself.
    const text::IgnoreChain* chain_of(const std::string& folder) {
        const auto known = chains_.find(folder);
        if (known != chains_.end()) return known->second ? &*known->second : nullptr;
        std::optional<text::IgnoreChain> chain;
        if (folder.empty() || !holds(folder, true)) {
            const std::size_t slash = folder.rfind('/');
            const text::IgnoreChain parent =
                folder.empty()
                    ? text::IgnoreChain()
                    : *chain_of(slash == std::string::npos ? "" : folder.substr(0, slash));
            chain = chain_below(parent, folder, names_,
                                [this](const std::string& path) { return read_(path); });
        }
        const auto& kept = chains_.emplace(folder, std::move(chain)).first->second;
        return kept ? &*kept : nullptr;
    }

    const IgnoreNames& names_;
    Read read_;
    std::map<std::string, std::optional<text::IgnoreChain>> chains_;
};

}  // namespace

// Directories are not entries; a limit truncates.
Result<Listing> MemoryFiles::list(std::size_t limit, const IgnoreNames& ignore) {
    return state_.with([&](State& state) -> Result<Listing> {
        if (state.fails_lists) return fail(Errc::unavailable, "io_error", "the disk is gone");
        Listing listing;
        IgnoredNodes ignored(ignore, [&](const std::string& path) -> std::optional<std::string> {
            const auto node = state.nodes.find(path);
            if (node == state.nodes.end() || node->second.is_link) return {};
            return node->second.bytes;
        });
        for (const auto& [path, node] : state.nodes) {
            const std::string inside = cat("/", path, "/");
            if (inside.find("/.git/") != std::string::npos ||
                inside.find("/.quire/") != std::string::npos)
                continue;
            if (ignored.holds(path, false)) continue;
            std::vector<Entry>& entries = utf8::is_valid(path) ? listing.entries : listing.unnamed;
            if (entries.size() == limit) {
                listing.truncated = true;
                break;
            }
            entries.push_back(
                {path, node.is_link ? 0 : node.bytes.size(), node.is_link, node.stamp});
        }
        return listing;
    });
}

}  // namespace quire::fs
