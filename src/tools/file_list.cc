// In profile `model` a row costs a model tokens, and a list may have hundreds. Most files have one
// permission, so it is said once; rows leave out what is not known, as the block of a file that is
// not loaded. The text has a row for each file in all profiles.
#include "tools/file_list.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/concat.h"
#include "tools/render.h"

namespace quire::tools {

namespace {

using policy::Permission;

struct BriefFile {
    std::string path;
    std::uint64_t size = 0;
    std::string block_id;
    std::optional<std::uint64_t> version;
    std::optional<Permission> permission;
    static Fields<BriefFile> fields() {
        return Fields<BriefFile>()
            .required("path", &BriefFile::path)
            .required("size", &BriefFile::size)
            .optional("block_id", &BriefFile::block_id)
            .optional("version", &BriefFile::version)
            .optional("permission", &BriefFile::permission);
    }
};
struct BriefList {
    std::vector<BriefFile> files;
    std::optional<Permission> permission;
    bool truncated = false;
    std::optional<std::string> next_cursor;
    std::size_t skipped_names = 0;
    static Fields<BriefList> fields() {
        return Fields<BriefList>()
            .required("files", &BriefList::files)
            .kept()
            .optional("permission", &BriefList::permission)
            .optional("truncated", &BriefList::truncated)
            .optional("next_cursor", &BriefList::next_cursor)
            .optional("skipped_names", &BriefList::skipped_names);
    }
};

// The permission of more files than any other; none for fewer than two files.
std::optional<Permission> most_common(const std::vector<kernel::FileEntry>& files) {
    if (files.size() < 2) return std::nullopt;
    std::map<Permission, std::size_t> counts;
    for (const kernel::FileEntry& file : files) ++counts[file.permission];
    return std::ranges::max_element(counts, {}, [](const auto& each) { return each.second; })
        ->first;
}

BriefList brief(const kernel::FileList& list) {
    BriefList out{.files = {},
                  .permission = most_common(list.files),
                  .truncated = list.truncated,
                  .next_cursor = list.next_cursor,
                  .skipped_names = list.skipped_names};
    for (const kernel::FileEntry& file : list.files) {
        BriefFile row{file.path, file.size, file.block_id, file.version, {}};
        if (file.permission != out.permission) row.permission = file.permission;
        out.files.push_back(std::move(row));
    }
    return out;
}

}  // namespace

ToolResult render_file_list(const kernel::FileList& list, bool had_pattern, Profile profile) {
    std::string text;
    for (const kernel::FileEntry& file : list.files)
        text += cat(file.path, "\t", name_of(file.permission), "\t", file.size, "\n");
    if (list.files.empty()) {
        text = had_pattern ? "No file matches. A pattern without '/' matches file names; "
                             "'DIR/**' matches all below DIR.\n"
                           : "No files.\n";
    }
    if (list.next_cursor)
        text += cat(list.files.size(),
                    " are shown; narrow the pattern, or go on: ", cursor_line(*list.next_cursor));
    else if (list.truncated)
        text += "There are too many files to list them all; narrow the pattern.\n";
    if (list.skipped_names > 0)
        text += cat(list.skipped_names, " with names that are not UTF-8 were left out.\n");
    return profile == Profile::model ? result_of(brief(list), std::move(text))
                                     : result_of(list, std::move(text));
}

}  // namespace quire::tools
