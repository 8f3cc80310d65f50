// Records as an earlier program stored them: they are read, and written back byte for byte.
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "kernel/memory/memory_header.h"
#include "kernel/oversight/approval_record.h"

namespace quire::kernel {
namespace {

constexpr std::string_view kStoredHeader =
    R"({"format":1,"type":"working","owner":"agent:ada","permission":"human","pinned":true,)"
    R"("description":"a \"plan\"","shares":[{"with":"agent:eve","permission":"append"}],)"
    R"("schema":{"Map":{"fields":[{"name":"goal","field_type":"Text","required":true,)"
    R"("read_only":false},{"name":"level","field_type":"Number","required":false,"default":5,)"
    R"("read_only":false}]}},"char_limit":100})";
constexpr std::string_view kBareHeader =
    R"({"format":1,"type":"core","owner":"source:lint","permission":"read_write","pinned":false,)"
    R"("description":"","shares":[],"schema":{"Text":{}}})";

constexpr std::string_view kStoredApproval =
    R"({"format":1,"actor":"agent:ada","operation":"overwrite","kind":"memory","name":"plan",)"
    R"("block_id":"b1","schema":"4da4ff1f","call":"8ded9e14","permission":"human",)"
    R"("description":"context {\"operation\":\"set_field\"}","asked_ms":1795464937516,)"
    R"("status":"approved","resolved":{"by":"human:tom","at_ms":1795464937608,)"
    R"("answer":"approve_once","until_ms":0,"scope":""}})";
constexpr std::string_view kElicitedApproval =
    R"({"format":1,"actor":"agent:ada","operation":"delete","kind":"file","name":"a.txt",)"
    R"("block_id":"","schema":"","call":"8d","permission":"read_write","description":"",)"
    R"("asked_ms":-1,"status":"denied","resolved":{"by":"human:tom","at_ms":2,"answer":"deny",)"
    R"("until_ms":0,"scope":"","elicited_in":7}})";
constexpr std::string_view kPendingApproval =
    R"({"format":1,"actor":"agent:ada","operation":"execute","kind":"tool","name":"deploy",)"
    R"("block_id":"","schema":"","call":"8d","permission":"human","description":"",)"
    R"("asked_ms":1,"status":"pending"})";

Bytes bytes_of(std::string_view text) {
    return {text.begin(), text.end()};
}

store::KeyedRecord approval_record(std::string_view body) {
    return {{.table = store::Table::approvals, .key = "ap_1"}, bytes_of(body)};
}

std::string without(std::string_view text, std::string_view part) {
    std::string out(text);
    out.erase(out.find(part), part.size());
    return out;
}

TEST(StoredRecords, AMemoryHeaderIsWrittenBackByteForByte) {
    for (const std::string_view stored : {kStoredHeader, kBareHeader}) {
        const Result<MemoryHeader> header = decode_memory_header("plan", bytes_of(stored));
        ASSERT_TRUE(header) << header.error().message();
        EXPECT_EQ(header->block.label, "plan");
        EXPECT_EQ(as_text(encode(*header)), stored);
    }
}

TEST(StoredRecords, ADamagedHeaderNamesTheMember) {
    const auto refusal = [](const std::string& stored) {
        const Result<MemoryHeader> header = decode_memory_header("plan", bytes_of(stored));
        return header ? "fine" : header.error().message();
    };
    EXPECT_EQ(refusal(without(kStoredHeader, R"("with":"agent:eve",)")),
              "memory block 'plan' cannot be used: its stored header is damaged: `shares[0].with` "
              "is missing; it must be a string. Its bytes are kept as they are");
    EXPECT_NE(refusal(without(kBareHeader, R"({"Text":{}})") + "}").find("not JSON"),
              std::string::npos);
    EXPECT_NE(refusal(R"({"format":2})").find("`format` must be 1"), std::string::npos);
}

TEST(StoredRecords, AnApprovalIsWrittenBackByteForByte) {
    for (const std::string_view stored : {kStoredApproval, kElicitedApproval, kPendingApproval}) {
        const Result<policy::Approval> approval = decode_approval(approval_record(stored));
        ASSERT_TRUE(approval) << approval.error().message();
        EXPECT_EQ(approval->id, "ap_1");
        EXPECT_EQ(encode(*approval), stored);
    }
}

TEST(StoredRecords, AnApprovalWithoutItsAnswerIsDamaged) {
    std::string text(kPendingApproval);
    text.replace(text.find("pending"), 7, "approved");

    const Result<policy::Approval> approval = decode_approval(approval_record(text));
    ASSERT_FALSE(approval);
    EXPECT_EQ(approval.error().code(), Errc::corrupt);
    EXPECT_EQ(approval.error().message(),
              "approval ap_1 in the store is damaged: `resolved` is missing");
}

}  // namespace
}  // namespace quire::kernel
