// Reads "path:line:column: severity: message [check]" line by line, in one pass over the output,
// and ignores all other lines. The number and size of findings are bounded, because the text may
// come from any program.
#include "diagnostics/findings.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "base/concat.h"
#include "base/utf8.h"
#include "diagnostics/compile_commands.h"

namespace quire::diagnostics {
namespace {

// A tool's text made fit for a block: UTF-8 without control characters, and not too long. A byte
// that is no part of UTF-8 becomes U+FFFD. Four bytes are the most that a code point takes, so the
// loop gathers enough for the prefix.
std::string clean(std::string_view text) {
    std::string out;
    while (!text.empty() && out.size() < kLongestText * 4) {
        const std::size_t good = utf8::find_invalid(text).value_or(text.size());
        for (const char c : text.substr(0, good)) {
            const auto byte = static_cast<unsigned char>(c);
            out += byte < 0x20 || byte == 0x7F ? ' ' : c;
        }
        text.remove_prefix(good);
        if (text.empty()) break;
        out += "\xEF\xBF\xBD";
        text.remove_prefix(1);
    }
    if (const auto cut = utf8::find_invalid(out)) out.resize(*cut);
    return std::string(utf8::prefix(out, kLongestText));
}

struct Word {
    std::string_view text;
    Severity severity;
};
constexpr Word kWords[] = {{"fatal error: ", Severity::error},
                           {"internal compiler error: ", Severity::error},
                           {"error: ", Severity::error},
                           {"warning: ", Severity::warning},
                           {"note: ", Severity::note}};

// The number behind the last ':', which is taken off with it. At most nine digits, so that the
// number cannot overflow.
std::optional<std::int64_t> take_number(std::string_view& place) {
    const std::size_t colon = place.rfind(':');
    if (colon == std::string_view::npos) return std::nullopt;
    const std::string_view digits = place.substr(colon + 1);
    constexpr std::size_t kLongest = 9;
    if (digits.empty() || digits.size() > kLongest) return std::nullopt;
    std::int64_t number = 0;
    for (const char c : digits) {
        if (c < '0' || c > '9') return std::nullopt;
        number = number * 10 + (c - '0');
    }
    place = place.substr(0, colon);
    return number;
}

struct Line {
    std::string_view path;  // "" where the tool speaks for itself.
    std::int64_t line = 0;
    std::int64_t column = 0;
    Severity severity = Severity::error;
    std::string_view message;
};

// A program that speaks of no place: "cc1plus: error: …".
bool is_program(std::string_view word) {
    return !word.empty() && word.find_first_of("/ \t:") == std::string_view::npos;
}

// One number before the severity is a line, two are line and column.
std::optional<Line> read_line(std::string_view text) {
    // The first ": SEVERITY: " that has a place before it; a path may hold one, too.
    for (std::size_t at = text.find(": "); at != std::string_view::npos;
         at = text.find(": ", at + 1)) {
        const std::string_view rest = text.substr(at + 2);
        const Word* const found =
            std::find_if(std::begin(kWords), std::end(kWords),
                         [&](const Word& word) { return rest.starts_with(word.text); });
        if (found == std::end(kWords)) continue;
        Line line{text.substr(0, at), 0, 0, found->severity, rest.substr(found->text.size())};
        const auto last = take_number(line.path);
        if (!last) {
            if (!is_program(line.path)) continue;
            line.path = {};
            return line;
        }
        const auto first = take_number(line.path);
        if (line.path.empty()) continue;
        line.line = first.value_or(*last);
        line.column = first ? *last : 0;
        return line;
    }
    return std::nullopt;
}

// The "[check]" at the end of a message, which is taken off. A message may itself end in brackets;
// a name of a check has neither blanks nor brackets.
std::string take_check(std::string_view& message) {
    if (!message.ends_with(']')) return {};
    const std::size_t open = message.rfind(" [");
    if (open == std::string_view::npos) return {};
    std::string_view check = message.substr(open + 2, message.size() - open - 3);
    if (check.empty() || check.find_first_of(" []") != std::string_view::npos) return {};
    message = message.substr(0, open);
    constexpr std::string_view kAsError = "-Werror=";
    if (check.starts_with(kAsError)) return clean(cat("-W", check.substr(kAsError.size())));
    // clang: [-Werror,-Wshadow]; clang-tidy: [check,-warnings-as-errors].
    if (check.starts_with("-Werror,")) check.remove_prefix(std::string_view("-Werror,").size());
    if (check.ends_with(",-warnings-as-errors"))
        check.remove_suffix(std::string_view(",-warnings-as-errors").size());
    return clean(check);
}

std::string shown_path(std::string_view path, const RunPlace& place) {
    const std::string whole =
        path.empty() ? place.file : absolute_path(place.directory, std::string(path));
    const bool is_below = place.root == "/" ||
                          (whole.starts_with(place.root) && whole.size() > place.root.size() + 1 &&
                           whole[place.root.size()] == '/');
    if (!is_below || place.root == "/") return clean(whole);
    return clean(std::string_view(whole).substr(place.root.size() + 1));
}

std::string place_of(const Finding& finding) {
    std::string out = finding.path;
    if (finding.line > 0) out += cat(":", finding.line);
    if (finding.line > 0 && finding.column > 0) out += cat(":", finding.column);
    return out;
}

}  // namespace

std::vector<Finding> parse_findings(std::string_view output, const RunPlace& place) {
    std::vector<Finding> out;
    while (!output.empty()) {
        const std::size_t end = std::min(output.find('\n'), output.size());
        std::string_view text = output.substr(0, end);
        output.remove_prefix(std::min(end + 1, output.size()));
        if (text.ends_with('\r')) text.remove_suffix(1);
        const std::optional<Line> line = read_line(text);
        if (!line) continue;
        std::string_view message = line->message;
        Finding finding;
        finding.check = take_check(message);
        finding.path = shown_path(line->path, place);
        finding.line = line->line;
        finding.column = line->column;
        finding.severity = line->severity;
        finding.message = clean(message);
        if (line->severity == Severity::note && !out.empty()) {
            std::vector<std::string>& notes = out.back().notes;
            if (notes.size() < kMostNotes)
                notes.push_back(cat(place_of(finding), ": ", finding.message));
            continue;
        }
        if (out.size() == kMostOfOneRun) break;
        out.push_back(std::move(finding));
    }
    return out;
}

void sort_findings(std::vector<Finding>& findings) {
    const auto place = [](const Finding& each) {
        return std::tie(each.path, each.line, each.column, each.severity, each.message, each.check);
    };
    std::stable_sort(findings.begin(), findings.end(),
                     [&](const Finding& a, const Finding& b) { return place(a) < place(b); });
    // Their notes may differ by who included the place: the first that was said is kept.
    const auto same = [&](const Finding& a, const Finding& b) { return place(a) == place(b); };
    findings.erase(std::unique(findings.begin(), findings.end(), same), findings.end());
}

json::Fields<Finding> Finding::fields() {
    return json::Fields<Finding>()
        .required("path", &Finding::path)
        .required("line", &Finding::line)
        .required("column", &Finding::column)
        .required("severity", &Finding::severity)
        .required("message", &Finding::message)
        .optional("check", &Finding::check)
        .optional("notes", &Finding::notes);
}

Value to_value(const Finding& finding) {
    return json::Codec<Finding>::encode(finding);
}

}  // namespace quire::diagnostics
