// Project: a directory with sources, compile_commands.json and a tool that stands in for a
// compiler: a line with BAD is an error, one with ODD a warning, and #include "x" is a header that
// it reads. GROW makes src/h.h BAD once it was read, the first time, and SLOW takes a minute. Every
// check leaves a line in `checked`.
#pragma once

#include <chrono>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <sstream>
#include <string>

#include "base/concat.h"
#include "base/test_directory.h"

namespace quire::diagnostics {

class Project {
public:
    Project() {
        std::filesystem::create_directories(path() + "/src");
        write("tool", kTool);
        std::filesystem::permissions(tool(), std::filesystem::perms::owner_all);
    }

    const std::string& path() const { return directory_.path(); }
    std::string tool() const { return directory_ / "tool"; }
    void write(const std::string& file, const std::string& text) const {
        directory_.put(file, text);
        // Well before any check: what is written while one begins is checked once more.
        std::filesystem::last_write_time(
            directory_ / file,
            std::filesystem::file_time_type::clock::now() - std::chrono::minutes(1));
    }
    void remove(const std::string& file) const { directory_.erase(file); }
    void list(std::initializer_list<const char*> files) const {
        std::string text;
        for (const char* const each : files) {
            text += cat(text.empty() ? "[" : ",", R"({"directory":")", path(),
                        R"(","command":"c++ -Isrc -c )", each, R"( -o x.o","file":")", each, "\"}");
        }
        write("compile_commands.json", text + "]");
    }
    // The files that were checked since the last time it was asked, in order: "a.cc b.cc".
    std::string checked() const {
        std::ifstream in(directory_ / "checked");
        std::string out;
        for (std::string line; std::getline(in, line);) out += (out.empty() ? "" : " ") + line;
        remove("checked");
        return out;
    }

private:
    static constexpr const char* kTool = R"sh(#!/bin/sh
mode=check
file=
dep=
while [ $# -gt 0 ]; do
  case "$1" in
    -MF) shift; dep=$1 ;;
    -M) mode=inputs ;;
    *.cc) file=$1 ;;
  esac
  shift
done
headers=$(sed -n 's/^#include "\(.*\)"/\1/p' "$file")
read_all() {
  for f in "$file" $headers; do
    if [ -e "src/$f" ]; then echo "src/$f"; else echo "$f"; fi
  done
}
[ "$mode" = inputs ] && { echo "x: $(read_all | tr '\n' ' ')" > "$dep"; exit 0; }
basename "$file" >> checked
grep -q SLOW "$file" && sleep 60
bad=0
for f in $(read_all); do
  [ -e "$f" ] || { echo "$file:1:1: fatal error: $f: No such file or directory"; bad=1; continue; }
  grep -n ODD "$f" | sed "s|^\([0-9]*\):.*|$f:\1:1: warning: odd [-Wodd]|"
  grep -q BAD "$f" && bad=1
  grep -n BAD "$f" | sed "s|^\([0-9]*\):.*|$f:\1:3: error: bad|"
done
[ $bad = 0 ] && echo "x: $(read_all | tr '\n' ' ')" > "$dep"
grep -q GROW "$file" && [ ! -e grown ] && { echo BAD >> src/h.h; touch grown; }
exit $bad
)sh";
    const TestDirectory directory_;
};

}  // namespace quire::diagnostics
