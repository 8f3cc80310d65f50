// Random scripts over a few names, and the directory "w" that they run in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

#include "base/concat.h"
#include "base/test_directory.h"

namespace quire::shell {

class RandomScripts {
public:
    explicit RandomScripts(std::uint64_t seed) : random_(seed) {}

    std::string script() {
        std::string out;
        for (std::size_t i = 0; i <= below(4); ++i) out += statement(0) + "\n";
        return out;
    }

private:
    std::size_t below(std::size_t n) {
        return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_);
    }
    template <std::size_t N>
    std::string one_of(const char* const (&words)[N]) {
        return words[below(N)];
    }

    std::string name() {
        return one_of({"a", "b.txt", "c.txt", "d", "d/e", "d/f.txt", "l", "dl", "dl/x", "n",
                       "n.txt", "d/../a", "./b.txt", "d/n", "new/x", "'a b'", "g.c", "d/g.c",
                       "../x"});
    }
    std::string operand() {
        switch (below(9)) {
            case 0:
                return one_of({"*.txt", "d/*", "?", "[ab]*", "*/x", "d*", "{a,b.txt}", "n{1..3}"});
            case 1:
                return one_of({"$v", "\"$v\"", "\"${v}\"", "${v%.txt}", "\"${v:-a}\"", "$w",
                               "${w:=n}", "\"$1\"", "$(echo a)", "\"$(basename d/e)\"", "$((1+2))",
                               "$PWD/a"});
            default:
                return name();
        }
    }
    std::string redirect() {
        if (below(3) != 0) return "";
        return one_of({" > ", " >> ", " 2> ", " &> ", " < ", " 2>&1 > ", " >| "}) + operand();
    }
    std::string simple() {
        std::string out;
        switch (below(26)) {
            case 0:
                out = "echo " + operand();
                break;
            case 1:
                out = "rm " + one_of({"", "-f ", "-r ", "-rf ", "-- "}) + operand();
                break;
            case 2:
                out = "cp " + one_of({"", "-r ", "-f ", "-a ", "-t d "}) + operand() + " " +
                      operand();
                break;
            case 3:
                out =
                    "mv " + one_of({"", "-f ", "-n ", "-T ", "-b "}) + operand() + " " + operand();
                break;
            case 4:
                out = "mkdir " + one_of({"", "-p "}) + operand();
                break;
            case 5:
                out = "touch " + one_of({"", "-c ", "-d yesterday "}) + operand();
                break;
            case 6:
                out = "ln " + one_of({"-s ", "-sf ", "", "-sn "}) + operand() + " " + operand();
                break;
            case 7:
                out = "cat " + operand();
                break;
            case 8:
                out = "sed -i" + one_of({" ", ".bak ", "~ "}) +
                      one_of({"s/x/y/ ", "'1d' ", "'$a z' "}) + operand();
                break;
            case 9:
                out = "sed -n " + one_of({"'w n' ", "'s/x/y/w n.txt' ", "p "}) + operand();
                break;
            case 10:
                out = "tee " + one_of({"", "-a "}) + operand() + " < " + name();
                break;
            case 11:
                out = "cd " + operand();
                break;
            case 12:
                out = one_of({"v=", "w="}) + operand();
                break;
            case 13:
                out = "chmod " + one_of({"+x ", "600 ", "-R a+r ", "-w "}) + operand();
                break;
            case 14:
                out = "rmdir " + operand();
                break;
            case 15:
                out = "truncate -s " + one_of({"0 ", "3 "}) + operand();
                break;
            case 16:
                out = "dd if=a of=" + name() + " status=none";
                out = "dd if=a of=" + name();
                break;
            case 17:
                out = "sort -o " + operand() + " " + operand();
                break;
            case 18:
                out = "find " + one_of({". ", "d ", "dl/ "}) +
                      one_of({"-name '*.txt' ", "-type f ", ""}) +
                      one_of({"-delete", "-print", "-exec rm {} \\;", "-exec cat {} +"});
                break;
            case 19:
                out = "install " + one_of({"", "-D ", "-d ", "-m 600 "}) + operand() + " " +
                      operand();
                break;
            case 20:
                out = "gzip " + one_of({"", "-k ", "-f ", "-c "}) + operand();
                break;
            case 21:
                out = "uniq " + operand() + " " + operand();
                break;
            case 22:
                out = "pushd " + operand();
                break;
            case 23:
                out = "set -- " + operand() + " " + operand();
                break;
            case 24:
                out = "f " + operand();
                break;
            default:
                out = "printf x" + std::string(" > ") + operand();
        }
        return out + redirect();
    }
    std::string statement(int depth) {
        const std::size_t which = depth > 2 ? 0 : below(16);
        const auto next = [&] { return statement(depth + 1); };
        switch (which) {
            case 9:
                return cat(next(), " && ", next());
            case 10:
                return cat(next(), " || ", next());
            case 11:
                return cat("( ", next(), "; ", next(), " )");
            case 12:
                return cat("for v in ", operand(), " ", operand(), "; do ", next(), "; done");
            case 13:
                return cat("if ", next(), "; then ", next(), "; else ", next(), "; fi");
            case 14:
                return cat(simple(), " | ", simple());
            case 15:
                return one_of({"f() { ", "{ ", "g() { "}) + next() + "; }";
            case 8:
                return cat("echo \"$(", simple(), ")\"");
            case 7:
                return cat("while true; do ", next(), "; break; done");
            case 6:
                return cat("case $v in a*) ", next(), ";; *) ", next(), ";; esac");
            default:
                return simple();
        }
    }

    std::mt19937_64 random_;
};

inline void fill_for_scripts(const TestDirectory& directory) {
    for (const char* const name :
         {"w/a", "w/b.txt", "w/c.txt", "w/d/e", "w/d/f.txt", "w/g.c", "w/d/g.c", "x"})
        directory.put(name, cat("x in ", name, "\n"));
    directory.put("w/d/x", "x\n");
    directory.link("w/l", "a");
    directory.link("w/dl", "d");
}

}  // namespace quire::shell
