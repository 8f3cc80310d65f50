// Predictions: what a command would do to files, as far as that can be told before it runs.
// Values alone, without a document or a rule: judge.h decides, and the reply of the tool shows
// them.
#pragma once

#include <compare>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_words.h"

namespace quire::shell {

// `write` replaces the content of a file, `append` adds to it, `create` makes what was not there.
enum class Effect { read, write, append, create, erase, execute };
constexpr auto words_of(Effect) {
    return word_table("read", "write", "append", "create", "delete", "execute");
}

// An effect on a path: relative to the root where it lies in it ("" is the root itself), else
// absolute. A directory that ends in '/' stands for all that is in it or may come to be in it; a run
// of '?' for a name that is made at random.
struct Predicted {
    std::string path;
    Effect effect = Effect::read;
    friend auto operator<=>(const Predicted&, const Predicted&) = default;
};

// Something that cannot be told, or that is more than an effect on files. Beside a warning the
// predicted effects may not be all. judge() knows four kinds: "privilege" and "too_complex" block,
// "network" and "unresolved_destructive" (an unknown file is written or deleted) escalate. Others
// only warn.
struct Warning {
    std::string kind;  // "unpredictable_command", "network", "privilege", "too_complex" …
    std::string word;  // The word or command that it is about.
    std::string why;
    friend auto operator<=>(const Warning&, const Warning&) = default;
};

struct Prediction {
    std::vector<Predicted> effects;  // Sorted, each once.
    std::vector<Warning> warnings;   // Sorted, each once.
};

// Files as they are before the command runs, by absolute path. Asked many times for one prediction,
// on the thread of predict() or judge(). Errors look like absence.
class TreeView {
public:
    enum class Kind { none, file, directory, link };
    struct Entry {
        // `file` is all that is neither a directory nor a link.
        Kind kind = Kind::none;
        std::string target = {};  // A link's.
    };
    TreeView() = default;
    TreeView(const TreeView&) = delete;
    TreeView& operator=(const TreeView&) = delete;
    virtual ~TreeView() = default;
    // The entry at a path whose parents are no links; a link is not followed.
    virtual Entry look(const std::string& path) const = 0;
    // The names in a directory, without "." and "..", sorted.
    virtual std::vector<std::string> list(const std::string& directory) const = 0;
};

// The surroundings of a command, as the caller knows them before it runs.
struct Situation {
    std::string root;  // The workspace's, absolute, without links.
    std::string cwd;   // Absolute.
    // The variables of the environment; with `knows_all`, what is not there is not set.
    std::map<std::string, std::string> environment = {};
    bool knows_all = false;
    // Directories outside of the workspace that the command has for itself, and may write in.
    std::vector<std::string> own_places = {"/tmp"};
};

}  // namespace quire::shell
