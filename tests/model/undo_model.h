// UndoModel: what undo by several actors leaves of a text or a list, the naive way. Every letter
// that was ever typed stays in one order; undo hides letters and shows them again.
//
// This is what "where they stood" means where others have edited in the meantime:
// - A letter is put directly behind the one that is shown before it, and before whatever was behind
//   that one already, hidden or not. Nothing moves a letter ever after.
// - A letter that replaces others is put behind these: its actor hid them at the very place just
//   before, and nothing else was done since.
// - To take commits back is to bring each letter that they touched to where it was before them:
//   hidden, if the first of them to touch it showed it; shown, if it hid it. A letter that somebody
//   else has hidden since stays hidden, unless deletes are shared.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace quire::tests {

class UndoModel {
public:
    // Commits are numbered from 0.
    using Commits = std::set<std::size_t>;

    explicit UndoModel(bool shares_deletes) : shares_deletes_(shares_deletes) {}
    bool shares_deletes() const { return shares_deletes_; }

    // --- in the commit that is open; positions count the letters that are shown ---
    void insert(std::size_t at, std::string_view letters);
    void erase(std::size_t at, std::size_t count);
    void take_back(const Commits& commits);
    // Ends it: its number.
    std::size_t commit();
    // Somebody else edits next, and so replaces nothing.
    void pass_turn() { hidden_last_.reset(); }

    std::string shown() const;

private:
    struct Letter {
        char letter;
        std::size_t id;
        bool is_shown = true;
        std::size_t hidden_by = 0;  // The commit that hid it last.
    };
    struct Touch {
        std::size_t id;
        bool showed;
    };
    std::size_t index_of(std::size_t shown_at) const;
    void show(Letter& letter, bool is_shown);

    bool shares_deletes_;
    std::vector<Letter> letters_;             // In their order.
    std::optional<std::size_t> hidden_last_;  // The letter, unless another was shown since.
    std::size_t next_id_ = 0;
    std::vector<std::vector<Touch>> commits_ = {{}};  // The last one is open.
};

// UndoMapModel: the naive model of a map. Each write to a key stands until it is taken back, and the last one that
// stands decides. To take commits back is to bring each write that they touched to where it was
// before them, unless somebody has written to its key since and that stands.
class UndoMapModel {
public:
    using Commits = UndoModel::Commits;

    void set(char key, char value);
    void erase(char key) { set(key, kNothing); }
    void take_back(const Commits& commits);
    std::size_t commit();
    void pass_turn() {}

    std::string shown() const;  // "a1b2": keys and values.
    bool has(char key) const { return last(key) != kNothing; }
    bool shows(char key, char value) const { return last(key) == value; }

private:
    static constexpr char kNothing = '\0';
    struct Write {
        char key;
        char value;
        bool stands = true;
    };
    struct Touch {
        std::size_t write;
        bool stood;  // After it.
    };
    char last(char key) const;

    std::vector<Write> writes_;
    std::vector<std::vector<Touch>> commits_ = {{}};
};

}  // namespace quire::tests
