// Printing for commands: to standard output and standard error, with colours on a terminal.
//
// Words that others have chosen (paths, labels, messages) are escaped by the caller before they are
// printed: a control character could draw over what the terminal shows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/result.h"
#include "base/value.h"

namespace quire::cli {

struct Globals;

// Writes all of it to standard output. False when that fails (a closed pipe, a full disk).
bool print(std::string_view text);
// print(), as a command's exit code: kDone or kRefused.
int output(std::string_view text);
// Prints the value as one line of JSON.
int output_json(const Value& value);
// Writes "quire: WHAT" as a line to standard error.
void complain(std::string_view what);
// Returns true where a refusal is printed as JSON: with --json, and where standard error is no terminal.
bool refuses_in_json(const Globals& globals);
// Complains about the error, or prints it as one line of JSON, {"error": {code, reason, message,
// details}}, where refuses_in_json() holds. Returns kRefused.
int refuse(const Globals& globals, const Error& error);

// These return true if standard output is a terminal, and if it may be coloured (NO_COLOR is
// respected).
bool is_terminal();
bool has_colours();
// Returns true if a person can be asked: standard input and standard error are terminals.
bool can_ask();
// Asks "QUESTION [y/N] " there; true for yes.
bool ask(std::string_view question);
enum class Colour { red, green, yellow, blue, magenta, cyan, grey };
// The text in a colour, if colours are used.
std::string coloured(std::string_view text, Colour colour);

// The text with what cannot be seen written out, but for line ends and tabs.
std::string drawn_text(std::string_view text);
// A unified diff to print: on a terminal drawn and in colours, else byte for byte, so that a program
// can apply it.
std::string drawn_diff(const std::string& diff);

// "2026-11-21 14:32:05", in local time.
std::string local_time(std::int64_t wall_ms);
// "1 block", "2 blocks": the noun gets an s.
std::string plural(std::size_t count, std::string_view noun);
// "1.5 MB".
std::string size_text(std::uint64_t bytes);
// `word` with blanks behind it, so that it takes at least `width` columns; for ASCII.
std::string padded(std::string word, std::size_t width);

// A line of a log: the time, the level, what happened, and a newline.
std::string log_line(LogLevel level, std::string_view line);

// Writes lines to standard error.
class StderrLog final : public LogSink {
public:
    void write(LogLevel level, std::string_view line) override;
};

}  // namespace quire::cli
