// The table maps ids to open requests, and answering a request removes it. Whoever removes it sends
// the answer; later answers and cancellations find nothing, and so a request has one outcome
// however many threads race for it. A request costs one insertion and one removal under a lock.
#include "rpc/in_flight.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "json/json.h"

namespace quire::rpc {

struct InFlight::State {
    struct Entry {
        std::uint64_t number = 0;
        std::stop_source stop;
        std::shared_ptr<Batch> batch;
        std::size_t bytes = 0;  // Its own, in the transport's sum.
        bool open_ended = false;
        bool waits = false;
    };
    std::unordered_map<std::string, Entry> entries;  // The key is the id as JSON: 1 is not "1".
    std::uint64_t last_number = 0;
    bool held = false;

    // Called with the lock held, so that the connection gets the right state last.
    void balance(Connection& connection, std::size_t most) {
        // Two bounds, so that a client at the limit is not held and released with each request.
        const bool hold = entries.size() > (held ? most / 2 : most);
        if (hold == held) return;
        held = hold;
        connection.hold_input(hold);
    }
};

Batch::~Batch() {
    answers_.with([&](const std::string& answers) {
        if (!answers.empty()) connection_->send(cat("[", answers, "]"));
    });
}

// The client would drop a longer array whole. Each answer is written when it comes, so that its
// length is known.
void Batch::add(const Value& answer) {
    constexpr std::size_t kBesides = std::string_view("[,]").size();
    std::string text = json::write(answer);
    answers_.with([&](std::string& answers) {
        if (answers.size() + text.size() + kBesides > longest_) {
            Fault fault = answer_too_long(longest_);
            fault.message = cat("the answers to the batch would be longer than ", longest_,
                                " bytes with this one, so it was not sent. Ask for less at a time");
            std::string instead = json::write(error(*answer.get("id"), std::move(fault)));
            if (instead.size() < text.size()) text = std::move(instead);
        }
        cat_to(answers, answers.empty() ? "" : ",");
        cat_to(answers, text);
    });
}

InFlight::InFlight(std::shared_ptr<Connection> connection, std::size_t most, std::size_t longest)
    : connection_(std::move(connection)),
      most_(most),
      longest_(longest),
      state_(std::make_unique<sched::Guarded<State>>()) {}
InFlight::~InFlight() = default;

std::shared_ptr<Batch> InFlight::make_batch() const {
    return std::make_shared<Batch>(connection_, longest_);
}

// The number tells this request from a later one with the same id, which a client may use again
// once it has cancelled or received the first: a late answer then finds another number and is
// dropped.
std::optional<Answer> InFlight::begin(const Value& id, std::shared_ptr<Batch> batch,
                                      std::size_t bytes) {
    Answer answer;
    answer.owner_ = shared_from_this();
    answer.id_ = id;
    const bool begun = state_->with([&](State& state) {
        const auto [at, inserted] = state.entries.try_emplace(json::write(id));
        if (!inserted) return false;
        at->second.number = ++state.last_number;
        at->second.batch = std::move(batch);
        at->second.bytes = bytes;
        answer.number_ = at->second.number;
        answer.cancelled_ = at->second.stop.get_token();
        state.balance(*connection_, most_);
        return true;
    });
    if (!begun) return std::nullopt;
    connection_->open_request(bytes);
    return answer;
}

bool InFlight::finish(const Value& id, std::uint64_t number, std::shared_ptr<Batch>& batch) {
    std::size_t bytes = 0;
    const bool was_open = state_->with([&](State& state) {
        const auto at = state.entries.find(json::write(id));
        // A later request may use the same id; its number differs.
        if (at == state.entries.end() || at->second.number != number) return false;
        batch = std::move(at->second.batch);
        bytes = at->second.bytes;
        state.entries.erase(at);
        state.balance(*connection_, most_);
        return true;
    });
    // Outside of the lock: the transport may take locks of its own for its sum.
    if (was_open) connection_->end_request(bytes);
    return was_open;
}

bool InFlight::cancel(const Value& id) {
    State::Entry cancelled;
    const bool found = state_->with([&](State& state) {
        const auto at = state.entries.find(json::write(id));
        if (at == state.entries.end()) return false;
        cancelled = std::move(at->second);
        state.entries.erase(at);
        state.balance(*connection_, most_);
        return true;
    });
    // The entry is removed first: an answer that comes now finds nothing.
    // Outside of the lock, because a stop callback may answer.
    if (!found) return false;
    connection_->end_request(cancelled.bytes);
    cancelled.stop.request_stop();
    return true;
}

// The session is over: nothing is sent, but work that waits for a stop ends.
void InFlight::cancel_all() {
    auto cancelled = state_->with([](State& state) { return std::exchange(state.entries, {}); });
    for (auto& [id, entry] : cancelled) {
        connection_->end_request(entry.bytes);
        entry.stop.request_stop();
    }
}

void InFlight::leave_open(const Value& id) {
    state_->with([&](State& state) {
        const auto at = state.entries.find(json::write(id));
        if (at != state.entries.end()) at->second.open_ended = true;
    });
}

void InFlight::set_waiting(const Value& id, std::uint64_t number, bool waits) {
    state_->with([&](State& state) {
        const auto at = state.entries.find(json::write(id));
        if (at != state.entries.end() && at->second.number == number) at->second.waits = waits;
    });
}

bool InFlight::is_busy() const {
    return state_->with([](const State& state) {
        return std::any_of(state.entries.begin(), state.entries.end(), [](const auto& entry) {
            return !entry.second.open_ended && !entry.second.waits;
        });
    });
}

void Answer::result(Map result) const {
    send(rpc::result(id_, std::move(result)));
}
void Answer::error(Fault fault) const {
    send(rpc::error(id_, std::move(fault)));
}

void Answer::waits(bool for_a_person) const {
    owner_->set_waiting(id_, number_, for_a_person);
}

void Answer::send(Value message) const {
    std::shared_ptr<Batch> batch;
    if (!owner_->finish(id_, number_, batch)) return;
    if (batch != nullptr) {
        batch->add(message);
    } else {
        std::string line = json::write(message);
        // The client would drop a longer line without knowing whose answer it was.
        if (line.size() > owner_->longest_)
            line = json::write(rpc::error(id_, answer_too_long(owner_->longest_)));
        owner_->connection_->send(std::move(line));
    }
}

}  // namespace quire::rpc
