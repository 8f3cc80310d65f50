// Measures the analysis of commands: the script is parsed, its effects are predicted, and they are judged by the rules for
// files. In memory it is the analysis alone; on the disk, with the system's calls that look at the tree.
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "base/check.h"
#include "base/concat.h"
#include "base/test_directory.h"
#include "policy/path_rules.h"
#include "shell/disk_tree.h"
#include "shell/judge.h"
#include "shell/parser.h"
#include "shell/predict.h"

namespace quire::bench {
namespace {

// Scripts of 200 bytes each, as agents write them.
constexpr std::pair<std::string_view, std::string_view> kScripts[] = {
    {"loop", R"(set -e; cd src && for f in *.rs; do sed -i 's/old/new/g' "$f"; done; )"
             R"(cp -r ../scratch ../build/copy; grep -rn TODO . > ../todo.txt; )"
             R"(if [ -f ../README.md ]; then tail -n 5 ../README.md; fi; wc todo.txt)"},
    {"pipeline",
     R"(cd src && cat main.rs lib.rs | grep -v '^//' | sort -u | head -n 20 > ../build/words.txt )"
     R"(&& mkdir -p ../docs/notes && mv ../scratch/a.txt ../docs/notes/first.md || )"
     R"(echo "nothing moved" >&2; git status)"},
    {"variables",
     R"(out=build/report; name="${out##*/}"; mkdir -p "$out"; )"
     R"(for kind in rs md txt; do find . -name "*.$kind" -newer README.md > "$out/$name.$kind"; )"
     R"(done; tar czf "$out.tgz" "$out" && rm -r -- "$out"; ls src)"},
};

// The tree as it was on the disk.
class TreeInMemory final : public shell::TreeView {
public:
    explicit TreeInMemory(const std::string& root) {
        const shell::DiskTree disk;
        take(disk, root);
        for (std::string at = root; at.size() > 1; at = at.substr(0, at.rfind('/')))
            entries_[at] = {Kind::directory};
    }
    Entry look(const std::string& path) const override {
        const auto at = entries_.find(path);
        return at == entries_.end() ? Entry{} : at->second;
    }
    std::vector<std::string> list(const std::string& directory) const override {
        const auto at = lists_.find(directory);
        return at == lists_.end() ? std::vector<std::string>() : at->second;
    }

private:
    void take(const shell::DiskTree& disk, const std::string& path) {
        entries_[path] = disk.look(path);
        if (entries_[path].kind != Kind::directory) return;
        lists_[path] = disk.list(path);
        for (const std::string& name : lists_[path]) take(disk, cat(path, "/", name));
    }
    std::map<std::string, Entry> entries_;
    std::map<std::string, std::vector<std::string>> lists_;
};

class Workspace {
public:
    Workspace() {
        for (const char* name : {"README.md", "src/main.rs", "src/lib.rs", "logs/app.log",
                                 "scratch/a.txt", "scratch/b.txt", "build/out.o"})
            directory_.put(name, "x\n");
        situation.root = situation.cwd = std::filesystem::canonical(directory_.path()).string();
        situation.environment = {{"HOME", "/home/u"}, {"TMPDIR", "/tmp"}};
        std::vector<policy::PathRule> made;
        for (const char* pattern : {"src/**", "docs/**", "build/**", "scratch/**"})
            made.push_back(
                {std::move(*text::Glob::compile(pattern)), policy::Permission::read_write, {}});
        rules = policy::PathRules(std::move(made));
    }

private:
    TestDirectory directory_;

public:
    shell::Situation situation;
    policy::PathRules rules;
};

void analyse(benchmark::State& state, std::string_view script, const shell::TreeView& tree,
             const Workspace& workspace) {
    for (auto _ : state) {
        const auto parsed = shell::parse(script);
        CHECK(parsed.has_value());
        const shell::Prediction prediction = shell::predict(*parsed, workspace.situation, tree);
        CHECK(prediction.effects.size() > 2);
        benchmark::DoNotOptimize(
            shell::judge(prediction, workspace.situation, tree, workspace.rules, policy::Actor()));
    }
}

const int kRegistered = [] {
    for (const auto& [name, script] : kScripts) {
        CHECK(script.size() == 200);
        benchmark::RegisterBenchmark(cat("Analysis/parsed/", name).c_str(),
                                     [script = script](benchmark::State& state) {
                                         for (auto _ : state)
                                             benchmark::DoNotOptimize(shell::parse(script));
                                     });
        benchmark::RegisterBenchmark(cat("Analysis/in_memory/", name).c_str(),
                                     [script = script](benchmark::State& state) {
                                         const Workspace workspace;
                                         const TreeInMemory tree(workspace.situation.root);
                                         analyse(state, script, tree, workspace);
                                     });
        benchmark::RegisterBenchmark(cat("Analysis/on_disk/", name).c_str(),
                                     [script = script](benchmark::State& state) {
                                         const Workspace workspace;
                                         const shell::DiskTree tree;
                                         analyse(state, script, tree, workspace);
                                     });
    }
    return 0;
}();

}  // namespace
}  // namespace quire::bench
