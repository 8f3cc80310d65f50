// quire audit: what was called and what became of it, and whether the log of it is whole.
#include <algorithm>
#include <charconv>
#include <string>

#include "base/clock.h"
#include "base/concat.h"
#include "cli/commands/command_client.h"
#include "cli/commands/commands.h"
#include "cli/commands/terminal.h"
#include "cli/exchange/members.h"
#include "json/json.h"
#include "memory/timestamp.h"
#include "text/shown.h"

namespace quire::cli {
namespace {

constexpr std::size_t kPage = 1000;

// What the entry says; nobody but the kernel wrote it, but for who writes into the database.
std::string said(const Value& entry, std::string_view member) {
    return text::shown(text_of(entry, member));
}

std::string called(const Value& entry) {
    const std::string operation = said(entry, "operation");
    return operation.empty() ? said(entry, "tool") : cat(said(entry, "tool"), ".", operation);
}

std::string outcome(const Value& entry) {
    const std::string word = text_of(entry, "outcome");
    if (word == "refused") {
        return coloured(cat("refused: ", said(entry, "code"), " ", said(entry, "reason")),
                        Colour::red);
    }
    if (word == "escalated")
        return coloured(cat("waits for a person: ", said(entry, "approval_id")), Colour::yellow);
    std::string out = "done";
    if (const std::string block = said(entry, "block_id"); !block.empty()) out += cat(": ", block);
    if (entry.get("version") != nullptr) out += cat(" v", number_of(entry, "version"));
    return out;
}

std::string approval(const Value& entry) {
    return cat(said(entry, "approval_id"), " ", said(entry, "change"), " by ", said(entry, "by"),
               ": ", said(entry, "asks"), " ", said(entry, "target"));
}

std::string told(const Value& entry) {
    const std::string event = text_of(entry, "event");
    const std::string number = cat("#", number_of(entry, "call"), " ");
    if (event == "start") return cat("the kernel begins, quire ", said(entry, "version"));
    if (event == "stop") return "the kernel ends";
    if (event == "lost")
        return cat(number_of(entry, "entries"), " entries are missing: there was no room for them");
    if (event == "approval") return approval(entry);
    if (event == "call") return cat(number, called(entry), " ", said(entry, "arguments"));
    if (event == "end") return cat(number, called(entry), " ", outcome(entry));
    if (event == "read")
        return cat(number, called(entry), " ", said(entry, "arguments"), " ", outcome(entry));
    return text::shown(json::write(entry));
}

std::string line_of(const Value& row) {
    const std::string seq = cat(number_of(row, "seq"));
    const Result<Value> entry = json::parse(text_of(row, "body"));
    if (!entry) return cat(seq, "  ", coloured("it cannot be read", Colour::red), "\n");
    return cat(coloured(local_time(number_of(*entry, "at")), Colour::grey), "  ", seq, "  ",
               coloured(said(*entry, "actor"), Colour::cyan), "  ", told(*entry), "\n");
}

// The entry is printed byte for byte as it was hashed.
std::string json_of(const Value& row) {
    const std::string body = text_of(row, "body");
    const std::string begin =
        cat(R"({"seq":)", number_of(row, "seq"), R"(,"hash":")", text_of(row, "hash"), "\",");
    if (json::parse(body) && body.find('\n') == std::string::npos)
        return cat(begin, R"("entry":)", body, "}\n");
    return cat(begin, R"("damaged":)", json::write(Value(body)), "}\n");
}

int print_verdict_json(const Value& verdict, bool whole) {
    Map out = verdict.as_map();
    out.append("whole", whole);
    return print(json::write(out) + "\n") && whole ? kDone : kRefused;
}

}  // namespace

std::optional<std::int64_t> moment_of(std::string_view text, std::int64_t now_ms) {
    std::int64_t count = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), count);
    const std::string_view unit(read.ptr, static_cast<std::size_t>(text.end() - read.ptr));
    if (read.ec == std::errc() && count >= 0 && unit.size() == 1) {
        constexpr std::int64_t kDayMs = 86'400'000;
        const std::int64_t ms = unit == "s"   ? 1000
                                : unit == "m" ? 60'000
                                : unit == "h" ? 3'600'000
                                : unit == "d" ? kDayMs
                                              : 0;
        if (ms != 0 && count <= now_ms / ms) return now_ms - count * ms;
    }
    return memory::parse_timestamp(text);
}

int print_audit(const Globals& globals, const AuditOptions& options) {
    auto client = CommandClient::attach(globals);
    if (!client) return refuse(client.error());
    Map params{{"actor", options.actor}, {"tool", options.tool}, {"reason", options.reason}};
    params.append("refused", options.refused);
    if (!options.since.empty()) {
        const auto since = moment_of(options.since, SystemClock().wall_ms());
        if (since) params.append("since", *since);
    }
    std::size_t left = options.all ? SIZE_MAX : options.limit;
    bool any = false;
    while (left > 0) {
        params.set("limit", std::min(left, kPage));
        const auto answer = client->request("audit", params);
        if (!answer) return refuse(answer.error());
        const List rows = list_of(*answer, "entries");
        std::string text;
        for (const Value& row : rows) text += globals.json ? json_of(row) : line_of(row);
        if (!print(text)) return kRefused;
        any = any || !rows.empty();
        left -= std::min(left, rows.size());
        const std::int64_t next = number_of(*answer, "next");
        if (next == 0) break;
        params.set("before", next);
    }
    if (!any && !globals.json) complain("the log has no such entry");
    return kDone;
}

int verify_audit(const Globals& globals, const AuditOptions& options) {
    auto client = CommandClient::attach(globals);
    if (!client) return refuse(client.error());
    const auto answer = client->request(
        "verify_audit", Map{{"heads", List(options.heads.begin(), options.heads.end())}});
    if (!answer) return refuse(answer.error());
    const Value* broken = answer->get("broken");
    const List missing = list_of(*answer, "missing");
    const bool whole = broken == nullptr && missing.empty();
    if (globals.json) return print_verdict_json(*answer, whole);

    const bool printed =
        print(cat(number_of(*answer, "entries"), " entries follow from each other; the head is\n",
                  text_of(*answer, "head"), "\n"));
    if (broken != nullptr) {
        complain(cat("entry ", number_of(*broken, "seq"), " is broken: ", said(*broken, "what"),
                     ". It, or what was before it, is not as it was written, and nothing from "
                     "there on is proven"));
    }
    for (const Value& head : missing) {
        complain(cat("no entry has the hash ", text::shown(head.as_string()),
                     ": the log once did, and was cut or written anew since"));
    }
    return printed && whole ? kDone : kRefused;
}

}  // namespace quire::cli
