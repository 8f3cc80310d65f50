// The table names for each mount its device, the directory of that device which it shows, and
// where. Two mounts of one device show the same files where one's directory lies in the other's:
//
//   /dev/sda1  /           at /            inside the device the workspace is /home/eve/w
//   /dev/sda1  /home       at /srv/homes   so it is also at /srv/homes/eve/w
#include "stage/twins.h"

#include <algorithm>
#include <optional>

#include <sys/stat.h>

#include "base/concat.h"
#include "base/file_text.h"

namespace quire::stage {
namespace {

struct Mount {
    std::string device;
    std::string root;   // The directory of the file system that it shows,
    std::string point;  // and where.
};

// Blanks and backslashes of a path are written as three octal digits.
std::string unescaped(std::string_view text) {
    const auto is_octal = [](char c) { return c >= '0' && c <= '7'; };
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool is_escape = text[i] == '\\' && i + 3 < text.size() && is_octal(text[i + 1]) &&
                               is_octal(text[i + 2]) && is_octal(text[i + 3]);
        if (!is_escape) {
            out += text[i];
            continue;
        }
        out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                 (text[i + 3] - '0'));
        i += 3;
    }
    return out;
}

// A line's third to fifth words are the device, the root and the mount point.
std::optional<Mount> mount_in(std::string_view line) {
    std::vector<std::string_view> words;
    while (words.size() < 5 && !line.empty()) {
        const std::size_t end = std::min(line.find(' '), line.size());
        words.push_back(line.substr(0, end));
        line.remove_prefix(std::min(end + 1, line.size()));
    }
    if (words.size() < 5) return std::nullopt;
    return Mount{std::string(words[2]), unescaped(words[3]), unescaped(words[4])};
}

std::vector<Mount> mounts_in(std::string_view table) {
    std::vector<Mount> out;
    while (!table.empty()) {
        const std::size_t end = std::min(table.find('\n'), table.size());
        if (auto mount = mount_in(table.substr(0, end))) out.push_back(std::move(*mount));
        table.remove_prefix(std::min(end + 1, table.size()));
    }
    return out;
}

// The rest of a path below a directory: "" for the directory itself, else it begins with a slash.
std::optional<std::string> below(const std::string& path, const std::string& directory) {
    const std::string start = directory == "/" ? "" : directory;
    if (!path.starts_with(start)) return std::nullopt;
    std::string rest = path.substr(start.size());
    if (rest == "/") rest.clear();
    if (!rest.empty() && !rest.starts_with('/')) return std::nullopt;
    return rest;
}

std::string joined(const std::string& directory, const std::string& rest) {
    return directory == "/" && !rest.empty() ? rest : cat(directory, rest);
}

bool are_same(const std::string& a, const std::string& b) {
    struct stat one {};
    struct stat other {};
    return ::stat(a.c_str(), &one) == 0 && ::stat(b.c_str(), &other) == 0 &&
           one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

}  // namespace

std::vector<Twin> twins_in(std::string_view mounts, const std::string& workspace) {
    const std::vector<Mount> all = mounts_in(mounts);
    // The workspace is in the mount with the longest point; of several, the last one counts.
    const Mount* home = nullptr;
    for (const Mount& each : all) {
        const bool holds = below(workspace, each.point).has_value();
        if (holds && (home == nullptr || each.point.size() >= home->point.size())) home = &each;
    }
    if (home == nullptr) return {};
    const std::string inside = joined(home->root, *below(workspace, home->point));
    std::vector<Twin> out;
    for (const Mount& each : all) {
        if (each.device != home->device) continue;
        Twin twin;
        if (const auto rest = below(inside, each.root)) {
            twin = {joined(each.point, *rest), workspace};
        } else if (const auto part = below(each.root, inside)) {
            twin = {each.point, cat(workspace, *part)};
        } else {
            continue;
        }
        if (!below(twin.path, workspace) && std::ranges::find(out, twin) == out.end())
            out.push_back(std::move(twin));
    }
    return out;
}

std::vector<std::string> twins_of(const std::string& workspace) {
    const std::string mounts = file_text("/proc/self/mountinfo");
    std::vector<std::string> out;
    for (const Twin& twin : twins_in(mounts, workspace)) {
        if (are_same(twin.path, twin.same_as)) out.push_back(twin.path);
    }
    return out;
}

std::string mount_below(std::string_view mounts, const std::string& workspace) {
    for (Mount& each : mounts_in(mounts)) {
        if (each.point != workspace && below(each.point, workspace)) return std::move(each.point);
    }
    return "";
}

std::string mount_below(const std::string& workspace) {
    return mount_below(file_text("/proc/self/mountinfo"), workspace);
}

}  // namespace quire::stage
