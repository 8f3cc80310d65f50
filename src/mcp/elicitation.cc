#include "mcp/elicitation.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/concat.h"
#include "base/utf8.h"
#include "text/escape_hidden.h"

namespace quire::mcp::elicitation {

namespace {

using policy::Answer;
using policy::Approval;

constexpr std::size_t kLongestName = 200;   // Code points of a label or path,
constexpr std::size_t kLongestCall = 1200;  // and of the call as it is shown.
constexpr std::string_view kModesSince = "2025-11-25";

// Of a mounted tool that has changed: whoever lets it be used once has taken it for good.
constexpr std::array kOfferedOfMounts = {Answer::approve_once, Answer::deny};

// approve_scope lets through for good what cannot be seen here: it is said on the command line,
// where approvals are listed. To take back there is nothing yet.
constexpr std::array kOffered = {Answer::approve_once, Answer::approve_for, Answer::deny};

std::string cut(std::string_view text, std::size_t code_points) {
    const std::string_view begin = utf8::prefix(text, code_points);
    return cat(begin, begin.size() < text.size() ? "…" : "");
}

std::string_view verb(policy::Operation operation) {
    return operation == policy::Operation::append ? "append to" : policy::name_of(operation);
}

std::string what_for(const policy::Ask& ask) {
    const std::string name = cut(text::escape_hidden(ask.target.name), kLongestName);
    if (ask.target.kind == "tool") return cat("make a call that needs your consent to ", name);
    if (ask.target.kind == "mount") {
        return cat("use ", name,
                   ", a tool of another program that is not what was approved. Who approves it "
                   "takes it as it is now, for good and for every agent");
    }
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
                {"properties", Map{{"decision", decision_among(kOfferedOfMounts,
                                                               "approve_once: the tool as it is "
                                                               "now, for good. deny: no, and not "
                                                               "when it is asked again.")}}},
                {"required", List{"decision"}}};
    }
    Map decision =
        decision_among(kOffered,
                       "approve_once: this very call. approve_for: this there for a time, with any "
                       "content. deny: no, and not when it is asked again.");
    Map duration{{"type", "integer"},
                 {"title", "Seconds"},
                 {"description", "Of approve_for."},
                 {"minimum", 1},
                 {"maximum", policy::kLongestDurationS},
                 {"default", policy::kUsualDurationS}};
    return Map{
        {"type", "object"},
        {"properties", Map{{"decision", std::move(decision)}, {"duration_s", std::move(duration)}}},
        {"required", List{"decision"}}};
}

std::string_view text_of(const Value& of, std::string_view member) {
    const Value* value = of.get(member);
    return value != nullptr && value->is_string() ? std::string_view(value->as_string())
                                                  : std::string_view();
}

// A form's number may come as a float.
std::optional<std::int64_t> seconds(const Value& value) {
    if (value.is_int()) return value.as_int();
    if (!value.is_float()) return std::nullopt;
    const double given = value.as_float();
    if (!(given >= 1 && given <= static_cast<double>(policy::kLongestDurationS)))
        return std::nullopt;
    const auto whole = static_cast<std::int64_t>(given);
    return static_cast<double>(whole) == given ? std::optional(whole) : std::nullopt;
}

std::optional<policy::Resolution> accepted(const Value& content) {
    const std::string_view word = text_of(content, "decision");
    const auto* const offered = std::find_if(kOffered.begin(), kOffered.end(),
                                             [&](Answer each) { return name_of(each) == word; });
    if (offered == kOffered.end()) return std::nullopt;
    policy::Resolution out{.answer = *offered};
    // Of the others it is what the form was filled in with before anybody saw it.
    const Value* const given = content.get("duration_s");
    if (*offered != Answer::approve_for || given == nullptr || given->is_null()) return out;
    out.duration_s = seconds(*given);
    if (!out.duration_s || *out.duration_s < 1 || *out.duration_s > policy::kLongestDurationS)
        return std::nullopt;
    return out;
}

}  // namespace

std::optional<std::string> approval_of(const tools::ToolResult& result) {
    // What another program's tool answered is no refusal of ours, whatever it looks like.
    if (!result.is_error || result.content) return std::nullopt;
    const Value* const error = result.structured.get("error");
    if (error == nullptr || text_of(*error, "code") != errc_name(Errc::escalation_required))
        return std::nullopt;
    const Value* const details = error->get("details");
    const std::string_view id =
        details == nullptr ? std::string_view() : text_of(*details, "approval_id");
    return id.empty() ? std::nullopt : std::optional(std::string(id));
}

Map question(const Approval& approval, std::string_view version) {
    const std::string asker = approval.ask.actor.str();
    const std::string what = approval.ask.target.kind == "mount"
                                 ? "What has changed, in the words of that program"
                                 : cat("The call, in the words of ", asker);
    Map out;
    // Revisions are dates, so that they compare as text.
    if (version >= kModesSince) out.append("mode", "form");
    out.append("message", cat(asker, " asks you to let it ", what_for(approval.ask),
                              ".\nUntil you answer, it waits as ", approval.id,
                              " (quire approvals), and nothing is done.\n", what, ": ",
                              cut(text::escape_hidden(approval.description), kLongestCall)));
    out.append("requestedSchema", form_of(approval.ask));
    return out;
}

std::optional<policy::Resolution> decision(const Value& answer) {
    const std::string_view action = text_of(answer, "action");
    if (action == "decline") return policy::Resolution{.answer = Answer::deny};
    const Value* const content = answer.get("content");
    if (action != "accept" || content == nullptr) return std::nullopt;
    return accepted(*content);
}

}  // namespace quire::mcp::elicitation
