// Both calls walk the log in pieces of kPiece, each a task of its own. A long log thus holds up
// neither a worker nor other readers of the store, and the kernel can close in between. Entries are
// parsed only where a condition needs it. An entry that cannot be read fits every query: damage
// must show, and never hide a call.
#include "kernel/oversight/audit_calls.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/concat.h"
#include "base/hex.h"
#include "json/json.h"
#include "kernel/core/core.h"
#include "store/audit_chain.h"

namespace quire::kernel {
namespace {

// Entries that are read at once: other readers of the store get their turn in between.
constexpr std::size_t kPiece = 500;

std::string_view member_text(const Value& of, std::string_view member) {
    const Value* value = of.get(member);
    return value != nullptr && value->is_string() ? std::string_view(value->as_string())
                                                  : std::string_view();
}

// Returns true if the entry is of that moment or later. An entry that does not say its time counts
// too, so that nobody hides one by breaking it.
bool is_since(std::string_view body, std::int64_t since_ms) {
    constexpr std::string_view kBegin = R"({"at":)";
    if (!body.starts_with(kBegin)) return true;
    std::int64_t at = 0;
    const auto read = std::from_chars(body.data() + kBegin.size(), body.data() + body.size(), at);
    return read.ec != std::errc() || at >= since_ms;
}

// "block.edit" is another spelling of "block_edit".
bool is_of(const Value& entry, std::string_view tool) {
    const std::string_view name = member_text(entry, "tool");
    std::string published(tool);
    std::replace(published.begin(), published.end(), '.', '_');
    return name == published || cat(name, ".", member_text(entry, "operation")) == tool;
}

bool fits(const AuditQuery& query, const store::AuditEntry& entry) {
    if (!is_since(entry.body, query.since_ms)) return false;
    if (query.actor.empty() && query.tool.empty() && query.reason.empty() && !query.refused &&
        !query.missed)
        return true;
    const Result<Value> body = json::parse(entry.body);
    if (!body) return true;
    const std::string_view outcome = member_text(*body, "outcome");
    if (query.missed && body->get("missed") == nullptr) return false;
    if (query.refused && outcome != "refused" && outcome != "escalated") return false;
    if (!query.reason.empty() && member_text(*body, "reason") != query.reason) return false;
    if (!query.tool.empty() && !is_of(*body, query.tool)) return false;
    return query.actor.empty() || member_text(*body, "actor") == query.actor ||
           member_text(*body, "by") == query.actor;
}

// A walk over the log, a piece at a time, each a task of its own. `step` says whether to go on.
template <class T>
struct LogWalk : std::enable_shared_from_this<LogWalk<T>> {
    std::shared_ptr<Core> core;
    Caller by;
    Reply<T> reply;
    T found = {};
    Function<Result<bool>(T&)> step;

    void go_on() {
        if (core->is_closing()) return reply(Failure(kernel_ending()));
        if (by.cancelled.stop_requested())
            return reply(fail(Errc::unavailable, "cancelled", "the call was cancelled"));
        const Result<bool> more = step(found);
        if (!more) return reply(Failure(more.error()));
        if (!*more) return reply(std::move(found));
        core->parts().scheduler.post([self = this->shared_from_this()] { self->go_on(); });
    }
};

template <class T>
void walk(const std::shared_ptr<Core>& core, const Caller& by, Reply<T> reply,
          Function<Result<bool>(T&)> step) {
    auto made = std::make_shared<LogWalk<T>>();
    made->core = core;
    made->by = by;
    made->reply = std::move(reply);
    made->step = std::move(step);
    // Entries that wait in the store are written first. Where they cannot be, what is there is
    // still shown.
    core->parts().store.commit({}, [made](Result<void>) {
        made->core->parts().scheduler.post([made] { made->go_on(); });
    });
}

}  // namespace

AuditCalls::AuditCalls(Kernel& kernel) : core_(kernel.core()) {}

void AuditCalls::read(const Caller& by, AuditQuery query, Reply<AuditPage> reply) {
    walk<AuditPage>(
        core_, by, std::move(reply),
        [core = core_, query = std::move(query)](AuditPage& page) mutable -> Result<bool> {
            std::vector<store::AuditEntry> piece =
                TRY(core->parts().store.audit_before(query.before.value_or(UINT64_MAX), kPiece));
            if (piece.empty()) {
                page.next = 0;
                return false;
            }
            for (store::AuditEntry& entry : piece) {
                if (entry.seq == 0) {  // None of ours; verify() tells.
                    page.next = 0;
                    return false;
                }
                // `next` is the last entry that was looked at, so the next page begins behind it.
                if (page.entries.size() >= query.limit) return false;
                query.before = page.next = entry.seq;
                if (fits(query, entry)) {
                    page.entries.push_back({entry.seq, std::move(entry.body), to_hex(entry.hash)});
                }
            }
            return true;
        });
}

void AuditCalls::verify(const Caller& by, std::vector<std::string> heads,
                        Reply<AuditVerdict> reply) {
    walk<AuditVerdict>(core_, by, std::move(reply),
                       [core = core_, chain = std::optional<store::AuditWalk>(),
                        missing = std::move(heads)](AuditVerdict& verdict) mutable -> Result<bool> {
                           store::Store& store = core->parts().store;
                           if (!chain) {
                               chain.emplace(TRY(store.audit_origin()));
                               // The chain begins at 1. A row before that was put in by somebody
                               // else.
                               if (!TRY(store.audit_before(1, 1)).empty())
                                   verdict.broken = {0, "it stands before the first entry"};
                           }
                           const std::vector<store::AuditEntry> piece =
                               TRY(store.audit_after(chain->count(), kPiece));
                           for (const store::AuditEntry& entry : piece) {
                               if (auto what = chain->take(entry)) {
                                   verdict.broken = {chain->count() + 1, std::move(*what)};
                                   break;
                               }
                               if (!missing.empty()) std::erase(missing, to_hex(entry.hash));
                           }
                           verdict.count = chain->count();
                           verdict.head = to_hex(chain->head());
                           verdict.missing = missing;
                           return !piece.empty() && (!verdict.broken || verdict.broken->seq == 0);
                       });
}

}  // namespace quire::kernel
