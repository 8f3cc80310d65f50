// The table of open requests, by their ids as JSON text: an answer is matched without parsing it. A
// batch is answered as one array, or refused as a whole under the id null, so its requests share a
// number. O(log open) for each request and answer.
#include "server/open_requests.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "server/refused_line.h"

namespace quire::server {

namespace {

constexpr std::string_view kSubscription = "subscriptions/listen";

Error fate_unknown() {
    return Error(Errc::unavailable, "fate_unknown",
                 "it is not known whether this was done: the kernel was lost before it answered. "
                 "Read the current state before "
                 "you repeat it; it was not repeated for you");
}

// Returns true if the kernel answers a request with this id: a string, or an integer of 64 bits.
bool is_request_id(std::string_view id) {
    if (id.starts_with('"')) return true;
    std::int64_t number = 0;
    const auto parsed = std::from_chars(id.data(), id.data() + id.size(), number);
    return !id.empty() && parsed.ec == std::errc() && parsed.ptr == id.data() + id.size();
}

}  // namespace

// A cancelled request gets no answer, so it is no longer waited for. An id that the kernel refuses
// as no id is not entered: nothing would ever remove it.
void OpenRequests::add(const std::vector<rpc::MessageHead>& heads, bool is_batch) {
    const std::size_t batch = is_batch ? ++batches_ : 0;
    for (const rpc::MessageHead& head : heads) {
        if (!head.cancels.empty()) requests_.erase(head.cancels);
        if (!head.method.empty() && is_request_id(head.id))
            requests_.insert_or_assign(head.id, Open{head, batch, 0, {}});
    }
}

void OpenRequests::remove(const std::string& id) {
    if (id != "null") {
        requests_.erase(id);
        return;
    }
    // The answer does not say which batch it refuses: the oldest is the likeliest.
    std::size_t first = 0;
    for (const auto& [asked, open] : requests_) {
        if (open.batch != 0 && (first == 0 || open.batch < first)) first = open.batch;
    }
    if (first == 0) return;
    std::erase_if(requests_, [&](const auto& entry) { return entry.second.batch == first; });
}

bool OpenRequests::any_awaited() const {
    return std::any_of(requests_.begin(), requests_.end(),
                       [](const auto& entry) { return entry.second.head.method != kSubscription; });
}

void OpenRequests::may_repeat(const std::string& id, std::string line) {
    const auto at = requests_.find(id);
    if (at == requests_.end()) return;
    at->second.order = ++repeatable_;
    at->second.line = std::move(line);
}

std::vector<std::string> OpenRequests::take_repeatable() {
    // Sorted by the order in which they were sent.
    std::map<std::size_t, std::string> lines;
    std::erase_if(requests_, [&](auto& entry) {
        if (entry.second.order == 0) return false;
        lines.emplace(entry.second.order, std::move(entry.second.line));
        return true;
    });
    std::vector<std::string> out;
    out.reserve(lines.size());
    for (auto& [order, line] : lines) out.push_back(std::move(line));
    return out;
}

std::vector<std::string> OpenRequests::give_up() {
    std::vector<std::string> answers;
    for (const auto& [id, open] : std::exchange(requests_, {}))
        answers.push_back(refusal_of(open.head, fate_unknown()));
    return answers;
}

}  // namespace quire::server
