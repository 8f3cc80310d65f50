// Unified diffs, as diff, git and models write them.
//
// The counts of an "@@" line only help to tell a hunk's end where its lines do not: a line "--- x"
// may be a removed "-- x" or the next file's header. Elsewhere a hunk goes on as long as its lines
// have marks, so a wrong count does no harm. Text before the first hunk, and between the patches of
// a mailbox, is passed over; text behind a hunk is refused, for it may be a line that lost its
// mark.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/concat.h"
#include "base/utf8.h"
#include "edits/patch_lines.h"

namespace quire::edits {
namespace {

constexpr std::string_view kNoFile = "/dev/null";

// A name as it stands in a header, in C's quotes or up to a tab. Nothing if its quotes are broken.
std::optional<std::string> header_name(std::string_view& rest) {
    if (!rest.starts_with('"')) {
        const std::string_view name = rest.substr(0, rest.find('\t'));
        rest.remove_prefix(name.size());
        const std::size_t last = name.find_last_not_of(" \r");
        return std::string(name.substr(0, last == std::string_view::npos ? 0 : last + 1));
    }
    std::string out;
    for (std::size_t i = 1; i < rest.size(); ++i) {
        if (rest[i] == '"') {
            rest.remove_prefix(i + 1);
            return out;
        }
        if (rest[i] != '\\') {
            out += rest[i];
            continue;
        }
        if (++i == rest.size()) break;
        constexpr std::string_view kLetters = "abtnvfr";
        constexpr std::string_view kMeant = "\a\b\t\n\v\f\r";
        if (const std::size_t at = kLetters.find(rest[i]); at != std::string_view::npos) {
            out += kMeant[at];
        } else if (rest[i] >= '0' && rest[i] <= '3' && i + 2 < rest.size()) {
            const auto digit = [&](std::size_t k) { return (rest[i + k] - '0') & 7; };
            out += static_cast<char>(digit(0) * 64 + digit(1) * 8 + digit(2));
            i += 2;
        } else {
            out += rest[i];
        }
    }
    return std::nullopt;
}

bool has_prefix_letter(std::string_view name, std::string_view letters) {
    return name.size() > 2 && name[1] == '/' && letters.find(name[0]) != std::string_view::npos;
}

// The names of both sides without "a/" and "b/", or with git's other letters for the two.
void drop_prefixes(std::string& before, std::string& after) {
    const bool old_has = before == kNoFile || has_prefix_letter(before, "aicow1");
    const bool new_has = after == kNoFile || has_prefix_letter(after, "biwoc2");
    if (!old_has || !new_has) return;
    if (before != kNoFile && after != kNoFile && before[0] == after[0]) return;
    if (before != kNoFile) before.erase(0, 2);
    if (after != kNoFile) after.erase(0, 2);
}

// The one text that both names of a diff without git's headers mean: "x.orig" and "x" mean x, and
// "old/x" and "new/x" too. "" if they cannot be told to mean one.
std::string common_name(std::string_view before, std::string_view after) {
    if (after.starts_with(before)) return std::string(before);
    if (before.starts_with(after)) return std::string(after);
    const std::size_t old_slash = before.find('/');
    const std::size_t new_slash = after.find('/');
    if (old_slash == std::string_view::npos || new_slash == std::string_view::npos) return "";
    before.remove_prefix(old_slash + 1);
    after.remove_prefix(new_slash + 1);
    return before == after ? std::string(after) : "";
}

std::string without_dot(std::string name) {
    while (name.starts_with("./")) name.erase(0, 2);
    return name;
}

// The contents of git's header of a file.
struct GitHeader {
    std::string before, after;  // The names of "diff --git"; "" if it does not tell them.
    std::string moved_from, moved_to;
    std::string old_mode, new_mode;
    bool creates = false;
    bool erases = false;
};

class UnifiedParser {
public:
    explicit UnifiedParser(const PatchLines& lines) : lines_(lines) {}

    Result<std::vector<FilePatch>> parse() {
        while (at_ < lines_.size()) TRY(section());
        TRY(end_file());
        if (files_.empty()) {
            return invalid_patch(
                1,
                "no patch was found. Send a unified diff, whose hunks begin with @@, or *** Begin "
                "Patch … *** End Patch");
        }
        return std::move(files_);
    }

private:
    // One line outside of hunks, or a hunk.
    Result<void> section() {
        const std::string_view line = lines_.header(at_);
        if (line.starts_with("diff --git ")) return begin_git(line.substr(11));
        if (git_ && !has_names_ && !has_hunks()) {
            const bool taken = TRY(git_line(line));
            if (taken) return {};
        }
        if (is_file_header(at_)) return names();
        if (line.starts_with("@@")) return hunk();
        return other(line);
    }

    bool has_hunks() const { return file_ && !file_->hunks.empty(); }

    // A line that belongs to no patch.
    Result<void> other(std::string_view line) {
        const auto starts = [&](std::string_view words) { return line.starts_with(words); };
        if (starts("***************")) {
            return invalid_patch(at_ + 1,
                                 "this is a context diff. Send a unified diff (diff -u)");
        }
        if (starts("GIT binary patch") || starts("Binary files "))
            return invalid_patch(at_ + 1, "patches of binary files cannot be applied");
        const bool ends_mail = is_signature(at_) || line == "-- " || starts("From ");
        const bool begins_next = starts("diff ") || starts("Index: ") || starts("Only in ");
        if (ends_mail || begins_next) {
            TRY(end_file());
            in_prose_ = true;
        } else if (file_ && !in_prose_ && !line.empty() && !starts("=====") && !starts("```") &&
                   !(git_ && !has_names_)) {
            return invalid_patch(at_ + 1,
                                 file_->hunks.empty()
                                     ? "a hunk is expected here; it begins with @@"
                                     : "a line of a hunk begins with a blank, '-' or '+'; a new "
                                       "hunk begins with @@, a new file with --- and +++");
        }
        ++at_;
        return {};
    }

    // "--- x" and "+++ y", one behind the other.
    bool is_file_header(std::size_t at) const {
        return at + 1 < lines_.size() && lines_[at].starts_with("--- ") &&
               lines_[at + 1].starts_with("+++ ");
    }

    Result<void> begin_git(std::string_view names) {
        TRY(end_file());
        file_.emplace();
        file_->patch_line = at_ + 1;
        git_.emplace();
        has_names_ = in_prose_ = false;
        std::string_view rest = names;
        if (names.starts_with('"')) {
            const auto before = header_name(rest);
            if (before && rest.starts_with(' ')) {
                rest.remove_prefix(1);
                if (const auto after = header_name(rest)) set_git_names(*before, *after);
            }
        } else if (names.size() % 2 == 1 && names[names.size() / 2] == ' ') {
            // Names with blanks can be told apart only where both are the same.
            const std::string_view before = names.substr(0, names.size() / 2);
            const std::string_view after = names.substr(names.size() / 2 + 1);
            if (before == after || before.substr(std::min<std::size_t>(2, before.size())) ==
                                       after.substr(std::min<std::size_t>(2, after.size())))
                set_git_names(std::string(before), std::string(after));
        }
        ++at_;
        return {};
    }

    void set_git_names(std::string before, std::string after) {
        drop_prefixes(before, after);
        git_->before = std::move(before);
        git_->after = std::move(after);
    }

    // A line of git's extended header. False for another line.
    Result<bool> git_line(std::string_view line) {
        const auto rest = [&](std::string_view words) -> std::optional<std::string_view> {
            if (!line.starts_with(words)) return std::nullopt;
            return line.substr(words.size());
        };
        const auto name = [&](std::string_view quoted) -> Result<std::string> {
            auto read = header_name(quoted);
            if (!read) return invalid_patch(at_ + 1, "the quotes of this name are broken");
            return std::move(*read);
        };
        if (const auto mode = rest("old mode ")) {
            git_->old_mode = *mode;
        } else if (const auto new_mode = rest("new mode ")) {
            git_->new_mode = *new_mode;
        } else if (const auto made = rest("new file mode ")) {
            git_->creates = true;
            TRY(check_mode(*made));
        } else if (const auto gone = rest("deleted file mode ")) {
            git_->erases = true;
            TRY(check_mode(*gone));
        } else if (const auto from = rest("rename from ")) {
            git_->moved_from = TRY(name(*from));
        } else if (const auto to = rest("rename to ")) {
            git_->moved_to = TRY(name(*to));
        } else if (rest("copy from ") || rest("copy to ")) {
            return invalid_patch(at_ + 1,
                                 "copies cannot be applied. Send the new file as one that is "
                                 "added");
        } else if (!rest("index ") && !rest("similarity index ") &&
                   !rest("dissimilarity index ")) {
            return false;
        }
        ++at_;
        return true;
    }

    Result<void> check_mode(std::string_view mode) const {
        if (mode.starts_with("100")) return {};
        return invalid_patch(at_ + 1, "links and submodules cannot be patched, only text files");
    }

    // Returns true if these names can be those of git's header: a file that is only moved has none of its
    // own, and the next file may have no such header.
    bool are_gits(const std::string& before, const std::string& after) const {
        const auto fits = [](const std::string& name, const std::string& moved,
                             const std::string& told) {
            const std::string& expected = moved.empty() ? told : moved;
            return expected.empty() || name == kNoFile || name == expected;
        };
        return fits(before, git_->moved_from, git_->before) &&
               fits(after, git_->moved_to, git_->after);
    }

    Result<void> names() {
        std::string_view old_rest = lines_.header(at_).substr(4);
        std::string_view new_rest = lines_.header(at_ + 1).substr(4);
        auto before = header_name(old_rest);
        auto after = header_name(new_rest);
        if (!before || !after) return invalid_patch(at_ + 1, "the quotes of this name are broken");
        drop_prefixes(*before, *after);
        if (!file_ || !git_ || has_names_ || has_hunks() || !are_gits(*before, *after)) {
            TRY(end_file());
            file_.emplace();
            file_->patch_line = at_ + 1;
        }
        has_names_ = true;
        in_prose_ = false;
        at_ += 2;
        if (*before == kNoFile && *after == kNoFile)
            return invalid_patch(at_ - 1, "both names are /dev/null");
        if (*before == kNoFile) {
            file_->action = PatchAction::create;
            file_->name = *after;
        } else if (*after == kNoFile) {
            file_->action = PatchAction::erase;
            file_->name = *before;
        } else if (*before == *after || git_) {
            file_->name = *before;
        } else {
            file_->name = common_name(*before, *after);
        }
        return {};
    }

    // Ends the file at hand: settles its names.
    Result<void> end_file() {
        if (!file_) return {};
        FilePatch file = std::move(*file_);
        const GitHeader git = git_.value_or(GitHeader());
        file_.reset();
        git_.reset();
        if (git.old_mode != git.new_mode) {
            return invalid_patch(file.patch_line,
                                 "the patch of the file that begins here changes its mode, which "
                                 "cannot be done by a patch. Leave out the lines \"old mode\" and "
                                 "\"new mode\"");
        }
        if (git.creates) file.action = PatchAction::create;
        if (git.erases) file.action = PatchAction::erase;
        if (file.name.empty()) file.name = git.erases ? git.before : git.after;
        if (!git.moved_from.empty() || !git.moved_to.empty()) {
            if (git.moved_from.empty() || git.moved_to.empty())
                return invalid_patch(file.patch_line, "a rename has two names, from and to");
            file.name = git.moved_from;
            file.new_name = git.moved_to;
        }
        file.name = without_dot(std::move(file.name));
        file.new_name = without_dot(std::move(file.new_name));
        if (file.new_name == file.name) file.new_name.clear();
        if (!utf8::is_valid(file.name) || !utf8::is_valid(file.new_name))
            return invalid_patch(file.patch_line, "the file's name is not UTF-8");
        if (file.hunks.empty() && file.action == PatchAction::update && file.new_name.empty()) {
            return invalid_patch(file.patch_line,
                                 "the patch of the file that begins here has no hunk");
        }
        for (const PatchHunk& hunk : file.hunks) TRY(check_side(file, hunk));
        files_.push_back(std::move(file));
        return {};
    }

    // A file that is created has no old lines, and one that is deleted has no new ones.
    static Result<void> check_side(const FilePatch& file, const PatchHunk& hunk) {
        for (const PatchLine& line : hunk.lines) {
            if (file.action == PatchAction::create && line.mark != PatchMark::added) {
                return invalid_patch(hunk.patch_line,
                                     "the patch creates a file, so all lines of this hunk begin "
                                     "with '+'");
            }
            if (file.action == PatchAction::erase && line.mark != PatchMark::removed) {
                return invalid_patch(hunk.patch_line,
                                     "the patch deletes a file, so all lines of this hunk begin "
                                     "with '-'");
            }
        }
        return {};
    }

    // "-- " before a version ends a mail of git's.
    bool is_signature(std::size_t at) const {
        if (lines_.header(at) != "-- " || at + 1 >= lines_.size()) return false;
        const std::string_view version = lines_[at + 1];
        return !version.empty() && version[0] >= '0' && version[0] <= '9';
    }

    // The lines that a hunk still lacks, by its "@@" line. They may be counted wrongly.
    struct Missing {
        bool counted = false;
        std::size_t old_lines = 0;
        std::size_t new_lines = 0;
        bool over = false;  // It has more lines than were counted.

        bool none() const { return !counted || over || (old_lines == 0 && new_lines == 0); }
        void take(std::string_view line) {
            const char mark = line.empty() ? ' ' : line[0];
            over = over || (mark != '+' && old_lines == 0) || (mark != '-' && new_lines == 0);
            if (over) return;
            if (mark != '+') --old_lines;
            if (mark != '-') --new_lines;
        }
    };

    // Returns true if the two lines here are the next file's header and no removed and added line.
    bool ends_hunk(const Missing& missing) const {
        if (!is_file_header(at_)) return false;
        if (missing.none()) return true;
        if (at_ + 2 >= lines_.size() || !lines_[at_ + 2].starts_with("@@")) return false;
        return missing.old_lines != 1 || missing.new_lines != 1;
    }

    Result<void> hunk() {
        if (!file_) {
            file_.emplace();
            file_->patch_line = at_ + 1;
        }
        PatchHunk hunk;
        hunk.patch_line = at_ + 1;
        const std::string_view header = lines_.header(at_);
        Missing missing;
        if (header.starts_with("@@@"))
            return invalid_patch(at_ + 1, "this is the diff of a merge. Send it against one side");
        if (const auto counts = hunk_counts(header)) {
            hunk.hint = counts->hint;
            missing = {true, counts->old_lines, counts->new_lines};
        } else if (header.starts_with("@@ -")) {
            return invalid_patch(at_ + 1, "a hunk begins with @@ -LINE,COUNT +LINE,COUNT @@");
        } else if (const auto heading = hunk_heading(header); !heading.empty()) {
            hunk.headings.emplace_back(heading);
        }
        for (++at_; at_ < lines_.size(); ++at_) {
            const std::string_view line = lines_[at_];
            if (line.starts_with('\\') && mark_no_newline(hunk)) continue;
            if (!is_hunk_line(line) || ends_hunk(missing) || is_signature(at_)) break;
            if (missing.none()) {
                if (lines_.header(at_) == "-- " && missing.counted && !missing.over) break;
                if (lines_.header(at_).empty() && !goes_on_behind_blank()) break;
            }
            missing.take(line);
            add_hunk_line(hunk, line);
        }
        TRY(check_hunk(hunk));
        file_->hunks.push_back(std::move(hunk));
        return {};
    }

    // True on an empty line if lines of the hunk follow the empty ones.
    bool goes_on_behind_blank() const {
        const std::size_t next = lines_.next_filled(at_);
        if (next == lines_.size()) return false;
        return is_hunk_line(lines_[next]) && !is_file_header(next) && !is_signature(next) &&
               lines_.header(next) != "-- ";
    }

    const PatchLines& lines_;
    std::size_t at_ = 0;
    std::optional<FilePatch> file_;
    std::optional<GitHeader> git_;
    bool has_names_ = false;
    bool in_prose_ = false;
    std::vector<FilePatch> files_;
};

}  // namespace

Result<std::vector<FilePatch>> parse_unified(const PatchLines& lines) {
    return UnifiedParser(lines).parse();
}

}  // namespace quire::edits
