// parse_patch() decides which dialect a patch is in by the line that comes first: "*** Begin
// Patch", or a header or hunk of a unified diff. So a diff whose removed lines look like an
// envelope is still a diff. Lines are views into the patch, and nothing is copied before a hunk
// takes its lines.
#include "edits/patch_lines.h"

#include <algorithm>
#include <utility>

#include "base/concat.h"

namespace quire::edits {
namespace {

constexpr std::size_t kMostFiles = 1000;
constexpr std::string_view kBegin = "*** Begin Patch";

// Reads a decimal number of at most 15 digits, and moves past it.
std::optional<std::size_t> patch_number(std::string_view& text) {
    std::size_t digits = 0;
    std::size_t number = 0;
    while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') {
        number = number * 10 + static_cast<std::size_t>(text[digits] - '0');
        // Fifteen digits fit any count and cannot overflow; a longer number is no number of a line.
        if (++digits > 15) return std::nullopt;
    }
    if (digits == 0) return std::nullopt;
    text.remove_prefix(digits);
    return number;
}

// Reads "12,3" or "12", which counts one line, behind a sign.
std::optional<std::pair<std::size_t, std::size_t>> patch_range(std::string_view& text, char sign) {
    if (!text.starts_with(sign)) return std::nullopt;
    text.remove_prefix(1);
    const auto first = patch_number(text);
    if (!first) return std::nullopt;
    if (!text.starts_with(',')) return std::pair(*first, std::size_t{1});
    text.remove_prefix(1);
    const auto count = patch_number(text);
    if (!count) return std::nullopt;
    return std::pair(*first, *count);
}

std::string_view trimmed_blanks(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

}  // namespace

Failure invalid_patch(std::size_t patch_line, std::string_view why) {
    return invalid("invalid_patch", cat("line ", patch_line, " of the patch: ", why),
                   {{"patch_line", patch_line}});
}

PatchLines::PatchLines(std::string_view patch) {
    // A patch that came with "\r\n" throughout tells nothing about the text's line ends: the
    // transport made them so. In a mixed one each '\r' is meant.
    bool crlf = true;
    while (!patch.empty()) {
        const std::size_t newline = patch.find('\n');
        const std::string_view line = patch.substr(0, newline);
        crlf = crlf && (line.ends_with('\r') || newline == std::string_view::npos);
        lines_.push_back(line);
        patch.remove_prefix(newline == std::string_view::npos ? patch.size() : newline + 1);
    }
    for (std::string_view& line : lines_) {
        if (crlf && lines_.size() > 1 && line.ends_with('\r')) line.remove_suffix(1);
    }
    next_filled_.resize(lines_.size());
    std::size_t next = lines_.size();
    for (std::size_t i = lines_.size(); i-- > 0;) {
        if (!header(i).empty()) next = i;
        next_filled_[i] = next;
    }
}

std::string_view PatchLines::header(std::size_t i) const {
    std::string_view line = lines_[i];
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
}

std::optional<HunkCounts> hunk_counts(std::string_view header) {
    if (!header.starts_with("@@ ")) return std::nullopt;
    header.remove_prefix(3);
    const auto before = patch_range(header, '-');
    if (!before || !header.starts_with(' ')) return std::nullopt;
    header.remove_prefix(1);
    const auto after = patch_range(header, '+');
    if (!after || !trimmed_blanks(header).starts_with("@@")) return std::nullopt;
    HunkCounts out{std::nullopt, before->second, after->second};
    // An empty range is named by the line before it.
    if (before->second == 0) {
        out.hint = before->first;
    } else if (before->first > 0) {
        out.hint = before->first - 1;
    }
    return out;
}

std::string_view hunk_heading(std::string_view header) {
    std::string_view words = trimmed_blanks(header.substr(2));
    if (words.ends_with("@@")) words = trimmed_blanks(words.substr(0, words.size() - 2));
    return words == "..." ? std::string_view() : words;
}

bool is_hunk_line(std::string_view line) {
    return line.empty() || line == "\r" || line[0] == ' ' || line[0] == '-' || line[0] == '+';
}

void add_hunk_line(PatchHunk& hunk, std::string_view marked) {
    PatchLine line;
    if (!marked.empty() && marked[0] == '-') line.mark = PatchMark::removed;
    if (!marked.empty() && marked[0] == '+') line.mark = PatchMark::added;
    if (!marked.empty() && marked[0] != '\r') marked.remove_prefix(1);
    if (marked.ends_with('\r')) {
        line.cr = true;
        marked.remove_suffix(1);
    }
    line.text = marked;
    hunk.lines.push_back(std::move(line));
}

// Without a newline, a '\r' is text.
bool mark_no_newline(PatchHunk& hunk) {
    if (hunk.lines.empty()) return false;
    PatchLine& line = hunk.lines.back();
    line.newline = false;
    if (std::exchange(line.cr, false)) line.text += '\r';
    return true;
}

Result<void> check_hunk(PatchHunk& hunk) {
    const auto changes = [](const PatchLine& line) { return line.mark != PatchMark::context; };
    if (std::none_of(hunk.lines.begin(), hunk.lines.end(), changes)) {
        return invalid_patch(hunk.patch_line,
                             "the hunk that begins here changes nothing. Lines to remove begin "
                             "with '-', lines to add with '+', all others with a blank");
    }
    bool old_ended = false;
    bool new_ended = false;
    for (const PatchLine& line : hunk.lines) {
        const bool in_old = line.mark != PatchMark::added;
        const bool in_new = line.mark != PatchMark::removed;
        if ((in_old && old_ended) || (in_new && new_ended)) {
            return invalid_patch(hunk.patch_line,
                                 "in the hunk that begins here, lines follow one that is marked "
                                 "\"No newline at end of file\"");
        }
        if (line.newline) continue;
        old_ended = old_ended || in_old;
        new_ended = new_ended || in_new;
    }
    // Only the last line of a text lacks a newline, so the marker says where the hunk is.
    if (old_ended || new_ended) hunk.at_end = hunk.tells_final_newline = true;
    return {};
}

namespace {

// The line of "*** Begin Patch", unless a unified diff begins before it.
std::optional<std::size_t> envelope_begin(const PatchLines& lines) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::string_view line = lines.header(i);
        if (trimmed_blanks(line) == kBegin) return i;
        if (line.starts_with("diff --git ") || line.starts_with("--- ") || line.starts_with("@@"))
            return std::nullopt;
    }
    return std::nullopt;
}

}  // namespace

Result<std::vector<FilePatch>> parse_patch(std::string_view patch, const EditLimits& limits) {
    TRY(check_written(patch, limits));
    const PatchLines lines(patch);
    const std::optional<std::size_t> begin = envelope_begin(lines);
    std::vector<FilePatch> files =
        TRY(begin ? parse_envelope(lines, *begin) : parse_unified(lines));
    std::size_t hunks = 0;
    for (const FilePatch& file : files) hunks += file.hunks.size();
    const auto too_many = [](std::string_view what, std::size_t count, std::size_t limit) {
        return fail(Errc::out_of_range, "too_large",
                    cat("the patch has ", count, " ", what, ", and at most ", limit,
                        " are allowed. Send it in several calls"),
                    {{"limit", limit}});
    };
    if (files.size() > kMostFiles) return too_many("files", files.size(), kMostFiles);
    if (hunks > limits.operations) return too_many("hunks", hunks, limits.operations);
    return files;
}

}  // namespace quire::edits
