// Everything that a command prints goes through here, so that a failure to write becomes an exit
// code and colours appear on terminals alone. Output is flushed at once: a person waits, or a pipe
// does.
#include "cli/commands/terminal.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include <unistd.h>

#include "base/clock.h"
#include "base/concat.h"
#include "cli/commands/command.h"
#include "json/json.h"
#include "rpc/jsonrpc.h"
#include "text/escape_hidden.h"

namespace quire::cli {

bool print(std::string_view text) {
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    return std::fflush(stdout) == 0 && written;
}

int output(std::string_view text) {
    return print(text) ? kDone : kRefused;
}

int output_json(const Value& value) {
    return output(json::write(value) + "\n");
}

void complain(std::string_view what) {
    const std::string line = cat("quire: ", what, "\n");
    std::fwrite(line.data(), 1, line.size(), stderr);
}

// A program that reads standard error gets a form that it can parse.
bool refuses_in_json(const Globals& globals) {
    return globals.json || ::isatty(STDERR_FILENO) != 1;
}

int refuse(const Globals& globals, const Error& error) {
    if (refuses_in_json(globals)) {
        const std::string line = json::write(Map{{"error", rpc::error_value(error)}}) + "\n";
        std::fwrite(line.data(), 1, line.size(), stderr);
    } else {
        complain(error.message());
    }
    return kRefused;
}

bool is_terminal() {
    return ::isatty(STDOUT_FILENO) == 1;
}

// The variable NO_COLOR is a convention of many programs (no-color.org).
bool has_colours() {
    const char* const term = std::getenv("TERM");
    return is_terminal() && std::getenv("NO_COLOR") == nullptr && term != nullptr &&
           std::string_view(term) != "dumb";
}

bool can_ask() {
    return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
}

bool ask(std::string_view question) {
    const std::string line = cat(question, " [y/N] ");
    std::fwrite(line.data(), 1, line.size(), stderr);
    const int first = std::getchar();
    // The rest of the line is taken, so that it answers no later question.
    for (int c = first; c != '\n' && c != EOF;) c = std::getchar();
    return first == 'y' || first == 'Y';
}

std::string coloured(std::string_view text, Colour colour) {
    if (!has_colours()) return std::string(text);
    constexpr std::array<int, 7> kCodes = {31, 32, 33, 34, 35, 36, 90};
    return cat("\x1b[", kCodes[static_cast<std::size_t>(colour)], "m", text, "\x1b[0m");
}

// Line ends and tabs are what a text needs to look like itself.
std::string drawn_text(std::string_view text) {
    std::string out;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find_first_of("\n\t", begin), text.size());
        cat_to(out, text::escape_hidden(text.substr(begin, end - begin)));
        if (end < text.size()) out.push_back(text[end]);
        begin = end + 1;
    }
    return out;
}

// Only on a terminal: a diff in a file must apply byte for byte, whatever characters are in it.
std::string drawn_diff(const std::string& diff) {
    if (!is_terminal()) return diff;
    std::string out;
    for (std::size_t begin = 0; begin < diff.size();) {
        const std::size_t end = std::min(diff.find('\n', begin), diff.size());
        const std::string line = drawn_text(std::string_view(diff).substr(begin, end - begin));
        out += line.starts_with("+++") || line.starts_with("---") ? line
               : line.starts_with('@')                            ? coloured(line, Colour::cyan)
               : line.starts_with('+')                            ? coloured(line, Colour::green)
               : line.starts_with('-')                            ? coloured(line, Colour::red)
                                                                  : line;
        out += '\n';
        begin = end + 1;
    }
    return out;
}

std::string local_time(std::int64_t wall_ms) {
    const std::time_t seconds = static_cast<std::time_t>(wall_ms / 1000);
    std::tm parts = {};
    ::localtime_r(&seconds, &parts);
    std::array<char, 32> text = {};
    const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts);
    return std::string(text.data(), length);
}

std::string plural(std::size_t count, std::string_view noun) {
    return cat(count, " ", noun, count == 1 ? "" : "s");
}

// Tenths are kept as whole numbers, which rounds down; floats would need a format.
std::string size_text(std::uint64_t bytes) {
    constexpr std::array<std::string_view, 5> kUnits = {"B", "KB", "MB", "GB", "TB"};
    if (bytes < 1024) return cat(bytes, " B");
    std::size_t unit = 0;
    std::uint64_t tenths = bytes * 10;
    while (tenths >= 10240 && unit + 1 < kUnits.size()) {
        tenths /= 1024;
        ++unit;
    }
    return cat(tenths / 10, ".", tenths % 10, " ", kUnits[unit]);
}

std::string padded(std::string word, std::size_t width) {
    if (word.size() < width) word.append(width - word.size(), ' ');
    return word;
}

std::string log_line(LogLevel level, std::string_view line) {
    constexpr std::array<std::string_view, 4> kLevels = {"debug", "info", "warning", "error"};
    return cat(local_time(SystemClock().wall_ms()), " ", kLevels[static_cast<std::size_t>(level)],
               ": ", line, "\n");
}

void StderrLog::write(LogLevel level, std::string_view line) {
    const std::string out = log_line(level, line);
    // One write, so that the lines of several threads do not mix.
    static_cast<void>(::write(STDERR_FILENO, out.data(), out.size()) == 0);
}

}  // namespace quire::cli
