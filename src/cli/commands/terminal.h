// What the commands print, and how.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/result.h"

namespace quire::cli {

// To standard output, whole. False when it cannot be written (a closed pipe, a full disk).
bool print(std::string_view text);
// "quire: WHAT" on standard error, as a line.
void complain(std::string_view what);
// The same of an error; its exit code.
int refuse(const Error& error);

// Whether standard output is a terminal, and may be coloured there (NO_COLOR is heeded).
bool is_terminal();
bool has_colours();
enum class Colour { red, green, yellow, blue, magenta, cyan, grey };
std::string coloured(std::string_view text, Colour colour);

// "2026-11-21 14:32:05" in local time.
std::string local_time(std::int64_t wall_ms);
// "1.5 MB".
std::string size_text(std::uint64_t bytes);
// A word of a command as a shell reads it back: in quotes where it needs them.
std::string for_shell(const std::string& word);

// Lines on standard error with the time and the level before them.
class StderrLog final : public LogSink {
public:
    void write(LogLevel level, std::string_view line) override;
};

}  // namespace quire::cli
