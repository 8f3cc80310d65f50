// block_id as file:PATH and memory:LABEL, and what answers about files and memory are called.
#include <gtest/gtest.h>

#include "tests/flows/workspace.h"

namespace quire {
namespace {

class BlockNames : public testing::Test {
protected:
    // The structured answer of a tool; an error's members where it was refused.
    Value ask(std::string_view tool, const std::string& arguments,
              const std::string& actor = "agent:ada") {
        return workspace.call_tool(tool, arguments, actor).structured;
    }
    std::string reason(std::string_view tool, const std::string& arguments,
                       const std::string& actor = "agent:ada") {
        const Value answer = ask(tool, arguments, actor);
        const Value* const error = answer.get("error");
        return error == nullptr ? "ok" : error->get("reason")->as_string();
    }
    static std::string text(const Value& answer, std::string_view member) {
        const Value* const value = answer.get(member);
        return value == nullptr ? "<none>" : value->as_string();
    }
    // A Text of Ada's.
    void remember(const std::string& label, const std::string& content) {
        kernel::MemoryCreate what;
        what.label = label;
        what.schema = Value("Text");
        what.content = content;
        workspace.remember("agent:ada", std::move(what));
    }

    Workspace workspace{Profile::model};
};

TEST_F(BlockNames, AFileIsLoadedAndNamedInEveryAnswer) {
    workspace.disk.put("src/a.txt", "one\ntwo\n");

    const Value viewed = ask("block_view", R"({"block_id":"file:src/a.txt"})");
    EXPECT_EQ(text(viewed, "content"), "1\tone\n2\ttwo\n");
    EXPECT_EQ(text(viewed, "path"), "src/a.txt");
    const Value edited = ask("block_str_replace", R"({"block_id":"file:src/a.txt",)"
                                                  R"("old_str":"two","new_str":"2"})");
    EXPECT_EQ(text(edited, "path"), "src/a.txt");
    EXPECT_EQ(text(ask("block_append", R"({"block_id":"file:src/a.txt","text":"3\n"})"), "path"),
              "src/a.txt");
    EXPECT_EQ(text(ask("block_undo", R"({"block_id":"file:src/a.txt"})"), "path"), "src/a.txt");
    const Value found = ask("block_search", R"({"block_id":"file:src/a.txt","query":"2"})");
    EXPECT_EQ(text(found, "path"), "src/a.txt");
    EXPECT_EQ(found.get("matches")->as_list().size(), 1U);
}

// A block of kind file is the file that its metadata names, and no namesake.
TEST_F(BlockNames, ABlockOfAFileIsThatFile) {
    const auto create = [&](const std::string& path, const std::string& more = "") {
        return cat(R"({"kind":"file","metadata":{"path":")", path, "\"}", more, "}");
    };
    const std::string with_content = R"(,"content":"text\n")";
    const Value made = ask("block_create", create("new.txt", with_content));
    EXPECT_EQ(text(made, "path"), "new.txt");
    EXPECT_EQ(workspace.disk.get("new.txt"), "text\n");
    EXPECT_EQ(reason("block_create", create("new.txt", with_content)), "file_exists");
    workspace.call(R"({"operation":"read","path":"new.txt"})");
    EXPECT_EQ(text(workspace.last, "block_id"), text(made, "block_id"));
    EXPECT_EQ(text(ask("block_create", create("new.txt")), "block_id"), text(made, "block_id"));
    EXPECT_EQ(reason("block_create", create("../outside.txt")), "outside_workspace");
    // While there is no such file, the block only speaks of one.
    EXPECT_NE(text(ask("block_create", create("later.txt")), "block_id").find('_'),
              std::string::npos);
}

// A client that lost the answer sends the call again, and gets the file that the first call made.
TEST_F(BlockNames, ARepeatedTokenGivesTheFileThatTheFirstCallMade) {
    const std::string call =
        R"({"kind":"file","metadata":{"path":"new.txt"},"content":"text\n","client_token":"t1"})";
    const Value made = ask("block_create", call);
    EXPECT_EQ(text(made, "path"), "new.txt");
    const Value again = ask("block_create", call);
    EXPECT_EQ(text(again, "block_id"), text(made, "block_id"));
    EXPECT_EQ(text(again, "path"), "new.txt");
    EXPECT_NE(text(again, "snippet").find("text"), std::string::npos);

    // The other arguments do not matter, and another token is another call.
    EXPECT_EQ(text(ask("block_create", R"({"content":"x","client_token":"t1"})"), "block_id"),
              text(made, "block_id"));
    EXPECT_EQ(reason("block_create", R"({"kind":"file","metadata":{"path":"new.txt"},)"
                                     R"("content":"text\n","client_token":"t2"})"),
              "file_exists");
    EXPECT_EQ(workspace.outcome(R"({"operation":"delete","path":"new.txt"})", "human:eve"), "ok");
    EXPECT_EQ(reason("block_create", call), "token_used");
}

TEST_F(BlockNames, ARepeatedTokenGivesTheFileThatTheFirstCallOpened) {
    workspace.disk.put("a.txt", "one\n");
    const std::string open = R"({"kind":"file","metadata":{"path":"a.txt"},"client_token":"t1"})";
    const Value opened = ask("block_create", open);
    EXPECT_EQ(text(opened, "path"), "a.txt");
    EXPECT_EQ(text(ask("block_create", open), "block_id"), text(opened, "block_id"));
    const Value again = ask("block_create", R"({"content":"x","client_token":"t1"})");
    EXPECT_EQ(text(again, "block_id"), text(opened, "block_id"));
    EXPECT_EQ(text(again, "path"), "a.txt");

    // A path without a file is a block of the conversation, as without a token.
    const std::string none = R"({"kind":"file","metadata":{"path":"none"},"client_token":"t2"})";
    const Value made = ask("block_create", none);
    EXPECT_EQ(text(made, "path"), "<none>");
    EXPECT_EQ(text(ask("block_create", none), "block_id"), text(made, "block_id"));
}

TEST_F(BlockNames, AFilesBlockIsNamedByItsIdToo) {
    workspace.disk.put("a.txt", "one\n");
    workspace.call(R"({"operation":"read","path":"a.txt"})");
    const std::string id = text(workspace.last, "block_id");

    EXPECT_EQ(text(ask("block_append", cat(R"({"block_id":")", id, R"(","text":"x"})")), "path"),
              "a.txt");
}

TEST_F(BlockNames, AFileThatIsNotThereIsRefusedAsSuch) {
    EXPECT_EQ(reason("block_view", R"({"block_id":"file:none"})"), "file_not_found");
    EXPECT_EQ(reason("block_view", R"({"block_id":"file:../x"})"), "outside_workspace");
    EXPECT_EQ(reason("block_append", R"({"block_id":"file:x.lock","text":"x"})"), "file_not_found");
}

TEST_F(BlockNames, AnAbsolutePathBeneathTheRootIsTheFileThere) {
    workspace.disk.put("a.txt", "one\n");
    const std::string path = cat(workspace.disk.path(), "/a.txt");

    EXPECT_EQ(text(ask("block_view", cat(R"({"block_id":"file:)", path, "\"}")), "path"), "a.txt");
    EXPECT_EQ(workspace.content(path), "1\tone\n");
    EXPECT_EQ(workspace.outcome(R"({"operation":"read","path":"/etc/passwd"})"),
              "outside_workspace");
}

TEST_F(BlockNames, MemoryIsReadAsPlainTextByItsLabel) {
    remember("notes", "buy milk\nand bread\n");

    for (const char* name : {"memory:notes", "memory:agent:ada/notes"}) {
        const Value viewed = ask("block_view", cat(R"({"block_id":")", name, "\"}"));
        EXPECT_EQ(text(viewed, "content"), "1\tbuy milk\n2\tand bread\n");
        EXPECT_EQ(text(viewed, "label"), "notes");
        EXPECT_EQ(text(viewed, "owner"), "agent:ada");
    }
    const Value found = ask("block_search", R"({"block_id":"memory:notes","query":"bread"})");
    EXPECT_EQ(found.get("matches")->as_list().size(), 1U);
    EXPECT_EQ(text(found, "label"), "notes");
}

TEST_F(BlockNames, ToolsThatWriteSendMemoryToTheToolContext) {
    remember("notes", "one\n");

    const Value refused = ask("block_append", R"({"block_id":"memory:notes","text":"x"})");
    EXPECT_EQ(text(*refused.get("error"), "reason"), "memory_block");
    EXPECT_NE(text(*refused.get("error"), "message").find("context"), std::string::npos);
    EXPECT_EQ(reason("block_undo", R"({"block_id":"memory:notes"})"), "memory_block");
}

TEST_F(BlockNames, MemoryThatTheCallerMayNotSeeDoesNotExist) {
    remember("notes", "one\n");

    EXPECT_EQ(reason("block_view", R"({"block_id":"memory:agent:ada/notes"})", "agent:bo"),
              "invalid_reference");
    EXPECT_EQ(
        reason("block_append", R"({"block_id":"memory:agent:ada/notes","text":"x"})", "agent:bo"),
        "invalid_reference");
}

TEST_F(BlockNames, ALongLineIsReadOnByItsColumns) {
    workspace.disk.put("a.txt", cat(std::string(2000, 'a'), "bcd\nshort\n"));

    const tools::EncodedResult cut =
        workspace.call_tool("block_view", R"({"block_id":"file:a.txt"})");
    EXPECT_NE(cut.text.find("columns"), std::string::npos) << cut.text.substr(2000);
    const Value rest = ask("block_view", R"({"block_id":"file:a.txt","start_line":1,"end_line":1,)"
                                         R"("columns":{"start":2001,"end":2002}})");
    EXPECT_EQ(text(rest, "content"), "1\tbc");
    workspace.call(R"({"operation":"read","path":"a.txt","range":{"start":1,"end":1},)"
                   R"("columns":{"start":2002,"end":-1}})");
    EXPECT_EQ(text(workspace.last, "content"), "1\tcd\n");
    EXPECT_EQ(reason("block_view", R"({"block_id":"file:a.txt","columns":{"start":1,"end":2}})"),
              "invalid_arguments");
    EXPECT_EQ(reason("block_view", R"({"block_id":"file:a.txt","start_line":2,"end_line":2,)"
                                   R"("columns":{"start":0,"end":2}})"),
              "invalid_range");
}

TEST_F(BlockNames, AMistypedOperationIsRefusedWithTheNearest) {
    const Value refused = ask("file", R"({"operation":"raed","path":"a.txt"})");

    EXPECT_NE(text(*refused.get("error"), "message").find("did you mean 'read'?"),
              std::string::npos)
        << text(*refused.get("error"), "message");
}

}  // namespace
}  // namespace quire
