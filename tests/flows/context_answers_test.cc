// The answers of the tool `context` fit what each profile publishes of it, operation by operation.
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "kernel/core/desk_test.h"
#include "kernel/memory/memory_calls.h"
#include "tests/flows/published.h"
#include "tools/tools.h"

namespace quire {
namespace {

class ContextAnswers : public testing::TestWithParam<tools::Profile> {
protected:
    ContextAnswers() { registry_.add(GetParam(), tools::make_context(memory_, GetParam())); }

    // The answer to a call that must succeed.
    Value ask(std::string_view arguments) {
        tools::Session session;
        session.profile = GetParam();
        session.caller = kernel::Desk::as("ada");
        const Value given = json::parse(arguments).value();
        std::optional<Result<tools::EncodedResult>> answer;
        registry_.call(session, "context", given, [&](Result<tools::ToolResult> result) {
            answer = encoded(std::move(result));
        });
        desk_.scheduler.run_all();
        CHECK(answer && *answer);
        EXPECT_FALSE((*answer)->is_error) << arguments << (*answer)->text;
        expect_published(registry_, GetParam(), "context", **answer);
        asked_.insert(given.get("operation")->as_string());
        return (*answer)->structured;
    }
    std::string keys(std::string_view arguments) {
        std::string out;
        const Value answer = ask(arguments);
        for (const Map::Entry& each : answer.as_map()) out += each.key + " ";
        return out;
    }
    // The answer has these members; in profile `model` those of them that say something new.
    void expect_members(std::string_view arguments, const std::string& members) {
        const std::string found = keys(arguments);
        if (GetParam() != tools::Profile::model) {
            EXPECT_EQ(found, members);
            return;
        }
        std::istringstream words(found);
        for (std::string word; words >> word;)
            EXPECT_NE(cat(" ", members).find(cat(" ", word, " ")), std::string::npos) << word;
        for (const std::string kept : {"version ", "blocks ", "diff "}) {
            if (members.find(kept) == std::string::npos) continue;
            EXPECT_NE(found.find(kept), std::string::npos) << arguments;
        }
    }
    std::set<std::string> unasked() const {
        std::set<std::string> out;
        for (const std::string& name : registry_.find(GetParam(), "context")->operations.names()) {
            if (!asked_.contains(name)) out.insert(name);
        }
        return out;
    }

private:
    kernel::Desk desk_;
    kernel::MemoryCalls memory_{*desk_.kernel};
    tools::Registry registry_{{*desk_.kernel}};
    std::set<std::string> asked_;
};

TEST_P(ContextAnswers, EachOperationsAnswerFitsThePublishedSchema) {
    const std::string done = "label block_id version ";
    expect_members(R"({"operation":"create","label":"m","schema":{"Map":{"fields":[
        {"name":"count","field_type":"Counter"},{"name":"list","field_type":"List"},
        {"name":"name","field_type":"Text"}]}}})",
                   done);
    expect_members(R"({"operation":"create","label":"t","schema":"Text"})", done);
    expect_members(R"({"operation":"set_field","label":"m","field":"name","value":"a"})", done);
    expect_members(R"({"operation":"increment_counter","label":"m","field":"count","delta":2})",
                   done + "value ");
    expect_members(R"({"operation":"append_to_list","label":"m","field":"list","item":{"a":1}})",
                   done);
    expect_members(R"({"operation":"insert_item","label":"m","field":"list","index":0,"item":1})",
                   done);
    expect_members(R"({"operation":"set_item","label":"m","field":"list","index":0,"item":2})",
                   done);
    expect_members(R"({"operation":"set_item","label":"m","field":"list","index":1,
        "item_field":"a","value":null})",
                   done);
    expect_members(R"({"operation":"remove_from_list","label":"m","field":"list","index":0})",
                   done + "removed ");
    expect_members(R"({"operation":"set_text","label":"t","content":""})", done + "no_op ");
    expect_members(R"({"operation":"append","label":"t","content":"one two\n"})", done);
    expect_members(R"({"operation":"replace","label":"t","find":"two","replace":"2"})", done);
    expect_members(R"({"operation":"view","label":"m"})",
                   done + "type permission schema rendered value ");
    const std::string undone = done + "restored removed skipped_because_changed ";
    expect_members(R"({"operation":"undo","label":"t"})", undone);
    expect_members(R"({"operation":"redo","label":"t"})", undone);
    expect_members(R"({"operation":"history","label":"t","limit":1})",
                   done + "versions next_cursor ");
    expect_members(R"({"operation":"diff","label":"t","from":"1"})", done + "from to diff ");
    expect_members(R"({"operation":"rollback","label":"t","version_id":"1"})", done);
    expect_members(R"({"operation":"share","label":"t","with":"bo"})", done);
    expect_members(R"({"operation":"unshare","label":"t","with":"bo"})", done);
    expect_members(R"({"operation":"list"})", "blocks ");
    expect_members(R"({"operation":"search","query":"one"})", "blocks ");
    expect_members(R"({"operation":"convert","label":"m","dry_run":true,"schema":{"Map":{"fields":[
        {"name":"count","field_type":"Counter"},
        {"name":"size","field_type":"Number","required":true}]}}})",
                   done + "report ");
    expect_members(R"({"operation":"archive","label":"m","archival_label":"old"})",
                   done + "archival_label ");
    expect_members(R"({"operation":"swap","label":"t","archival_label":"old"})",
                   done + "archival_label ");
    expect_members(R"({"operation":"archive","label":"t","archival_label":"older"})",
                   done + "archival_label ");
    expect_members(R"({"operation":"load","archival_label":"older"})", done);
    expect_members(R"({"operation":"rename","label":"older","to":"newer"})", done);
    expect_members(R"({"operation":"delete","label":"newer"})", done);
    expect_members(R"({"operation":"restore","label":"newer","to":"older"})", done);
    expect_members(R"({"operation":"delete","label":"older"})", done);
    EXPECT_EQ(unasked(), std::set<std::string>());
}

INSTANTIATE_TEST_SUITE_P(Profiles, ContextAnswers,
                         testing::Values(tools::Profile::model, tools::Profile::full,
                                         tools::Profile::compat));

}  // namespace
}  // namespace quire
