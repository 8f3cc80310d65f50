// The demo never works on a person's own files: they are copied, without hidden files, builds and
// what is huge, so that a large project is copied in a moment.
#include "cli/commands/demo_workspace.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/utf8.h"
#include "cli/commands/demo_cast.h"
#include "cli/commands/whole_file.h"

namespace quire::cli::show {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRules =
    "# The demo's agents may write anywhere in its workspace.\n"
    "[[files.rules]]\npattern = \"**\"\npermission = \"read_write\"\n";

// A demo needs no more; both bound the time of the copy.
constexpr std::uintmax_t kLargestFile = 1U << 20;
constexpr std::size_t kMostFiles = 5000;

std::string numbered(std::string_view title, int lines) {
    std::string text = cat("# ", title, "\n\n");
    for (int i = 1; i <= lines; ++i) text += cat(i, ". item ", i, " of the ", title, "\n");
    return text;
}

bool is_skipped(const fs::path& name) {
    const std::string text = name.string();
    return text.starts_with('.') || text.starts_with("build") || text == "node_modules" ||
           text == "target" || text == "quire.toml";
}

// Long enough to edit in several places, short enough to print, and without a word that looks like
// a mark.
bool suits(const std::string& text) {
    const auto lines = std::count(text.begin(), text.end(), '\n');
    return lines >= 10 && lines <= 1000 && text.ends_with('\n') && utf8::is_valid(text) &&
           find_marks(text).empty();
}

// The paths of the regular files below `source` that are copied, in order.
std::vector<fs::path> listed(const fs::path& source) {
    std::vector<fs::path> paths;
    std::error_code failed;
    fs::recursive_directory_iterator at(source, fs::directory_options::skip_permission_denied,
                                        failed);
    for (; !failed && at != fs::recursive_directory_iterator() && paths.size() < kMostFiles;
         at.increment(failed)) {
        if (is_skipped(at->path().filename())) {
            at.disable_recursion_pending();
            continue;
        }
        std::error_code unknown;
        if (at->is_regular_file(unknown) && !at->is_symlink(unknown) &&
            at->file_size(unknown) <= kLargestFile) {
            paths.push_back(fs::relative(at->path(), source, unknown));
        }
    }
    std::sort(paths.begin(), paths.end());
    return paths;
}

Result<std::vector<std::string>> copy(const fs::path& source, const fs::path& target) {
    std::vector<std::string> chosen;
    for (const fs::path& path : listed(source)) {
        const auto text = read_file((source / path).string());
        if (!text) continue;
        std::error_code failed;
        fs::create_directories((target / path).parent_path(), failed);
        TRY(replace_file((target / path).string(), *text));
        if (chosen.size() < 2 && suits(*text)) chosen.push_back(path.generic_string());
    }
    if (chosen.size() == 2) return chosen;
    return fail(Errc::not_found, "no_such_file",
                cat(source.string(), " does not hold two text files of 10 to 1000 lines"));
}

}  // namespace

Result<Setting> make_setting(const std::string& source) {
    Setting setting = {TRY(ScratchDirectory::make("quire-demo-")), {"plan.md", "notes.md"}};
    const std::string& root = setting.directory.path();
    TRY(replace_file(root + "/quire.toml", kRules));
    if (source.empty()) {
        TRY(replace_file(root + "/plan.md", numbered("plan", 40)));
        TRY(replace_file(root + "/notes.md", numbered("notes", 40)));
        return setting;
    }
    std::vector<std::string> chosen = TRY(copy(source, root));
    setting.files = {std::move(chosen[0]), std::move(chosen[1])};
    return setting;
}

}  // namespace quire::cli::show
