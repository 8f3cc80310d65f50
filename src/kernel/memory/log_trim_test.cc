// Tests the `retain` bounds of logs, and random work of two agents on a log and a list against a naive model.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/share_for_test.h"
#include "kernel/memory/memory_study_test.h"

namespace quire::kernel {
namespace {

constexpr std::string_view kShortLog = R"({"Log": {"retain": {"max_entries": 20}}})";

class LogStudy : public Study {
public:
    void append(int count, const std::string& by = "agent:ada", const std::string& section = "") {
        for (int i = 0; i < count; ++i)
            ASSERT_EQ(reason(write("log", AppendContent{section, cat(next_++)}, by)), "fine");
    }
    // The messages of the entries, oldest first.
    std::string entries() {
        std::string out;
        const auto seen = view("log", "system:test");
        for (const Value& entry : seen->value.as_list())
            cat_to(out, cat(entry.get("message")->as_string(), " "));
        return out;
    }
    std::size_t count() { return view("log", "system:test")->value.as_list().size(); }
    std::string newest(std::size_t limit) {
        const auto page = desk.ask<MemoryHistory>([&](auto reply) {
            calls().history(as("agent:ada"), "log", limit, "", std::move(reply));
        });
        std::string out;
        for (const HistoryEntry& each : page->page.versions)
            cat_to(out, cat(each.actor, " ", each.description, "; "));
        return out;
    }

private:
    int next_ = 1;
};

TEST(LogTrim, AnAppendBeyondElevenTenthsOfTheBoundTrims) {
    LogStudy study;
    ASSERT_TRUE(study.create("log", kShortLog));
    study.append(22);
    EXPECT_EQ(study.count(), 22U);
    const std::uint64_t before = study.version("log");

    study.append(1);

    EXPECT_EQ(study.count(), 20U);
    EXPECT_EQ(study.version("log"), before + 2);
    EXPECT_EQ(study.newest(2), "system:log_trim trim; agent:ada append_entry; ");
    EXPECT_TRUE(study.entries().starts_with("4 5 "));
    const std::string entries = study.entries();
    study.restart();
    EXPECT_EQ(study.entries(), entries);
}

TEST(LogTrim, EntriesThatAreTooOldGoFirst) {
    LogStudy study;
    ASSERT_TRUE(study.create("log", R"({"Log": {"retain": {"max_age_s": 100}}})"));
    study.append(2);
    study.desk.clock.advance(105'000);
    study.append(1);
    EXPECT_EQ(study.entries(), "1 2 3 ");
    study.desk.clock.advance(6'000);
    study.append(1);
    EXPECT_EQ(study.entries(), "3 4 ");
}

TEST(LogTrim, ASectionsLogIsTrimmedToo) {
    LogStudy study;
    ASSERT_TRUE(study.create("log", R"({"Composite": {"sections": [
        {"name": "days", "schema": {"Log": {"retain": {"max_entries": 2}}}}]}})"));
    study.append(3, "agent:ada", "days");
    EXPECT_EQ(study.newest(1), "system:log_trim trim days; ");
}

TEST(LogTrim, UndoTakesBackTheAppendAndNotTheTrim) {
    LogStudy study;
    ASSERT_TRUE(study.create("log", R"({"Log": {"retain": {"max_entries": 3}}})"));
    study.append(4);
    EXPECT_EQ(study.entries(), "2 3 4 ");
    ASSERT_EQ(reason(study.undo("log")), "fine");
    EXPECT_EQ(study.entries(), "2 3 ");
    ASSERT_EQ(reason(study.undo("log", "agent:ada", true)), "fine");
    EXPECT_EQ(study.entries(), "2 3 4 ");
    // A rollback brings trimmed entries back; the next append trims again.
    ASSERT_EQ(reason(study.rollback("log", "4")), "fine");
    EXPECT_EQ(study.entries(), "1 2 3 ");
    study.append(1);
    EXPECT_EQ(study.entries(), "2 3 5 ");
}

TEST(LogTrim, AnAppendMayTrimWhatItsWriterMayNotDelete) {
    LogStudy study;
    ASSERT_TRUE(study.create("log", R"({"Log": {"retain": {"max_entries": 2}}})"));
    ASSERT_TRUE(study.share("log", "agent:bo", Permission::append));
    study.append(2);
    study.append(1, "agent:bo");
    EXPECT_EQ(study.entries(), "2 3 ");
}

// A write that the store refuses leaves neither the entry nor the trim.
TEST(LogTrim, ARefusedAppendTrimsNothing) {
    LogStudy study;
    ASSERT_TRUE(study.create("log", R"({"Log": {"retain": {"max_entries": 2}}})"));
    study.append(2);
    study.desk.store.fail_next();
    EXPECT_EQ(reason(study.write("log", AppendContent{"", "x"})), "disk_full");
    EXPECT_EQ(study.entries(), "1 2 ");
}

// Two agents append, remove, undo, redo and roll back on a log with a bound, or on a list. The model knows
// which entries are there, and that a step moves none of the others. It does not say where an entry comes back
// among younger ones. After a rollback only younger work is undone, because the rollback brings entries back
// as new ones.
class Scribes {
public:
    Scribes(std::size_t bound, std::uint32_t seed) : bound_(bound), random_(seed) {
        const std::string schema =
            bound == 0 ? R"({"List": {}})"
                       : cat(R"({"Log": {"retain": {"max_entries": )", bound, "}}}");
        CHECK(study_.create("log", schema).has_value());
        CHECK(study_.share("log", "agent:bo", Permission::read_write).has_value());
        end_step();
    }

    void step() {
        const std::string by = random_() % 2 == 0 ? "agent:ada" : "agent:bo";
        const auto dice = random_() % 100;
        if (dice < 50) {
            append(by);
        } else if (dice < 60) {
            remove(by);
        } else if (dice < 80) {
            undo(by);
        } else if (dice < 95) {
            redo(by);
        } else if (dice < 99) {
            roll_back();
        } else {
            study_.restart();
        }
        end_step();
    }

private:
    // An append or a removal. `has_effect` is false for an undo that found nothing to do.
    struct Work {
        int entry;
        bool is_removal = false;
        bool is_undone = false;
        bool has_effect = true;
    };

    std::vector<int> found() {
        std::vector<int> out;
        const auto seen = study_.view("log", "system:test");
        for (const Value& each : seen->value.as_list()) {
            const Value& text =
                each.is_string() ? each : *each.get(bound_ == 0 ? "text" : "message");
            out.push_back(std::stoi(text.as_string()));
        }
        return out;
    }
    // Compares the block with `now_`, and takes over the place of an entry that came back.
    void end_step() {
        const std::vector<int> here = found();
        std::vector<int> stayed = here;
        std::erase_if(stayed, [&](int entry) { return entry == back_; });
        std::vector<int> others = now_;
        std::erase_if(others, [&](int entry) { return entry == back_; });
        ASSERT_EQ(stayed, others);
        ASSERT_EQ(here.size(), now_.size());
        now_ = here;
        back_ = 0;
        versions_[study_.version("log")] = now_;
    }
    // Returns false if the entry is as it should be already.
    bool show(int entry, bool is_seen) {
        if (!is_seen) return std::erase(now_, entry) > 0;
        if (std::ranges::find(now_, entry) != now_.end()) return false;
        now_.push_back(entry);
        back_ = entry;
        return true;
    }
    void begin_work(const std::string& by, Work work) {
        std::erase_if(work_[by], [](const Work& each) { return each.is_undone; });
        work_[by].push_back(work);
    }
    void append(const std::string& by) {
        const int entry = ++last_;
        EXPECT_EQ(reason(study_.write("log", AppendContent{"", cat(entry)}, by)), "fine");
        begin_work(by, {entry});
        now_.push_back(entry);
        if (bound_ != 0 && now_.size() > bound_ + bound_ / 10)
            now_.erase(now_.begin(), now_.end() - static_cast<std::ptrdiff_t>(bound_));
    }
    void remove(const std::string& by) {
        if (bound_ != 0 || now_.empty()) return;
        const std::size_t index = random_() % now_.size();
        const int entry = now_[index];
        EXPECT_EQ(reason(study_.write(
                      "log", RemoveFromList{{"", ""}, static_cast<std::int64_t>(index)}, by)),
                  "fine");
        begin_work(by, {entry, true});
        show(entry, false);
    }
    void undo(const std::string& by) {
        auto& own = work_[by];
        const auto last = std::find_if(own.rbegin(), own.rend(),
                                       [](const Work& each) { return !each.is_undone; });
        if (last == own.rend()) return;
        EXPECT_EQ(reason(study_.undo("log", by)), "fine");
        last->is_undone = true;
        last->has_effect = show(last->entry, last->is_removal);
    }
    void redo(const std::string& by) {
        auto& own = work_[by];
        const auto next =
            std::ranges::find_if(own, [](const Work& each) { return each.is_undone; });
        if (next == own.end()) return;
        EXPECT_EQ(reason(study_.undo("log", by, true)), "fine");
        next->is_undone = false;
        if (next->has_effect) next->has_effect = show(next->entry, !next->is_removal);
    }
    void roll_back() {
        auto to = versions_.begin();
        std::advance(to, random_() % versions_.size());
        EXPECT_EQ(reason(study_.rollback("log", cat(to->first), "system:test")), "fine");
        now_ = to->second;
        work_.clear();
    }

    const std::size_t bound_;
    std::mt19937 random_;
    Study study_;
    std::vector<int> now_;
    int back_ = 0;  // The entry that this step brought back.
    std::map<std::uint64_t, std::vector<int>> versions_;
    std::map<std::string, std::vector<Work>> work_;
    int last_ = 0;
};

class ListsAndLogs : public ::testing::TestWithParam<std::size_t> {};

TEST_P(ListsAndLogs, RandomWorkAgreesWithTheModel) {
    const bool is_long = std::getenv("QUIRE_LONG") != nullptr;
    // The three bounds together take 20,400 steps, and 204,000 in `make nightly`.
    const std::uint32_t seeds = is_long ? 340U : 34U / kRoundsShare;
    for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
        Scribes scribes(GetParam(), seed);
        for (int step = 0; step < 200; ++step) {
            scribes.step();
            ASSERT_FALSE(HasFailure()) << "seed " << seed << ", step " << step;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Bounds, ListsAndLogs, ::testing::Values(0, 5, 20),
                         [](const auto& bound) { return cat("of_", bound.param); });

}  // namespace
}  // namespace quire::kernel
