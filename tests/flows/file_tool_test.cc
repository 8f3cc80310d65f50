// The tool `file` on a real directory: what an agent says in JSON, what then lies on the disk.
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/concat.h"
#include "json/json.h"
#include "tests/flows/workspace.h"

namespace quire {
namespace {

TEST(FileTool, EveryOperationDoesItsWorkAndNamesTheFile) {
    Workspace workspace;

    EXPECT_EQ(
        workspace.outcome(R"({"operation":"create","path":"a/b.txt","content":"one\ntwo\n"})"),
        "ok");
    EXPECT_EQ(*workspace.last.get("path"), Value("a/b.txt"));
    EXPECT_EQ(*workspace.last.get("version"), Value(1));
    const Value id = *workspace.last.get("block_id");
    EXPECT_EQ(workspace.disk.get("a/b.txt"), "one\ntwo\n");

    for (const char* call :
         {R"({"operation":"append","path":"a/b.txt","content":"three\n"})",
          R"({"operation":"insert","path":"a/b.txt","line":0,"content":"zero"})",
          R"({"operation":"replace","path":"a/b.txt","find":"two","replace":"2"})",
          R"({"operation":"edit","path":"a/b.txt","operations":[
                                 {"op":"replace","start_line":1,"end_line":2,"content":"ONE","expected_text":"one"},
                                 {"op":"delete","start_line":3,"end_line":4},
                                 {"op":"insert","line":3,"content":"end"}]})"}) {
        ASSERT_EQ(workspace.outcome(call), "ok") << call << json::write(workspace.last);
        EXPECT_EQ(*workspace.last.get("block_id"), id);
        EXPECT_EQ(*workspace.last.get("path"), Value("a/b.txt"));
    }
    EXPECT_EQ(*workspace.last.get("version"), Value(5));
    EXPECT_EQ(workspace.content("a/b.txt"), "zero\nONE\n2\nend\n");
    EXPECT_EQ(workspace.disk.get("a/b.txt"), "one\ntwo\n");

    workspace.call(R"({"operation":"status","path":"a/b.txt"})");
    EXPECT_EQ(json::write(workspace.last),
              cat(R"({"path":"a/b.txt","block_id":)", json::write(id), R"(,"version":5,)",
                  R"("permission":"read_write","dirty":true,"disk":"same","conflict":false})"));
    EXPECT_EQ(workspace.outcome(R"({"operation":"save","path":"a/b.txt"})"), "ok");
    EXPECT_EQ(workspace.disk.get("a/b.txt"), "zero\nONE\n2\nend\n");
    workspace.call(R"({"operation":"status"})");
    EXPECT_EQ(*workspace.last.get("files")->as_list()[0].get("dirty"), Value(false));

    EXPECT_EQ(
        workspace.outcome(R"({"operation":"load","path":"a/b.txt","range":{"start":1,"end":3}})"),
        "ok");
    EXPECT_EQ(*workspace.last.get("content"), Value("1\tONE\n2\t2\n"));
    workspace.call(R"({"operation":"list","pattern":"*.txt"})");
    EXPECT_EQ(*workspace.last.get("files")->as_list()[0].get("block_id"), id);
    EXPECT_EQ(*workspace.last.get("files")->as_list()[0].get("version"), Value(5));

    EXPECT_EQ(workspace.outcome(R"({"operation":"delete","path":"a/b.txt"})"),
              "escalation_required");
    EXPECT_TRUE(workspace.last.get("error")->get("details")->get("approval_id")->is_string());
    EXPECT_EQ(workspace.outcome(R"({"operation":"delete","path":"a/b.txt"})", "human:kay"), "ok");
    EXPECT_FALSE(workspace.disk.has("a/b.txt"));
}

TEST(FileTool, TheModelProfileCountsLinesFromOneAndIncludesTheLast) {
    Workspace workspace(Profile::model);
    workspace.disk.put("f", "one\ntwo\nthree\n");

    EXPECT_EQ(workspace.outcome(R"({"operation":"read","path":"f","range":{"start":2,"end":-1}})"),
              "ok");
    EXPECT_EQ(*workspace.last.get("content"), Value("2\ttwo\n3\tthree\n"));
    EXPECT_EQ(workspace.outcome(
                  R"({"operation":"insert","path":"f","line":1,"content":"one and a half"})"),
              "ok");
    EXPECT_EQ(workspace.outcome(R"({"operation":"edit","path":"f","operations":
        [{"op":"replace","start_line":3,"end_line":4,"content":"rest","expected_text":"two\nthree"}]})"),
              "ok");
    EXPECT_EQ(workspace.content("f"), "1\tone\n2\tone and a half\n3\trest\n");
    EXPECT_EQ(workspace.outcome(R"({"operation":"read","path":"f","range":{"start":0,"end":1}})"),
              "invalid_range");
}

TEST(FileTool, TheModelProfileSaysThePermissionOfMostFilesOnce) {
    Workspace workspace(Profile::model);
    workspace.disk.put("a.txt", "one\n");
    workspace.disk.put("b.lock", "two\n");
    workspace.disk.put("c.txt", "three\n");

    EXPECT_EQ(workspace.outcome(R"({"operation":"list"})"), "ok");

    EXPECT_EQ(json::write(workspace.last),
              R"({"files":[{"path":"a.txt","size":4},{"path":"b.lock","size":4,)"
              R"("permission":"read_only"},{"path":"c.txt","size":6}],"permission":"read_write"})");
}

TEST(FileTool, TheModelProfileDoesNotRepeatThePathThatTheCallNames) {
    Workspace workspace(Profile::model);
    workspace.disk.put("f", "one\n");

    EXPECT_EQ(workspace.outcome(R"({"operation":"read","path":"f"})"), "ok");
    EXPECT_FALSE(workspace.last.get("path"));
    EXPECT_EQ(workspace.outcome(R"({"operation":"read","path":"./f"})"), "ok");
    EXPECT_EQ(*workspace.last.get("path"), Value("f"));
}

TEST(FileTool, ARangeOfTheModelProfileEndsAtItsStartOrLater) {
    Workspace workspace(Profile::model);
    workspace.disk.put("f", "one\ntwo\nthree\n");

    for (
        const char* call :
        {R"({"operation":"read","path":"f","range":{"start":2,"end":1}})",
         R"({"operation":"read","path":"f","range":{"start":0,"end":1}})",
         R"({"operation":"read","path":"f","range":{"start":-9223372036854775808,"end":1}})",
         R"({"operation":"edit","path":"f","operations":[{"op":"delete","start_line":2,"end_line":1}]})",
         R"({"operation":"edit","path":"f","operations":
                [{"op":"replace","start_line":3,"end_line":2,"content":"x"}]})"}) {
        EXPECT_EQ(workspace.outcome(call), "invalid_range") << call;
    }
    EXPECT_EQ(workspace.outcome(R"({"operation":"read","path":"f","range":{"start":2,"end":2}})"),
              "ok");
    EXPECT_EQ(*workspace.last.get("content"), Value("2\ttwo\n"));
}

TEST(FileTool, LoadThenSaveIsTheIdentityOnBytes) {
    Workspace workspace;
    int number = 0;
    for (const std::string bytes : {"", "a", "a\n", "a\r\nb\r\n", "a\r\nb\nc\rd", "\xEF\xBB\xBF",
                                    "\xEF\xBB\xBF"
                                    "a\r\nb",
                                    "\xEF\xBB\xBF\xEF\xBB\xBF"
                                    "a\n",
                                    "é\xE2\x80\xA8\xC2\x85\n\n\n"}) {
        const std::string path = cat("f", number++);
        workspace.disk.put(path, bytes);
        struct stat before = {};
        ASSERT_EQ(::stat((workspace.disk / path).c_str(), &before), 0);

        EXPECT_EQ(workspace.outcome(cat(R"({"operation":"load","path":")", path, "\"}")), "ok");
        EXPECT_EQ(workspace.outcome(cat(R"({"operation":"save","path":")", path, "\"}")), "ok");

        struct stat after = {};
        ASSERT_EQ(::stat((workspace.disk / path).c_str(), &after), 0);
        EXPECT_EQ(workspace.disk.get(path), bytes);
        EXPECT_EQ(after.st_ino, before.st_ino);
    }
}

TEST(FileTool, AnEditedSaveKeepsLineEndsByteOrderMarkModeAndAttributes) {
    Workspace workspace;
    workspace.disk.put("run.sh",
                       "\xEF\xBB\xBF"
                       "one\r\ntwo\r\nthree");
    ASSERT_EQ(::chmod((workspace.disk / "run.sh").c_str(), 0755), 0);
    ASSERT_EQ(::setxattr((workspace.disk / "run.sh").c_str(), "user.note", "kept", 4, 0), 0);

    EXPECT_EQ(
        workspace.outcome(R"({"operation":"insert","path":"run.sh","line":1,"content":"new"})"),
        "ok");
    EXPECT_EQ(workspace.outcome(R"({"operation":"save","path":"run.sh"})"), "ok");

    EXPECT_EQ(workspace.disk.get("run.sh"),
              "\xEF\xBB\xBF"
              "one\r\nnew\r\ntwo\r\nthree");
    struct stat status = {};
    ASSERT_EQ(::stat((workspace.disk / "run.sh").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0755U);
    char value[8] = {};
    EXPECT_EQ(::getxattr((workspace.disk / "run.sh").c_str(), "user.note", value, sizeof value), 4);
}

TEST(FileTool, ADiskChangeBetweenLoadAndSaveIsTakenInBesideTheEdit) {
    Workspace workspace;
    workspace.disk.put("f", "a\nb\nc\nd\n");
    EXPECT_EQ(
        workspace.outcome(R"({"operation":"replace","path":"f","find":"b","replace":"agent b"})"),
        "ok");

    workspace.disk.put("f", "a\nb\nc\ndisk d\n");
    workspace.call(R"({"operation":"status","path":"f"})");
    EXPECT_EQ(*workspace.last.get("disk"), Value("changed"));

    EXPECT_EQ(workspace.outcome(R"({"operation":"save","path":"f"})"), "ok");
    EXPECT_EQ(workspace.disk.get("f"), "a\nagent b\nc\ndisk d\n");
}

TEST(FileTool, ADiskChangeOfTheSameWordsIsNotOverwrittenUnseen) {
    Workspace workspace;
    workspace.disk.put("f", "timeout = 10\n");
    EXPECT_EQ(workspace.outcome(R"({"operation":"replace","path":"f","find":"10","replace":"30"})"),
              "ok");
    workspace.disk.put("f", "timeout = 45\n");

    EXPECT_EQ(workspace.outcome(R"({"operation":"save","path":"f"})"), "disk_changed");
    EXPECT_EQ(workspace.disk.get("f"), "timeout = 45\n");
    EXPECT_EQ(workspace.content("f"), "timeout = 30\n");
}

TEST(FileTool, TwoAgentsEditsOfOneFileAreBothSaved) {
    Workspace workspace;
    workspace.disk.put("f", "a\nb\n");

    EXPECT_EQ(workspace.outcome(R"({"operation":"replace","path":"f","find":"a","replace":"A"})",
                                "agent:ada"),
              "ok");
    EXPECT_EQ(workspace.outcome(R"({"operation":"replace","path":"f","find":"b","replace":"B"})",
                                "agent:bob"),
              "ok");
    EXPECT_EQ(workspace.outcome(R"({"operation":"save","path":"f"})", "agent:bob"), "ok");

    EXPECT_EQ(workspace.disk.get("f"), "A\nB\n");
}

TEST(FileTool, AForbiddenCallIsRefusedWithItsReason) {
    Workspace workspace;
    workspace.disk.put("a.lock", "x\n");
    workspace.disk.put("ask/f", "x\n");
    workspace.disk.put("log/f", "x\n");
    workspace.disk.put(".git/config", "x\n");
    workspace.disk.put("bin", std::string("a\0b", 3));
    workspace.disk.put("latin1", "caf\xE9\n");
    workspace.disk.put("d/x", "");
    workspace.disk.put("big", std::string((16 << 20) + 1, 'x'));
    ASSERT_EQ(::mkfifo((workspace.disk / "fifo").c_str(), 0600), 0);

    const std::pair<const char*, const char*> cases[] = {
        {R"({"operation":"replace","path":"a.lock","find":"x","replace":"y"})",
         "permission_denied"},
        {R"({"operation":"save","path":"a.lock"})", "permission_denied"},
        {R"({"operation":"append","path":"ask/f","content":"y"})", "escalation_required"},
        {R"({"operation":"insert","path":"log/f","line":0,"content":"y"})", "permission_denied"},
        {R"({"operation":"append","path":"log/f","content":"y"})", "ok"},
        {R"({"operation":"append","path":".git/config","content":"y"})", "permission_denied"},
        {R"({"operation":"create","path":"sub/.GIT/hooks/post-merge","content":"y"})",
         "permission_denied"},
        {R"({"operation":"create","path":"quire.toml","content":"y"})", "permission_denied"},
        {R"({"operation":"read","path":".quire/quire.db"})", "permission_denied"},
        {R"({"operation":"read","path":"../etc/passwd"})", "outside_workspace"},
        {R"({"operation":"read","path":"/etc/passwd"})", "outside_workspace"},
        {R"({"operation":"create","path":"d/../../x","content":"y"})", "outside_workspace"},
        {R"({"operation":"read","path":"bin"})", "binary_file"},
        {R"({"operation":"read","path":"latin1"})", "unsupported_encoding"},
        {R"({"operation":"read","path":"big"})", "too_large"},
        {R"({"operation":"read","path":"d"})", "not_a_file"},
        {R"({"operation":"read","path":"fifo"})", "not_a_file"},
        {R"({"operation":"read","path":"none"})", "file_not_found"},
        {R"({"operation":"read","path":"a\u0000b"})", "invalid_path"},
        {R"({"operation":"create","path":"a.lock","content":"y"})", "permission_denied"},
        {R"({"operation":"create","path":"d/x","content":"y"})", "file_exists"},
        {R"({"operation":"replace","path":"log/f","find":"none","replace":"y"})",
         "permission_denied"},
        {R"({"operation":"list","pattern":"a["})", "invalid_glob"},
    };
    for (const auto& [call, reason] : cases) EXPECT_EQ(workspace.outcome(call), reason) << call;
    EXPECT_EQ(workspace.disk.get(".git/config"), "x\n");
    EXPECT_EQ(workspace.disk.get("ask/f"), "x\n");
}

TEST(FileTool, ARefusalNamesTheOperationAndTheRule) {
    Workspace workspace;
    workspace.disk.put("a.lock", "x\n");

    const tools::EncodedResult refused =
        workspace.call(R"({"operation":"append","path":"a.lock","content":"y"})");

    EXPECT_EQ(refused.text,
              "Nothing was changed: agent:ada may not append a.lock: rule 1 ('*.lock') makes "
              "a.lock read_only. A person can change the rules in quire.toml.");
}

TEST(FileTool, ArgumentsThatDoNotBelongAreNamed) {
    Workspace workspace;
    const auto message = [&](std::string_view call) {
        const tools::EncodedResult result = workspace.call(call);
        return result.is_error ? result.structured.get("error")->get("message")->as_string() : "ok";
    };
    EXPECT_EQ(message(R"({"operation":"append","path":"f"})"),
              "operation append needs content; call it as append(path, content)");
    EXPECT_EQ(message(R"({"operation":"save","path":"f","find":"x"})"),
              "operation save does not take find; call it as save(path)");
    EXPECT_NE(message(R"({"operation":"chmod","path":"f"})"), "ok");
    EXPECT_NE(message(R"({"operation":"read","path":"f","colour":"red"})").find("colour"),
              std::string::npos);
    EXPECT_EQ(message(R"({"operation":"edit","path":"f","operations":[{"op":"insert","line":1}]})"),
              "operation 0: op insert needs content; call it as insert(line, content, "
              "expected_before?)");
}

TEST(FileTool, LinksAreAsStrictAsTheirTargetsAndNeverLeadOut) {
    Workspace workspace;
    const TestDirectory outside;
    outside.put("secret", "secret\n");
    workspace.disk.put("real", "old\n");
    workspace.disk.put("a.lock", "old\n");
    workspace.disk.link("alias", "real");
    workspace.disk.link("open", "a.lock");
    workspace.disk.link("out", outside / "secret");
    workspace.disk.link("up", "../" + std::filesystem::path(outside.path()).filename().string());

    EXPECT_EQ(workspace.outcome(R"({"operation":"append","path":"open","content":"y"})"),
              "permission_denied");
    EXPECT_EQ(workspace.outcome(R"({"operation":"read","path":"out"})"), "outside_workspace");
    EXPECT_EQ(workspace.outcome(R"({"operation":"create","path":"up/new","content":"y"})"),
              "outside_workspace");
    EXPECT_EQ(workspace.outcome(R"({"operation":"append","path":"alias","content":"more\n"})"),
              "ok");
    EXPECT_EQ(*workspace.last.get("path"), Value("real"));
    EXPECT_EQ(workspace.outcome(R"({"operation":"save","path":"alias"})"), "ok");
    EXPECT_EQ(workspace.disk.get("real"), "old\nmore\n");
    EXPECT_TRUE(std::filesystem::is_symlink(workspace.disk / "alias"));
    EXPECT_FALSE(outside.has("new"));
}

// Also where the lines are counted from 1, and whether the file is empty or not.
TEST(FileTool, AReadThatBeginsPastTheEndSaysWhichLinesThereAre) {
    Workspace workspace(Profile::model);
    workspace.disk.put("three", "a\nb\nc\n");
    workspace.disk.put("empty", "");
    const auto told = [&](const std::string& path, int start) {
        const tools::EncodedResult result =
            workspace.call(cat(R"({"operation":"read","path":")", path, R"(","range":{"start":)",
                               start, R"(,"end":-1}})"));
        if (!result.is_error) return std::string("ok");
        const Value& error = *result.structured.get("error");
        return cat(error.get("reason")->as_string(), json::write(*error.get("details")), " ",
                   error.get("message")->as_string());
    };

    EXPECT_EQ(told("three", 3), "ok");
    EXPECT_EQ(told("three", 4),
              R"(line_out_of_range{"requested":4,"max":3} line 4 is past the end: the block has 3 )"
              "lines. Valid lines: 1 to 3");
    EXPECT_EQ(told("three", 9),
              R"(line_out_of_range{"requested":9,"max":3} line 9 is past the end: the block has 3 )"
              "lines. Valid lines: 1 to 3");
    EXPECT_EQ(told("empty", 1), "ok");
    EXPECT_EQ(told("empty", 2),
              R"(line_out_of_range{"requested":2,"max":0} line 2 is past the end: the block has 0 )"
              "lines");
}

// An error that suggests a call names arguments which the operation has: each operation has its
// own.
TEST(FileTool, ErrorsNameTheArgumentsOfTheOperation) {
    for (const Profile profile : {Profile::full, Profile::model}) {
        Workspace workspace(profile);
        workspace.disk.put("f", "same\nother\nsame\n");
        for (
            const char* call :
            {R"({"operation":"replace","path":"f","find":"","replace":"x"})",
             R"({"operation":"replace","path":"f","find":"absent","replace":"x"})",
             R"({"operation":"replace","path":"f","find":"Same\nother","replace":"x"})",
             R"({"operation":"insert","path":"f","line":9,"content":"x"})",
             R"({"operation":"insert","path":"f","line":0,"content":""})",
             R"({"operation":"edit","path":"f","operations":[{"op":"insert","line":9,"content":"x"}]})",
             R"({"operation":"edit","path":"f","operations":[{"op":"insert","line":0,"content":""}]})"}) {
            const tools::EncodedResult result = workspace.call(call);
            EXPECT_TRUE(result.is_error) << call;
            for (const char* foreign : {"old_str", "insert_line", "block_", "replace_all", "View"})
                EXPECT_EQ(result.text.find(foreign), std::string::npos) << result.text;
        }
    }
}

TEST(FileTool, AFileWithSeveralNamesIsReadButNotSaved) {
    Workspace workspace;
    workspace.disk.put("f", "old\n");
    ASSERT_EQ(::link((workspace.disk / "f").c_str(), (workspace.disk / "g").c_str()), 0);

    EXPECT_EQ(workspace.outcome(R"({"operation":"append","path":"f","content":"more\n"})"), "ok");
    EXPECT_EQ(workspace.outcome(R"({"operation":"save","path":"f"})"), "hard_linked");
    EXPECT_EQ(workspace.disk.get("g"), "old\n");
}

TEST(FileTool, OddNamesSurvive) {
    Workspace workspace;
    for (const std::string name : {"-rf", "a b", "tab\there", "new\nline", "trailing ", "dots.",
                                   "\xE2\x80\xAErtl", "'\"\\$`*?[", "~", "ünï"}) {
        const std::string path = json::write(Value(name));
        EXPECT_EQ(
            workspace.outcome(cat(R"({"operation":"create","content":"x\n","path":)", path, "}")),
            "ok")
            << name;
        EXPECT_EQ(
            workspace.outcome(cat(R"({"operation":"append","content":"y\n","path":)", path, "}")),
            "ok")
            << name;
        EXPECT_EQ(workspace.outcome(cat(R"({"operation":"save","path":)", path, "}")), "ok")
            << name;
        EXPECT_EQ(workspace.disk.get(name), "x\ny\n");
    }
}

}  // namespace
}  // namespace quire
