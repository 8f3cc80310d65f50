// Soundness by execution: random scripts are predicted, and run by bash in a directory of their own.
// Each change of that directory was predicted, or the prediction said that something is not known.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/concat.h"
#include "base/share_for_test.h"
#include "base/test_directory.h"
#include "shell/disk_tree.h"
#include "shell/parser.h"
#include "shell/predict.h"

namespace quire::shell {
namespace {

namespace files = std::filesystem;

class Scripts {
public:
    explicit Scripts(std::uint64_t seed) : random_(seed) {}

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

void fill(const TestDirectory& directory) {
    for (const char* name :
         {"w/a", "w/b.txt", "w/c.txt", "w/d/e", "w/d/f.txt", "w/g.c", "w/d/g.c", "x"})
        directory.put(name, cat("x in ", name, "\n"));
    directory.put("w/d/x", "x\n");
    directory.link("w/l", "a");
    directory.link("w/dl", "d");
}

// Everything below a directory, by path: its type, mode and content.
std::map<std::string, std::string> snapshot(const files::path& root) {
    std::map<std::string, std::string> out;
    for (auto at = files::recursive_directory_iterator(root); at != files::end(at); ++at) {
        struct stat status {};
        lstat(at->path().c_str(), &status);
        std::string what = cat(status.st_mode);
        if (S_ISLNK(status.st_mode)) what += files::read_symlink(at->path()).string();
        if (S_ISREG(status.st_mode)) {
            std::ifstream in(at->path(), std::ios::binary);
            what.append(std::istreambuf_iterator<char>(in), {});
            what += cat(" ", status.st_mtim.tv_sec < 1'000'000'000 ? "old" : "");
        }
        out[at->path().string()] = what;
    }
    return out;
}

bool covers(const Prediction& prediction, const std::string& root, const std::string& path,
            std::initializer_list<Effect> effects) {
    for (const Predicted& each : prediction.effects) {
        if (std::find(effects.begin(), effects.end(), each.effect) == effects.end()) continue;
        std::string at = each.path.starts_with('/') ? each.path : cat(root, "/", each.path);
        if (each.path == "./") at = root + "/";
        if (at == path || (at.ends_with('/') && (path.starts_with(at) || path + "/" == at)))
            return true;
    }
    return false;
}

// The first change that was not predicted; "" for none.
std::string unpredicted(const Prediction& prediction, const std::string& root,
                        const std::map<std::string, std::string>& before,
                        const std::map<std::string, std::string>& after) {
    for (const auto& [path, what] : after) {
        const auto was = before.find(path);
        const bool is_new = was == before.end();
        if (!is_new && was->second == what) continue;
        if (!covers(prediction, root, path, {Effect::create, Effect::write, Effect::append}))
            return cat(is_new ? "created " : "changed ", path);
    }
    for (const auto& [path, what] : before) {
        if (!after.contains(path) && !covers(prediction, root, path, {Effect::erase}))
            return cat("deleted ", path);
    }
    return "";
}

TEST(Soundness, EveryChangeWasPredictedOrAWarningWasGiven) {
    if (std::system("command -v bash >/dev/null") != 0) GTEST_SKIP() << "bash is not installed";
    const bool is_long = std::getenv("QUIRE_LONG") != nullptr;
    const std::uint64_t count = is_long ? 100'000 : 1'000 / kRoundsShare;
    const std::uint64_t first = is_long ? 1'000'000 : 0;
    std::size_t plain = 0;
    std::size_t changed = 0;
    std::size_t unsound = 0;
    std::map<std::string, std::size_t> warned;
    for (std::uint64_t seed = first; seed < first + count && unsound < 10; ++seed) {
        const std::string script =
            cat("f() { echo \"$1\" >> n; }\nv=b.txt\n", Scripts(seed).script());
        const Result<Script> parsed = parse(script);
        ASSERT_TRUE(parsed) << parsed.error().message() << "\n" << script;
        const TestDirectory directory;
        fill(directory);
        const std::string top = files::canonical(directory.path()).string();
        Situation situation;
        situation.root = situation.cwd = top + "/w";
        situation.environment = {{"HOME", top + "/home"}};
        situation.knows_all = true;
        const Prediction prediction = predict(*parsed, situation, DiskTree());
        if (!prediction.warnings.empty()) {
            ++warned[prediction.warnings.front().kind];
            continue;
        }
        ++plain;
        const auto before = snapshot(top);
        directory.put("script", script);
        const std::string command =
            cat("cd ", top, "/w && ulimit -t 2 && exec env -i PATH=/usr/bin:/bin HOME=", top,
                "/home LC_ALL=C.UTF-8 bash --norc ../script < /dev/null > /dev/null 2>&1");
        [[maybe_unused]] const int ended = std::system(command.c_str());
        files::remove(files::path(top) / "script");
        const auto after = snapshot(top);
        if (before != after) ++changed;
        const std::string missed = unpredicted(prediction, situation.root, before, after);
        if (missed.empty()) continue;
        ++unsound;
        std::string told;
        for (const Predicted& each : prediction.effects)
            cat_to(told, cat("  ", name_of(each.effect), " ", each.path, "\n"));
        ADD_FAILURE() << "seed " << seed << ": " << missed << "\n"
                      << script << "predicted:\n"
                      << told;
    }
    std::printf("%llu scripts: %zu ran without a warning, %zu of them changed files, %zu unsound\n",
                static_cast<unsigned long long>(count), plain, changed, unsound);
    for (const auto& [kind, times] : warned)
        std::printf("  %zu were warned of: %s\n", times, kind.c_str());
    // A warning on everything would be sound, and of no use.
    EXPECT_GT(plain * 2, count);
    EXPECT_GT(changed * 4, count);
}

}  // namespace
}  // namespace quire::shell
