// The envelope that models write: "*** Begin Patch", a section for each file, "*** End Patch".
// Hunks have no numbers; "@@ class Poem" names a line above the hunk. The end must be there, for a
// patch that was cut off must not be applied in part.
//
//   *** Begin Patch
//   *** Update File: NAME      *** Move to: NAME, hunks of "@@", ' ', '-', '+', *** End of File
//   *** Add File: NAME         lines of '+'
//   *** Delete File: NAME      nothing
//   *** End Patch
//
// Models leave out marks on empty lines and put empty lines between sections, so an empty line is
// context where a hunk goes on behind it, and separates otherwise.
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/concat.h"
#include "edits/patch_lines.h"

namespace quire::edits {
namespace {

class EnvelopeParser {
public:
    EnvelopeParser(const PatchLines& lines, std::size_t begin) : lines_(lines), at_(begin + 1) {}

    Result<std::vector<FilePatch>> parse() {
        for (; at_ < lines_.size(); ++at_) {
            const std::string_view line = trimmed();
            if (line.empty()) continue;
            if (line == "*** End Patch") return end();
            if (const auto name = named("*** Add File:")) {
                TRY(add_file(*name));
            } else if (const auto erased = named("*** Delete File:")) {
                TRY(start(PatchAction::erase, *erased));
            } else if (const auto updated = named("*** Update File:")) {
                TRY(update_file(*updated));
            } else {
                return invalid_patch(at_ + 1,
                                     "expected *** Update File: NAME, *** Add File: NAME, *** "
                                     "Delete File: NAME or *** End Patch");
            }
        }
        return invalid_patch(lines_.size(),
                             "the patch ends without *** End Patch. Send all of it");
    }

private:
    std::string_view trimmed() const {
        std::string_view line = lines_[at_];
        while (line.ends_with(' ') || line.ends_with('\t') || line.ends_with('\r'))
            line.remove_suffix(1);
        return line;
    }

    // The name behind `words` on this line.
    std::optional<std::string_view> named(std::string_view words) const {
        std::string_view line = trimmed();
        if (!line.starts_with(words)) return std::nullopt;
        line.remove_prefix(words.size());
        while (line.starts_with(' ')) line.remove_prefix(1);
        while (line.starts_with("./")) line.remove_prefix(2);
        return line;
    }

    Result<void> start(PatchAction action, std::string_view name) {
        if (name.empty()) return invalid_patch(at_ + 1, "the line names no file");
        files_.push_back({action, std::string(name), {}, at_ + 1, {}});
        return {};
    }

    Result<std::vector<FilePatch>> end() {
        for (std::size_t i = at_ + 1; i < lines_.size(); ++i) {
            const std::string_view line = lines_.header(i);
            // Ends of a shell's here-document and of a code block, from which a patch is often
            // copied.
            if (line.empty() || line == "EOF" || line.starts_with("```")) continue;
            return invalid_patch(i + 1, "nothing may follow *** End Patch. Send another call");
        }
        if (files_.empty()) return invalid_patch(at_ + 1, "the patch has no section for a file");
        return std::move(files_);
    }

    bool at_section() const { return trimmed().starts_with("*** "); }

    // True on an empty line if only such are left before the next section or hunk.
    bool only_separates() const {
        const std::size_t next = lines_.next_filled(at_);
        if (next == at_) return false;
        return next == lines_.size() || lines_[next].starts_with("*** ") ||
               lines_[next].starts_with("@@");
    }

    // The lines up to the next section are the file's. Ends on the last of them.
    Result<void> add_file(std::string_view name) {
        TRY(start(PatchAction::create, name));
        PatchHunk hunk;
        hunk.patch_line = at_ + 1;
        hunk.tells_final_newline = false;
        for (++at_; at_ < lines_.size() && !at_section(); ++at_) {
            if (only_separates()) continue;
            const std::string_view line = lines_[at_];
            if (line.starts_with('\\') && mark_no_newline(hunk)) continue;
            if (!line.starts_with('+') && !lines_.header(at_).empty())
                return invalid_patch(at_ + 1, "every line of a file to add begins with '+'");
            add_hunk_line(hunk, line);
            hunk.lines.back().mark = PatchMark::added;
        }
        --at_;
        if (hunk.lines.empty()) return {};
        TRY(check_hunk(hunk));
        files_.back().hunks.push_back(std::move(hunk));
        return {};
    }

    Result<void> update_file(std::string_view name) {
        TRY(start(PatchAction::update, name));
        ++at_;
        if (at_ < lines_.size()) {
            if (const auto to = named("*** Move to:")) {
                if (to->empty()) return invalid_patch(at_ + 1, "the line names no file");
                files_.back().new_name = *to;
                ++at_;
            }
        }
        while (at_ < lines_.size() && !at_section()) {
            if (only_separates()) {
                ++at_;
                continue;
            }
            files_.back().hunks.push_back(TRY(hunk()));
        }
        --at_;
        const FilePatch& file = files_.back();
        if (file.hunks.empty() && file.new_name.empty())
            return invalid_patch(file.patch_line, "the section that begins here has no hunk");
        return {};
    }

    // Ends behind the hunk.
    Result<PatchHunk> hunk() {
        PatchHunk hunk;
        hunk.patch_line = at_ + 1;
        hunk.tells_final_newline = false;
        for (; at_ < lines_.size() && lines_[at_].starts_with("@@"); ++at_) {
            if (const auto counts = hunk_counts(lines_.header(at_))) {
                hunk.hint = counts->hint;
            } else if (const auto heading = hunk_heading(lines_.header(at_)); !heading.empty()) {
                hunk.headings.emplace_back(heading);
            }
        }
        for (; at_ < lines_.size() && !lines_[at_].starts_with("@@"); ++at_) {
            const std::string_view line = lines_[at_];
            if (trimmed() == "*** End of File") {
                hunk.at_end = true;
                ++at_;
                break;
            }
            if (at_section() || only_separates()) break;
            if (line.starts_with('\\') && mark_no_newline(hunk)) continue;
            if (!is_hunk_line(line)) {
                return invalid_patch(at_ + 1,
                                     "a line of a hunk begins with a blank, '-' or '+'; a new "
                                     "hunk begins with @@");
            }
            add_hunk_line(hunk, line);
        }
        TRY(check_hunk(hunk));
        return hunk;
    }

    const PatchLines& lines_;
    std::size_t at_;
    std::vector<FilePatch> files_;
};

}  // namespace

Result<std::vector<FilePatch>> parse_envelope(const PatchLines& lines, std::size_t begin) {
    return EnvelopeParser(lines, begin).parse();
}

}  // namespace quire::edits
