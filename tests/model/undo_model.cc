#include "tests/model/undo_model.h"

#include <map>

namespace quire::tests {

// The index of the letter that is shown at a position; the end where there is none.
std::size_t UndoModel::index_of(std::size_t shown_at) const {
    for (std::size_t i = 0; i < letters_.size(); ++i) {
        if (letters_[i].is_shown && shown_at-- == 0) return i;
    }
    return letters_.size();
}

void UndoModel::show(Letter& letter, bool is_shown) {
    letter.is_shown = is_shown;
    const std::size_t now = commits_.size() - 1;
    if (!is_shown) letter.hidden_by = now;
    commits_[now].push_back({letter.id, is_shown});
    hidden_last_ = is_shown ? std::nullopt : std::optional(letter.id);
}

void UndoModel::insert(std::size_t at, std::string_view letters) {
    std::size_t index = at == 0 ? 0 : index_of(at - 1) + 1;
    // Behind the letters that were hidden last, if that was here.
    for (std::size_t i = index; hidden_last_ && i < letters_.size() && !letters_[i].is_shown; ++i) {
        if (letters_[i].id == hidden_last_) index = i + 1;
    }
    for (const char letter : letters) {
        const auto place = letters_.begin() + static_cast<std::ptrdiff_t>(index++);
        show(*letters_.insert(place, {letter, next_id_++}), true);
    }
}

void UndoModel::erase(std::size_t at, std::size_t count) {
    while (count-- > 0) show(letters_[index_of(at)], false);
}

void UndoModel::take_back(const Commits& commits) {
    std::map<std::size_t, bool> before;  // Letters, and whether each was shown before the commits.
    for (const std::size_t commit : commits) {
        for (const Touch& touch : commits_[commit]) before.emplace(touch.id, !touch.showed);
    }
    bool shows_any = false;
    for (Letter& letter : letters_) {
        const auto found = before.find(letter.id);
        if (found == before.end() || found->second == letter.is_shown) continue;
        if (!letter.is_shown && !shares_deletes_ && !commits.contains(letter.hidden_by)) continue;
        show(letter, found->second);
        shows_any = shows_any || letter.is_shown;
    }
    if (shows_any) hidden_last_.reset();
}

std::size_t UndoModel::commit() {
    commits_.emplace_back();
    return commits_.size() - 2;
}

std::string UndoModel::shown() const {
    std::string shown;
    for (const Letter& letter : letters_) {
        if (letter.is_shown) shown += letter.letter;
    }
    return shown;
}

// --- maps ---

char UndoMapModel::last(char key) const {
    char value = kNothing;
    for (const Write& write : writes_) {
        if (write.key == key && write.stands) value = write.value;
    }
    return value;
}

void UndoMapModel::set(char key, char value) {
    commits_.back().push_back({writes_.size(), true});
    writes_.push_back({key, value});
}

void UndoMapModel::take_back(const Commits& commits) {
    std::map<std::size_t, bool> before;
    for (const std::size_t commit : commits) {
        for (const Touch& touch : commits_[commit]) before.emplace(touch.write, !touch.stood);
    }
    std::map<char, std::size_t> newest;  // The newest of the touched writes, by key.
    for (const auto& [write, stood] : before) newest[writes_[write].key] = write;
    std::set<char> written_since;
    for (const auto& [key, touched] : newest) {
        for (std::size_t i = touched + 1; i < writes_.size(); ++i) {
            if (writes_[i].key == key && writes_[i].stands) written_since.insert(key);
        }
    }
    for (const auto& [write, stood] : before) {
        if (written_since.contains(writes_[write].key) || writes_[write].stands == stood) continue;
        writes_[write].stands = stood;
        commits_.back().push_back({write, stood});
    }
}

std::size_t UndoMapModel::commit() {
    commits_.emplace_back();
    return commits_.size() - 2;
}

std::string UndoMapModel::shown() const {
    std::set<char> keys;
    for (const Write& write : writes_) keys.insert(write.key);
    std::string shown;
    for (const char key : keys) {
        if (has(key)) shown += {key, last(key)};
    }
    return shown;
}

}  // namespace quire::tests
