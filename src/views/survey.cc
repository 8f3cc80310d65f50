// A survey walks two sorted lists at once, the files on the disk and the heads of the state, as a
// merge of two lists does: a path in one of them alone was made or deleted. A path in both is read
// only if its stamp is not the one that the head remembers, so that a tree in which nothing
// happened costs a listing and no reading.
#include "views/survey.h"

#include <algorithm>
#include <utility>

#include "base/concat.h"

namespace quire::views {
namespace {

constexpr std::size_t kMostFiles = 1'000'000;
constexpr std::uint32_t kOwnerRuns = 0100;

}  // namespace

Result<std::optional<Content>> TreeFiles::read(const std::string& path) const {
    const std::optional<fs::EntryLook> look = TRY(entries_.look(path));
    if (!look || (!look->is_link && look->kind != fs::Kind::file)) return std::nullopt;
    Content out;
    // A link has no stamp of its own here, so its sight is never settled and survey() looks at it
    // each time: that is one readlink.
    if (look->is_link) {
        out.form = Form::link;
        out.bytes = look->target;
        out.sight.hash = fs::Hash::of(out.bytes);
        return out;
    }
    Result<fs::FileBytes> file = files_.read(path, limit_);
    if (!file && file.error().code() == Errc::not_found) return std::nullopt;
    if (!file) return Failure(std::move(file).error());
    out.runs = (look->mode & kOwnerRuns) != 0;
    out.bytes = std::move(file->bytes);
    out.sight = {file->stamp, file->hash};
    return out;
}

Result<std::vector<fs::Entry>> TreeFiles::list(const fs::IgnoreNames& ignore) const {
    std::optional<std::vector<fs::Entry>> entries = known_ ? known_() : std::nullopt;
    if (!entries) {
        fs::Listing listed = TRY(files_.list(kMostFiles, ignore));
        if (listed.truncated) {
            return fail(Errc::out_of_range, "too_many_files",
                        cat("the tree has more than ", kMostFiles, " files"),
                        {{"limit", kMostFiles}});
        }
        entries = std::move(listed.entries);
    }
    // A linked work tree has a file .git, and an adopted tree a file .quire.
    std::erase_if(*entries, [](const fs::Entry& entry) {
        const std::string_view path = entry.path;
        const std::string_view name = path.substr(path.rfind('/') + 1);
        return name == ".git" || name == ".quire";
    });
    return std::move(*entries);
}

Result<Survey> survey(const TreeFiles& tree, TreeState& state, StampDigest Head::*side,
                      const fs::IgnoreNames& ignore,
                      Function<bool(const std::string& path)> skips) {
    Survey out;
    const std::vector<fs::Entry> listed = TRY(tree.list(ignore));
    // Reads the path and decides if it changed. It also remembers the new stamp, which saves the
    // reading next time if somebody only touched the file; digest_of() gives 0 as long as the stamp
    // is too young to be trusted.
    const auto note = [&](const std::string& path) {
        const auto head = state.heads.find(path);
        Result<std::optional<Content>> now = tree.read(path);
        if (!now) {
            out.left.push_back({path, now.error().message(), now.error().reason() == "busy"});
            return;
        }
        if (head == state.heads.end()) {
            if (*now) out.changed.push_back(path);
            return;
        }
        head->second.*side = *now ? digest_of((*now)->sight, head->second.base) : 0;
        const bool is_same = *now && (*now)->form == head->second.form &&
                             (*now)->runs == head->second.runs &&
                             (*now)->sight.hash == head->second.base;
        if (!is_same) out.changed.push_back(path);
    };
    // Both are sorted by path.
    auto head = state.heads.begin();
    for (const fs::Entry& entry : listed) {
        for (; head != state.heads.end() && head->first < entry.path; ++head) {
            if (!skips(head->first)) note(head->first);
        }
        if (skips(entry.path)) continue;
        const bool is_known = head != state.heads.end() && head->first == entry.path;
        const bool is_unchanged = is_known && !entry.is_link && head->second.form == Form::file &&
                                  head->second.*side == digest_of(entry.stamp);
        if (!is_unchanged) note(entry.path);
        if (is_known) ++head;
    }
    for (; head != state.heads.end(); ++head) {
        if (!skips(head->first)) note(head->first);
    }
    return out;
}

}  // namespace quire::views
