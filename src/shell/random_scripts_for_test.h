// Random scripts over a few names, the directory "w" that they run in, and the run that counts how many
// of them did what was not predicted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <optional>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "base/share_for_test.h"
#include "base/test_directory.h"
#include "shell/prediction.h"

namespace quire::shell {

// Every name is below "w" or beside it, and many mean the same file: through a link, "..", or a
// directory. So commands of one script meet on files. The same seed gives the same script.
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

    // A file that fill_for_scripts() makes, or one that a script may make.
    std::string name() {
        return one_of({"a", "b.txt", "c.txt", "d", "d/e", "d/f.txt", "l", "dl", "dl/x", "n",
                       "n.txt", "d/../a", "./b.txt", "d/n", "new/x", "'a b'", "g.c", "d/g.c",
                       "../x"});
    }
    std::string operand() {
        switch (below(9)) {
            case 0:
                return one_of({"*.txt", "d/*", "?", "[ab]*", "*/x", "d*", "{a,b.txt}", "n{1..3}",
                               "[[:alpha:]]", "[[:lower:]]*.txt", "[!a]", "[]a]", "[a-c].*",
                               "[[=a=]]", "~/n"});
            case 1:
                return one_of({"$v", "\"$v\"", "\"${v}\"", "${v%.txt}", "\"${v:-a}\"", "$w",
                               "${w:=n}", "\"$1\"", "${01}", "\"${x[0]}\"", "\"${x[@]}\"", "$x",
                               "\"$@\"", "${v#b}", "$(echo a)", "\"$(basename d/e)\"", "$((1+2))",
                               "$PWD/a"});
            default:
                return name();
        }
    }
    std::string redirect() {
        if (below(3) != 0) return "";
        return one_of({" > ", " >> ", " 2> ", " &> ", " < ", " 2>&1 > ", " >| "}) + operand();
    }
    // One command with a model. Its options are those that change which files it touches.
    std::string simple() {
        std::string out;
        switch (below(33)) {
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
                out = "dd if=a of=" + name();
                break;
            case 17:
                out = "sort -o " + operand() + " " + operand();
                break;
            case 18:
                out = "find " + one_of({". ", "d ", "dl/ "}) +
                      one_of({"-name '*.txt' ", "-type f ", ""}) +
                      one_of({"-delete", "-print", "-exec rm {} \\;", "-exec cat {} +",
                              "-exec rm {} ../x \\;", "-exec rm -f {}.txt \\;", "-exec rm a {} +",
                              "-execdir rm x \\;"});
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
            // A word that is not known, and what it runs nevertheless.
            case 25:
                out = "echo " + one_of({"\"$HOSTNAME", "~nobody/\"", "\"$w", "\"$(cat a)"}) + "$(" +
                      one_of({"rm ", "touch ", "echo "}) + name() + ")\"";
                break;
            case 26:
                out = one_of({"v=", "w=", "HOME="}) + name() +
                      one_of({" echo > $v", " f $v", " touch $v"});
                break;
            case 27:
                out = one_of({"x=(a b.txt)", "x+=(n)", "x=n", "x[1]=c.txt", "x[0]=n", "x=(d/*)"});
                break;
            case 28:
                out = "trap 'rm -f " + one_of({"a", "$v", "\"$w\"", "n", "d/e"}) + "' EXIT";
                break;
            case 29:
                out = one_of({"HOME=d", "HOME=$PWD", "export v=n", "readonly w", "unset w", "shift",
                              "set -euo pipefail", "declare ''"});
                break;
            // Jumps, which matter in a loop or a function.
            case 30:
            case 31:
                out = one_of({"[ \"$v\" = a ] && ", "[ -f n ] || ", "test -d d && ", ""}) +
                      one_of({"break", "continue", "return", "break 2", "exit"});
                return out;
            default:
                out = "printf x" + std::string(" > ") + operand();
        }
        return out + redirect();
    }
    // Commands joined by control flow, at most three levels deep.
    std::string statement(int depth) {
        const std::size_t which = depth > 2 ? 0 : below(20);
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
            case 16:
                return cat("for v in ", operand(), " a b.txt; do w=$v; if ", simple(), "; then ",
                           one_of({"break", "continue", "return", "break 2", ":"}), "; fi; ",
                           next(), "; done");
            case 17:
                return cat("while w=", name(), "; ", simple(), "; do ", next(),
                           one_of({"; break", "; w=a; break", "; [ -f n ] && break; touch n"}),
                           "; done");
            case 18:
                return cat("select v in ", operand(), " a; do w=$v; ", next(), "; break; done <<< ",
                           one_of({"1", "2"}));
            case 19:
                return one_of({"bash -c '", "sh -c '"}) +
                       one_of({"rm $1", "touch {n,m}", "v=n; v+=m; touch $v",
                               "for i in a n; do w=$i; break; done; rm $w", "v=a; v=n :; rm $v"}) +
                       "' _ a";
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

// Files with unlike contents, so that a change of any of them is seen, and a link to each kind.
inline void fill_for_scripts(const TestDirectory& directory) {
    for (const char* const name :
         {"w/a", "w/b.txt", "w/c.txt", "w/d/e", "w/d/f.txt", "w/g.c", "w/d/g.c", "x"})
        directory.put(name, cat("x in ", name, "\n"));
    directory.put("w/d/x", "x\n");
    directory.link("w/l", "a");
    directory.link("w/dl", "d");
}

// A run of random scripts, each predicted and then executed. The long run is 100,000 scripts. Ends early
// after ten unsound ones, each of which fails the test with its script.
class SoundnessRun {
public:
    // The seeds follow `first`; those of the long run are others, too.
    SoundnessRun(std::uint64_t count, std::uint64_t first) : count_(count), first_(first) {
        // A number asks for so many.
        if (const char* const given = std::getenv("QUIRE_LONG")) {
            const std::uint64_t number = std::strtoull(given, nullptr, 10);
            count_ = number > 1 ? number : 100'000;
            first_ += 1'000'000;
            // A run can go on after an earlier one.
            if (const char* const after = std::getenv("QUIRE_AFTER"))
                first_ += std::strtoull(after, nullptr, 10);
        } else {
            count_ /= kRoundsShare;
        }
    }

    // The next script; nothing at the end.
    std::optional<std::string> next() {
        if (at_ == count_ || unsound_ == 10) return std::nullopt;
        seed_ = first_ + at_++;
        script_ = cat("f() { echo \"$1\" >> n; }\nv=b.txt\nw=\n", RandomScripts(seed_).script());
        began_ = std::clock();
        return script_;
    }
    // Returns true if the prediction says that something is not known: the script need not run. Fails
    // the test if it took long; next() began it.
    bool was_warned(const Prediction& prediction) {
        EXPECT_LT(std::clock() - began_, 5 * CLOCKS_PER_SEC) << "seed " << seed_ << ":\n"
                                                             << script_;
        if (prediction.warnings.empty()) return false;
        ++warned_[prediction.warnings.front().kind];
        return true;
    }
    // The script ran. `missed` is the first change that was not predicted; "" for none.
    void ran(const Prediction& prediction, bool changed, const std::string& missed) {
        ++plain_;
        changed_ += changed ? 1 : 0;
        if (missed.empty()) return;
        ++unsound_;
        std::string told;
        for (const Predicted& each : prediction.effects)
            cat_to(told, cat("  ", name_of(each.effect), " ", each.path, "\n"));
        ADD_FAILURE() << "seed " << seed_ << ": " << missed << "\n"
                      << script_ << "predicted:\n"
                      << told;
    }
    // Prints the counts. A warning on everything would be sound, and of no use: at least half of the
    // scripts ran, and a quarter changed something.
    void end() const {
        std::printf(
            "%llu scripts: %zu ran without a warning, %zu of them changed files, %zu unsound\n",
            static_cast<unsigned long long>(at_), plain_, changed_, unsound_);
        for (const auto& [kind, times] : warned_)
            std::printf("  %zu were warned of: %s\n", times, kind.c_str());
        EXPECT_GT(plain_ * 2, at_);
        EXPECT_GT(changed_ * 4, at_);
    }

private:
    std::uint64_t count_;
    std::uint64_t first_;
    std::uint64_t at_ = 0;  // Scripts that were given out.
    std::uint64_t seed_ = 0;
    std::string script_;
    std::clock_t began_ = 0;  // In processor time: other programs may be at work.
    std::size_t plain_ = 0;
    std::size_t changed_ = 0;
    std::size_t unsound_ = 0;
    std::map<std::string, std::size_t> warned_;
};

}  // namespace quire::shell
