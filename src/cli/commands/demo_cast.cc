// An agent keeps a few calls under way at once and learns from the answers which edits count; the
// editor works at a person's pace and races with the kernel, which writes the same files.
#include "cli/commands/demo_cast.h"

#include <array>
#include <charconv>
#include <cstdio>
#include <utility>

#include "base/concat.h"
#include "cli/commands/whole_file.h"
#include "json/json.h"

namespace quire::cli::show {
namespace {

// The demo should be busy and still leave the person a chance to read it.
constexpr std::size_t kUnderWay = 3;   // Calls of one agent at once.
constexpr std::int64_t kThinkMs = 12;  // Between two edits of an agent.
constexpr std::int64_t kTypeMs = 110;  // Between two edits of the person.
constexpr std::int64_t kEditsPerSave = 30;

std::size_t total(const Marks& marks) {
    std::size_t count = 0;
    for (const auto& place : marks) count += place.size();
    return count;
}

std::string_view phrase(std::uint64_t which) {
    constexpr std::array<std::string_view, 6> kPhrases = {
        "measure twice, cut once", "the kettle is on",          "see the note below",
        "ask again tomorrow",      "this line is worth a test", "smaller, then smaller still"};
    return kPhrases[which % kPhrases.size()];
}

}  // namespace

// A mark is lower-case letters, # and digits. The texts of the demo have no others, as suits() in
// demo_workspace.cc ensures.
Found find_marks(std::string_view text) {
    Found found;
    for (std::size_t at = text.find('#'); at != std::string_view::npos;
         at = text.find('#', at + 1)) {
        std::size_t begin = at;
        while (begin > 0 && text[begin - 1] >= 'a' && text[begin - 1] <= 'z') --begin;
        std::int64_t number = 0;
        const char* const end = text.data() + text.size();
        const auto parsed = std::from_chars(text.data() + at + 1, end, number);
        if (begin == at || parsed.ec != std::errc()) continue;
        ++found[std::string(text.substr(begin, at - begin))][number];
    }
    return found;
}

Agent::Agent(std::string name, McpChild client, const std::vector<Place>& places,
             std::uint64_t seed)
    : name_(std::move(name)),
      client_(std::move(client)),
      places_(places),
      rng_(seed),
      acknowledged_(places.size()) {}

std::size_t Agent::edits() const {
    return total(acknowledged_);
}

// Answers first, so that a place among the calls under way is free for the next edit.
Result<void> Agent::play(std::int64_t now_ms) {
    for (;;) {
        auto answer = TRY(client_.next_answer(0));
        if (!answer) break;
        take(*answer);
    }
    if (now_ms >= due_ms_ && under_way_.size() < kUnderWay) {
        due_ms_ = now_ms + kThinkMs;
        TRY(send_next());
    }
    return {};
}

Result<void> Agent::finish() {
    constexpr int kPatienceMs = 30'000;
    while (!under_way_.empty()) {
        auto answer = TRY(client_.next_answer(kPatienceMs));
        if (!answer) return fail(Errc::unavailable, "child_failed", cat(actor(), " got no answer"));
        take(*answer);
    }
    return {};
}

// An insert names a line of the file as it was at the start, which is there still: nothing is ever
// deleted while agents write.
Result<void> Agent::send_next() {
    const std::int64_t mark = ++last_mark_;
    const auto place = static_cast<std::size_t>(mark) % places_.size();
    const Place& where = places_[place];
    const std::string text = cat(name_, "#", mark, " ", phrase(rng_.next()));
    Map arguments;
    std::string_view tool = "file";
    if (where.path.empty()) {
        tool = "block_append";
        arguments = Map{{"block_id", where.block_id}, {"text", text + "\n"}};
    } else {
        arguments = Map{{"operation", "insert"},
                        {"path", where.path},
                        {"line", rng_.next() % (where.lines + 1)},
                        {"content", text + "\n"}};
    }
    under_way_[TRY(client_.send_call(tool, std::move(arguments)))] = {place, mark};
    if (mark % kEditsPerSave == 0) {
        const Place& saved = places_[static_cast<std::size_t>(mark / kEditsPerSave) % 2];
        under_way_[TRY(
            client_.send_call("file", Map{{"operation", "save"}, {"path", saved.path}}))] = {};
    }
    return {};
}

void Agent::take(const rpc::Client::Response& answer) {
    const auto sent = under_way_.find(answer.id);
    if (sent == under_way_.end()) return;
    const Sent what = sent->second;
    under_way_.erase(sent);
    const auto result = structured_of(answer);
    if (!result) {
        // A save that finds the disk changed waits for the next one; an edit that is refused is
        // told of.
        if (what.mark >= 0) refusals_.push_back(result.error().message());
    } else if (what.mark >= 0) {
        acknowledged_[what.place].insert(what.mark);
    } else {
        ++saves_;
    }
}

Editor::Editor(std::string name, std::string workspace, const std::vector<Place>& places,
               std::uint64_t seed)
    : name_(std::move(name)),
      workspace_(std::move(workspace)),
      places_(places),
      rng_(seed),
      written_(places.size()) {}

std::size_t Editor::edits() const {
    return total(written_);
}

Result<void> Editor::play(std::int64_t now_ms) {
    if (now_ms < due_ms_) return {};
    due_ms_ = now_ms + kTypeMs;
    return add_line(static_cast<std::size_t>(last_mark_ % 2));
}

// The file may change between the second look and the rename. That is the gap that every editor
// has, and the kernel's reconcile must bring both sides together.
Result<void> Editor::add_line(std::size_t place) {
    const std::string path = cat(workspace_, "/", places_[place].path);
    const std::int64_t mark = ++last_mark_;
    constexpr int kAttempts = 50;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        const std::string before = TRY(read_file(path));
        std::size_t at = 0;
        for (std::uint64_t line = rng_.next() % (places_[place].lines + 1); line > 0; --line) {
            const std::size_t end = before.find('\n', at);
            if (end == std::string::npos) break;
            at = end + 1;
        }
        std::string after = before;
        after.insert(at, cat(name_, "#", mark, " ", phrase(rng_.next()), ", says the person\n"));
        if (TRY(read_file(path)) != before) continue;
        TRY(replace_file(path, after));
        written_[place].insert(mark);
        return {};
    }
    return fail(Errc::unavailable, "disk", cat(path, " never stood still"));
}

}  // namespace quire::cli::show
