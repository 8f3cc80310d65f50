// A question costs a few string copies, an answer a few look-ups. Both are bounded: names and the
// call are cut, and an answer is read only in the form that was asked for.
#include "mcp/elicitation.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/concat.h"
#include "base/utf8.h"
#include "json/members.h"
#include "text/escape_hidden.h"

namespace quire::mcp::elicitation {

namespace {

using policy::Answer;
using policy::Approval;

// Lengths in code points: of a label or path, and of the call.
constexpr std::size_t kLongestName = 200;
constexpr std::size_t kLongestCall = 1200;
constexpr std::string_view kModesSince = "2025-11-25";

// For a mounted tool that has changed: allowing it once accepts its definition for good.
constexpr std::array kOfferedOfMounts = {Answer::approve_once, Answer::deny};

// approve_scope is not offered: it allows calls for good that cannot be shown here, so it is given
// on the command line, where approvals are listed. There is no approval yet that could be revoked.
constexpr std::array kOffered = {Answer::approve_once, Answer::approve_for, Answer::deny};

std::span<const Answer> offered_for(const policy::Target& target) {
    return target.kind == "mount" ? std::span<const Answer>(kOfferedOfMounts)
                                  : std::span<const Answer>(kOffered);
}

std::string cut(std::string_view text, std::size_t code_points) {
    const std::string_view begin = utf8::prefix(text, code_points);
    return cat(begin, begin.size() < text.size() ? "…" : "");
}

// The verb of a sentence whose object is the target.
std::string_view verb(policy::Operation operation) {
    return operation == policy::Operation::append ? "append to" : name_of(operation);
}

std::string what_for(const policy::Ask& ask) {
    const std::string name = cut(text::escape_hidden(ask.target.name), kLongestName);
    if (ask.target.kind == "tool") return cat("make a call that needs your consent to ", name);
    if (ask.target.kind == "mount") {
        return cat("use ", name,
                   ", a tool of another program that has changed since it was approved. Approving "
                   "accepts its new definition, for good and for every agent");
    }
    if (ask.target.kind == "command") return cat("run a command that uses the network: ", name);
    return cat(verb(ask.operation), ask.target.kind == "file" ? " the file " : " the block ", name);
}

Map decision_among(std::span<const Answer> offered, std::string_view says) {
    List words;
    for (const Answer each : offered) words.emplace_back(name_of(each));
    return {{"type", "string"},
            {"title", "Decision"},
            {"description", says},
            {"enum", std::move(words)}};
}

Map form_of(const policy::Ask& ask) {
    if (ask.target.kind == "mount") {
        return {{"type", "object"},
                {"properties", Map{{"decision", decision_among(offered_for(ask.target),
                                                               "approve_once: accept the tool as "
                                                               "it is now, for good. deny: refuse "
                                                               "it, also when it asks again.")}}},
                {"required", List{"decision"}}};
    }
    Map decision =
        decision_among(offered_for(ask.target),
                       "approve_once: allow this call. approve_for: allow this operation there for "
                       "a time, with any content. deny: refuse it, also when it asks again.");
    Map duration{{"type", "integer"},
                 {"title", "Seconds"},
                 {"description", "For approve_for: how long."},
                 {"minimum", 1},
                 {"maximum", policy::kLongestDurationS},
                 {"default", policy::kUsualDurationS}};
    return Map{
        {"type", "object"},
        {"properties", Map{{"decision", std::move(decision)}, {"duration_s", std::move(duration)}}},
        {"required", List{"decision"}}};
}

// A form's number may arrive as a float.
std::optional<std::int64_t> seconds(const Value& value) {
    if (value.is_int()) return value.as_int();
    if (!value.is_float()) return std::nullopt;
    const double number = value.as_float();
    if (!(number >= 1 && number <= static_cast<double>(policy::kLongestDurationS)))
        return std::nullopt;
    const auto whole = static_cast<std::int64_t>(number);
    return static_cast<double>(whole) == number ? std::optional(whole) : std::nullopt;
}

std::optional<policy::Resolution> accepted(const Value& content, std::span<const Answer> answers) {
    const std::string word = json::text_in(content, "decision");
    const auto offered =
        std::ranges::find_if(answers, [&](Answer each) { return name_of(each) == word; });
    if (offered == answers.end()) return std::nullopt;
    policy::Resolution out{.answer = *offered};
    // With another answer the duration is the form's default, which nobody chose.
    const Value* const duration = content.get("duration_s");
    if (*offered != Answer::approve_for || duration == nullptr || duration->is_null()) return out;
    out.duration_s = seconds(*duration);
    if (!out.duration_s || *out.duration_s < 1 || *out.duration_s > policy::kLongestDurationS)
        return std::nullopt;
    return out;
}

}  // namespace

std::optional<std::string> approval_of(const tools::ToolResult& result) {
    const Error* const refusal = result.refusal();
    if (refusal == nullptr || refusal->code() != Errc::escalation_required) return std::nullopt;
    const Value* const id = refusal->details().find("approval_id");
    if (id == nullptr || !id->is_string() || id->as_string().empty()) return std::nullopt;
    return id->as_string();
}

Map question(const Approval& approval, std::string_view version) {
    const std::string asker = approval.ask.actor.str();
    const std::string what = approval.ask.target.kind == "mount"
                                 ? "The change, in that program's words"
                                 : cat("The call, in the words of ", asker);
    Map out;
    // Revisions are dates, so they compare as text.
    if (version >= kModesSince) out.append("mode", "form");
    out.append("message", cat(asker, " asks you to let it ", what_for(approval.ask),
                              ".\nUntil you answer, it waits as ", approval.id,
                              " (quire approvals), and nothing is done.\n", what, ": ",
                              cut(text::escape_hidden(approval.description), kLongestCall),
                              approval.diff.empty() ? "" : "\nThe change:\n",
                              cut(approval.diff, kLongestCall)));
    out.append("requestedSchema", form_of(approval.ask));
    return out;
}

std::optional<policy::Resolution> decision(const Value& answer, const policy::Target& target) {
    const std::string action = json::text_in(answer, "action");
    if (action == "decline") return policy::Resolution{.answer = Answer::deny};
    const Value* const content = answer.get("content");
    if (action != "accept" || content == nullptr) return std::nullopt;
    return accepted(*content, offered_for(target));
}

}  // namespace quire::mcp::elicitation
