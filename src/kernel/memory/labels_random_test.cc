// Four agents on equal and shared labels, held against a naive model: who may see and do what, under
// which name, and what undo, restore and conversions bring back. Every answer's reason is compared,
// and every now and then what each agent sees of each label.
//
// Each agent writes only the field of its own name, so that what an undo has to bring back is plain.
#include <cstdlib>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernel/memory/memory_study_test.h"

namespace quire::kernel {
namespace {

constexpr std::string_view kFields = R"({"Map": {"fields": [
    {"name": "f0", "field_type": "Text"}, {"name": "f1", "field_type": "Text"},
    {"name": "f2", "field_type": "Text"}, {"name": "f3", "field_type": "Text"}]}})";
constexpr int kAgents = 4;
const std::string kLabels[] = {"a", "b", "c"};

std::string agent(int number) {
    return cat("agent:", std::string(1, static_cast<char>('a' + number)));
}

// All of a block that a call may change and an undo sets back.
struct Shape {
    std::string label;
    std::string former = {};
    bool archived = false;
    bool deleted = false;
    bool is_text = false;
};

struct Step {
    int actor = 0;
    bool done = true;
    bool writes = false;  // It changed the content.
    std::optional<std::string> old_field = {};
    bool is_record = false;
    Shape before = {};
    Shape after = {};
};

struct Block {
    std::string id;
    int owner = 0;
    Shape shape;
    std::map<int, Permission> shares = {};
    std::map<int, std::string> fields = {};
    std::vector<Step> steps = {};

    std::optional<Permission> level(int by) const {
        if (by == owner) return Permission::admin;
        const auto share = shares.find(by);
        return share == shares.end() ? std::nullopt : std::optional(share->second);
    }
    bool may_overwrite(int by) const { return level(by) >= Permission::read_write; }
    bool may_erase(int by) const { return level(by) == Permission::admin; }

    // The value where it is a Map.
    std::string map_value() const {
        std::string out;
        for (const auto& [field, text] : fields)
            out += cat(out.empty() ? "" : ",", "\"f", field, "\":\"", text, "\"");
        return cat("{", out, "}");
    }
};

// The kernel and the model, and calls that are made on both.
class Table {
public:
    explicit Table(std::uint64_t seed) : random_(seed) {}

    void step() {
        const int by = pick(kAgents);
        const std::string& label = kLabels[pick(3)];
        switch (pick(11)) {
            case 0:
                return create(by, label);
            case 1:
            case 2:
                return write(by, label);
            case 3:
                return share(by, label);
            case 4:
                return erase(by, label);
            case 5:
                return restore(by, label);
            case 6:
            case 7:
                return undo(by, label);
            case 8:
                return archive(by, label);
            case 9:
                return load(by, label);
            default:
                return convert(by, label);
        }
    }

    void check() {
        for (int by = 0; by < kAgents; ++by) {
            for (const std::string& label : kLabels) see(by, label);
            see(by, "shelf");
            for (const Block& block : blocks_) see(by, block.id);
        }
    }
    void restart() { study_.restart(); }
    const std::vector<std::string>& script() const { return script_; }

private:
    int pick(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }

    void expect(int by, const std::string& what, const std::string& got, const std::string& want) {
        script_.push_back(cat(agent(by), " ", what, " -> ", want));
        EXPECT_EQ(got, want) << script_.back();
    }

    struct Found {
        Block* block = nullptr;
        std::string refusal = {};
    };
    // The block that a label means to an agent; `of` gives the label by which a block is looked for.
    template <class Is>
    Found only_one(int by, Is is) {
        std::vector<Block*> own;
        std::vector<Block*> shared;
        for (Block& each : blocks_) {
            if (!is(each) || !each.level(by)) continue;
            (each.owner == by ? own : shared).push_back(&each);
        }
        const std::vector<Block*>& found = own.empty() ? shared : own;
        if (found.empty()) return {nullptr, "invalid_reference"};
        if (found.size() > 1) return {nullptr, "ambiguous_label"};
        return {found.front()};
    }
    Found named(int by, const std::string& label) {
        return only_one(by, [&](const Block& each) {
            return !each.shape.deleted && each.shape.label == label;
        });
    }
    bool is_taken(const Block& by, const std::string& label) const {
        for (const Block& each : blocks_) {
            const bool same = each.owner == by.owner && each.shape.label == label;
            if (same && !each.shape.deleted && &each != &by) return true;
        }
        return false;
    }

    void record(Block& block, int by, Shape after, bool writes = false) {
        forget_redo(block, by);
        block.steps.push_back({by, true, writes, {}, true, block.shape, after});
        block.shape = std::move(after);
    }
    static void forget_redo(Block& block, int by) {
        std::erase_if(block.steps,
                      [&](const Step& each) { return !each.done && each.actor == by; });
    }

    void create(int by, const std::string& label) {
        Block made{"", by, {label}};
        const auto answer = study_.create(label, kFields, Permission::read_write, agent(by));
        const bool taken = is_taken(made, label);
        expect(by, cat("create ", label), reason(answer), taken ? "label_exists" : "fine");
        if (taken || !answer) return;
        made.id = answer->block_id;
        blocks_.push_back(std::move(made));
    }

    void write(int by, const std::string& label) {
        const Found found = named(by, label);
        if (found.block != nullptr && found.block->shape.is_text) return;
        const std::string value = cat("v", ++written_);
        const auto answer = study_.set(label, cat("f", by), value, agent(by));
        std::string want = found.refusal;
        if (found.block != nullptr)
            want = found.block->may_overwrite(by) ? "fine" : "permission_denied";
        expect(by, cat("write ", label), reason(answer), want.empty() ? "fine" : want);
        if (want != "fine") return;
        Block& block = *found.block;
        forget_redo(block, by);
        const auto old = block.fields.find(by);
        Step step{by, true, true};
        if (old != block.fields.end()) step.old_field = old->second;
        block.steps.push_back(std::move(step));
        block.fields[by] = value;
    }

    void share(int by, const std::string& label) {
        const int with = pick(kAgents);
        const Permission levels[] = {Permission::read_only, Permission::append,
                                     Permission::read_write, Permission::admin};
        const std::optional<Permission> level =
            pick(4) == 0 ? std::nullopt : std::optional(levels[pick(4)]);
        const Found found = named(by, label);
        if (found.block != nullptr && found.block->owner == with) return;
        const auto answer = study_.share(label, agent(with), level, agent(by));
        std::string want = found.refusal;
        if (found.block != nullptr) want = found.block->owner == by ? "fine" : "permission_denied";
        expect(by, cat("share ", label, " ", agent(with)), reason(answer), want);
        if (want != "fine") return;
        found.block->shares.erase(with);
        if (level) found.block->shares[with] = *level;
    }

    void erase(int by, const std::string& label) {
        const Found found = named(by, label);
        std::string want = found.refusal;
        if (found.block != nullptr)
            want = found.block->may_erase(by) ? "fine" : "permission_denied";
        expect(by, cat("erase ", label), reason(study_.erase(label, agent(by))), want);
        if (want != "fine") return;
        Shape after = found.block->shape;
        after.deleted = true;
        record(*found.block, by, std::move(after));
    }

    void restore(int by, const std::string& label) {
        const Found found = only_one(
            by, [&](const Block& each) { return each.shape.deleted && each.shape.label == label; });
        const auto answer = study_.desk.ask<MemoryVersion>([&](auto reply) {
            study_.calls().restore(Study::as(agent(by)), label, {}, std::move(reply));
        });
        std::string want = found.refusal;
        if (found.block != nullptr) {
            want = !found.block->may_erase(by)     ? "permission_denied"
                   : is_taken(*found.block, label) ? "label_exists"
                                                   : "fine";
        }
        expect(by, cat("restore ", label), reason(answer), want);
        if (want != "fine") return;
        Shape after = found.block->shape;
        after.deleted = false;
        record(*found.block, by, std::move(after));
    }

    void archive(int by, const std::string& label) {
        const Found found = named(by, label);
        std::string want = found.refusal;
        if (found.block != nullptr) {
            want = !found.block->may_erase(by)       ? "permission_denied"
                   : found.block->shape.archived     ? "archived"
                   : is_taken(*found.block, "shelf") ? "label_exists"
                                                     : "fine";
        }
        expect(by, cat("archive ", label), reason(study_.archive(label, "shelf", agent(by))), want);
        if (want != "fine") return;
        Shape after = found.block->shape;
        after.former = std::exchange(after.label, "shelf");
        after.archived = true;
        record(*found.block, by, std::move(after));
    }

    void load(int by, const std::string& label) {
        const Found found = named(by, "shelf");
        std::string want = found.refusal;
        if (found.block != nullptr) {
            want = !found.block->may_overwrite(by) ? "permission_denied"
                   : !found.block->shape.archived  ? "not_archived"
                   : is_taken(*found.block, label) ? "label_exists"
                                                   : "fine";
        }
        expect(by, cat("load ", label), reason(study_.load("shelf", label, agent(by))), want);
        if (want != "fine") return;
        Shape after = found.block->shape;
        after.former = std::exchange(after.label, label);
        after.archived = false;
        record(*found.block, by, std::move(after));
    }

    void convert(int by, const std::string& label) {
        const Found found = named(by, label);
        const bool to_text = found.block == nullptr || !found.block->shape.is_text;
        const auto answer =
            study_.convert(label, to_text ? kText : kFields, "{}", false, agent(by));
        std::string want = found.refusal;
        if (found.block != nullptr)
            want = found.block->may_overwrite(by) ? "fine" : "permission_denied";
        expect(by, cat("convert ", label), reason(answer), want);
        if (want != "fine") return;
        Shape after = found.block->shape;
        after.is_text = to_text;
        record(*found.block, by, std::move(after), !found.block->fields.empty());
    }

    // Sets the shape back; false where somebody changed the same since.
    static bool set_back(Shape& now, const Shape& from, const Shape& to) {
        const auto one = [&](auto member) {
            if (from.*member == to.*member) return true;
            if (now.*member != from.*member) return false;
            now.*member = to.*member;
            return true;
        };
        return one(&Shape::archived) && one(&Shape::former) && one(&Shape::is_text) &&
               one(&Shape::label) && one(&Shape::deleted);
    }

    void undo(int by, const std::string& label) {
        std::string name = label;
        Found found;
        if (!blocks_.empty() && pick(3) == 0) {
            Block& block =
                blocks_[static_cast<std::size_t>(pick(static_cast<int>(blocks_.size())))];
            name = block.id;
            found = block.level(by) ? Found{&block} : Found{nullptr, "invalid_reference"};
        } else {
            found = named(by, label);
            if (found.refusal == "invalid_reference") {
                found = only_one(by, [&](const Block& each) {
                    return !each.shape.deleted && each.shape.former == label;
                });
            }
        }
        const std::string want = found.block == nullptr ? found.refusal : undo(by, *found.block);
        const auto answer = study_.undo(name, agent(by));
        std::string got = reason(answer);
        if (answer && answer->skipped_because_changed > 0) got = "skipped";
        expect(by, cat("undo ", name), got, want);
    }

    std::string undo(int by, Block& block) {
        if (!block.may_overwrite(by)) return "permission_denied";
        std::size_t at = block.steps.size();
        while (at > 0 && (block.steps[at - 1].actor != by || !block.steps[at - 1].done)) --at;
        if (at == 0) return "nothing_to_undo";
        Step& step = block.steps[at - 1];
        const auto later = [&](auto is) {
            return std::any_of(block.steps.begin() + static_cast<std::ptrdiff_t>(at),
                               block.steps.end(), is);
        };
        if (!step.is_record) {
            if (block.shape.deleted) return "invalid_reference";
            if (later([](const Step& each) { return each.done && each.is_record && each.writes; }))
                return "schema_changed";
            if (step.old_field) {
                block.fields[by] = *step.old_field;
            } else {
                block.fields.erase(by);
            }
            step.done = false;
            return "fine";
        }
        Shape now = block.shape;
        const bool covered = step.writes && later([&](const Step& each) {
                                 return each.done && each.writes && each.actor != by;
                             });
        if (!set_back(now, step.after, step.before) || covered) {
            step.done = false;
            return "skipped";
        }
        if (now.deleted != block.shape.deleted && !block.may_erase(by)) return "permission_denied";
        if (!now.deleted && is_taken(block, now.label)) return "label_exists";
        block.shape = now;
        step.done = false;
        return "fine";
    }

    void see(int by, const std::string& name) {
        Found found = named(by, name);
        for (Block& each : blocks_) {
            if (each.id != name) continue;
            const bool seen = each.level(by) && !each.shape.deleted;
            found = seen ? Found{&each} : Found{nullptr, "invalid_reference"};
        }
        const auto view = study_.view(name, agent(by));
        if (found.block == nullptr)
            return expect(by, cat("see ", name), reason(view), found.refusal);
        ASSERT_TRUE(view) << name << " " << reason(view);
        EXPECT_EQ(view->row.block.block_id, found.block->id);
        if (found.block->shape.is_text) {
            EXPECT_TRUE(view->value.is_string());
        } else {
            EXPECT_EQ(json::write(view->value), found.block->map_value());
        }
    }

    Study study_;
    std::mt19937_64 random_;
    std::vector<Block> blocks_;
    std::vector<std::string> script_;
    int written_ = 0;
};

TEST(LabelsRandom, FourAgentsSeeAndUndoWhatTheModelSays) {
    const char* const given = std::getenv("SEED");
    const bool is_long = std::getenv("QUIRE_LONG") != nullptr;
    const std::uint64_t first = given != nullptr ? std::strtoull(given, nullptr, 10) : 1;
    const std::uint64_t last = given != nullptr ? first : (is_long ? 200 : 40);
    for (std::uint64_t seed = first; seed <= last; ++seed) {
        Table table(seed);
        for (int step = 0; step < 100 && !testing::Test::HasFailure(); ++step) {
            table.step();
            if (step % 30 == 29) table.restart();
            if (step % 10 == 9) table.check();
        }
        if (!testing::Test::HasFailure()) continue;
        std::string script;
        for (const std::string& line : table.script()) {
            if (line.find(" see ") == std::string::npos) script += line + "\n";
        }
        FAIL() << "SEED=" << seed << "\n" << script;
    }
}

}  // namespace
}  // namespace quire::kernel
