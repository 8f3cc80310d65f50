// Run: the abstract run of a script. expand.cc has words, run.cc commands, effects.cc paths; the models
// of commands (models.h) call what they need here.
//
// A Run is used for one script, on one thread. It is made and dropped by predict(); models get it
// in their Call and must not keep it. Operands that are not known become warnings inside, so that a
// model need not ask first. Paths are absolute; effects and warnings show them as the rules do,
// relative to the root.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "shell/prediction.h"
#include "shell/state.h"
#include "shell/syntax.h"
#include "shell/values.h"

namespace quire::shell {

// How the last component of a path is taken, if it is a link.
// Reading, writing and listing follow it. Deleting, renaming and replacing take the link itself.
enum class LastLink { followed, itself };

// The input of a command, where the script says what it is: a here-document's text.
// Only shells that read their script from it care.
struct Input {
    std::optional<std::string> text = {};
};

class Run {
public:
    // Both must outlive the run. of() is called once.
    Run(const Situation& situation, const TreeView& tree);
    Prediction of(const Script& script);

    // --- for models ---
    // The state in which the command runs. A builtin changes it in place.
    State& state() { return *state_; }
    const Situation& situation() const { return situation_; }
    // The kinds are those of Warning. `word` is what the script has there; it is cut and made
    // printable.
    void warn(std::string kind, const std::string& word, std::string why);
    // An effect on each path that the operand may name. One that is not known is a warning.
    void effect(Effect effect, const Arg& operand, LastLink last = LastLink::followed);
    // An effect on the operand, and on everything below it.
    void effect_below(Effect effect, const Arg& operand, LastLink last = LastLink::followed);
    // The operand's content is replaced, or it is made: a `write` where the tree has a file, else a
    // `create`. append() likewise gives an `append` or a `create`.
    void write(const Arg& operand, LastLink last = LastLink::followed);
    void append(const Arg& operand);
    // Creates something new there: a file, a directory, or a link to `target`.
    void make_directory(const Arg& operand);
    void make_missing_directory(const Arg& operand);  // Only if nothing is there.
    void make_link(const Arg& operand, const Arg& target);
    // Returns true if it may be a directory, or the script may have made it one.
    bool may_be_directory(const Arg& operand);
    bool may_be_link(const Arg& operand);
    bool may_exist(const Arg& operand);
    // From the next command on, patterns may not find what is there.
    void may_hide_names() { replaces_ = true; }
    // The paths, absolute and without links before the last component.
    std::vector<std::string> paths_of(const Arg& operand, LastLink last = LastLink::followed);
    // The names in the directories that the operand may name, and those that the script made there.
    // The directory is a path as paths_of() returns it. Sorted.
    std::vector<std::string> names_in(const std::string& directory) const;
    // For paths without links before the last component: what the tree has there, or the script
    // made there.
    bool can_be_link(const std::string& path) const;
    bool can_be_directory(const std::string& path) const;
    bool can_exist(const std::string& path) const;
    // Runs a command of arguments, as a wrapper does: without the script's functions. Or runs a
    // script of text, as eval or a shell does; `as` is the command that a warning names if it
    // cannot be parsed.
    void run_command(const std::vector<Arg>& arguments, const Input& input);
    void run_text(const std::string& script, const std::string& as);
    // Runs a script in a shell `name` of its own. The first of the arguments is its $0.
    void run_shell(const std::string& script, const std::string& name, std::vector<Arg> arguments);
    // The text of a trap, which runs at the end or at any time.
    void add_trap(const std::string& text, bool only_at_exit);
    // A break or continue, or a return, stands here. `leaves_more`: it may leave several loops.
    void jump(bool returns, bool leaves_more);
    // The shell that reads the script is not bash.
    bool is_posix() const { return is_posix_; }
    // Sets a variable, and drops an array of that name. may_be_empty() adds "" to what it may hold.
    void assign(const std::string& name, Value value);
    void may_be_empty(const std::string& name);
    void unset(const std::string& name);
    // The content of links below the operand may be replaced, as by a copy onto them.
    void write_links_below(const Arg& operand);
    // The links among the source and what is below it come to be at the place too.
    void carry_links(const Arg& source, const Arg& place);

private:
    // A byte of a word, or one of its other parts.
    struct Atom {
        char byte = 0;
        bool quoted = false;
        const Part* part = nullptr;
    };
    // A part is expanded as a whole. A byte 0 without a part stands for an empty quoted text.
    using Atoms = std::vector<Atom>;
    // The words that the braces of a word make (braces.cc).
    struct Braces {
        // A list {a,b}, or a sequence {1..9}.
        struct Pair {
            std::vector<std::size_t> cuts;  // The places of '{', each comma, and '}'.
            std::vector<std::string> sequence;
        };
        explicit Braces(const Atoms& all);
        // Sets `is_complete` to false if there are too many.
        std::vector<Atoms> words(std::size_t begin, std::size_t end);

        const Atoms& atoms;
        std::map<std::size_t, Pair> pairs = {};  // Keyed by the place of the '{'.
        std::size_t left = 1024;                 // The words that may still be made.
        bool is_complete = true;
    };
    static Atoms atoms_of(const Word& word);
    static std::optional<std::string> plain_text(const Word& word);

    // States in which the commands around may have been left.
    struct Jumps {
        std::optional<State> from_loop;      // The innermost loop, by break or continue.
        std::optional<State> from_loops;     // Several loops, by one with a number.
        std::optional<State> from_function;  // The function, by return.
        static void add(std::optional<State>& to, const State& state);
    };

    // --- control flow (run.cc, run_simple.cc) ---
    // Each takes the state before and returns the one after. Warnings and effects go into the
    // members.
    State eval(const List& list, State state);
    Ends eval(const AndOr& chain, State state);
    Ends eval(const Pipeline& pipeline, State state);
    Ends eval(const Command& command, State state, const Input& input);
    Ends eval_simple(const Command& command, State state, const Input& input);
    void eval_condition(const Command& command);
    // Runs a list in a shell of its own: only its effects stay.
    void run_apart(const List& list);
    State eval_for(const Command& command, State state);
    State round(const List& body, State state, std::optional<State>& ended);
    State repeat(const List* condition, const List& body, State state);
    void run_traps();
    State call_function(const List& body, std::vector<Arg> arguments, State state);
    Ends change_directory(const std::vector<Arg>& arguments);
    Input redirect(const std::vector<Redirect>& redirects, Input input);
    void assign(const Assignment& assignment);
    void assign_array(const Assignment& assignment);
    void dispatch(const std::vector<Arg>& arguments, const Input& input);
    // False, after a warning, if the run has taken all of its steps or is too deep.
    bool can_go_on();
    // Takes a step, or as many as it costs to follow the path. Then as can_go_on().
    bool spend();
    bool spend_on(const std::string& path);
    std::size_t made_count() const;  // The names and links that the script has made.

    // --- words (expand.cc) ---
    // The words that a word expands to, none if it vanishes: an unquoted empty value.
    std::vector<Arg> fields(const Word& word);
    std::vector<Arg> fields(const std::vector<Word>& words);
    Value text(const Word& word);  // Neither split nor matched with files.
    void expand(const Atoms& atoms, std::vector<Arg>& out);
    Value joined_by_blanks(const std::vector<Arg>& elements);
    Value home();  // The value of ~.
    // The values that the part may have, unsplit. A substitution runs in the abstract first.
    Value value_of(const Part& part);
    Value parameter(const Part& part);
    Value operated(const Part& part, Value value);
    Value variable(const std::string& name);
    Value argument(std::size_t index);  // $1 and those after it, from 1.
    static Value any_element(const Elements& elements);
    void add_element(const std::string& name, const Value& value);
    void subscript(const Word& word);
    // arithmetic() runs what the expression may run, and its result is always some number.
    Value output_of(const Script& script);
    Value arithmetic(const Word& expression);
    // The words that a pattern may become, sorted.
    struct Matches {
        std::vector<std::string> words;
        bool are_certain = true;   // It becomes these, and no fewer.
        bool has_pattern = false;  // One is the pattern itself, which is alone if it is there.
    };
    // Looks into the directories of the tree and of the script. "too_complex" for too many files.
    Matches matches(const std::string& pattern);
    std::optional<std::vector<Arg>> list_of(const Part& part);

    // --- paths (effects.cc) ---
    // Records an effect on one path without links, or on all `below` it.
    void emit(Effect effect, const std::string& path, bool below);
    // Appends to `out` each path to which the absolute `path` may lead.
    void resolve(std::string path, LastLink last, int links, std::vector<std::string>& out);
    // The form for people and rules: relative to the root if it is below it, with '?' for unknown
    // characters.
    std::string shown(const std::string& path) const;
    // The tree's entry, which is asked for once.
    const TreeView::Entry& look(const std::string& path) const;

    const Situation& situation_;
    const TreeView& tree_;
    // Answers of the tree, which does not change during a run. Keyed by path.
    mutable std::unordered_map<std::string, TreeView::Entry> looked_;
    mutable std::unordered_map<std::string, std::vector<std::string>> listed_;
    // Not owned: a local of the eval() that is at work, so it is valid only within one.
    State* state_ = nullptr;
    // Sets, because loops and second rounds find the same effects again.
    std::set<Predicted> effects_;
    std::set<Warning> warnings_;
    // These three never lose an entry: a deletion may be in a branch that is not taken.
    // Made by the script: names by directory, and the targets of links.
    std::map<std::string, std::set<std::string>> made_;
    std::set<std::string> made_directories_;
    std::map<std::string, std::set<std::string>> made_links_;
    std::vector<std::unique_ptr<Script>>
        scripts_;  // Kept for run_text(), as functions point into them.
    // Something was deleted or may be hidden, or a link was replaced: by the command that runs, and by one
    // before it.
    bool replaces_ = false;
    bool has_replaced_ = false;
    Jumps jumps_;
    std::vector<std::string> traps_;
    std::optional<State> anywhere_;  // Any of the states since the first trap.
    bool is_posix_ = false;
    std::size_t steps_ = 0;
    std::size_t followed_ = 0;  // Less than a step: how far paths were followed (spend_on()).
    std::size_t assigned_ = 0;  // Bytes that were assigned to variables.
    std::size_t resolved_ = 0;  // Since paths_of() began.
    int depth_ = 0;
};

std::string last_component(const std::string& path);
std::string parent_of(const std::string& path);

}  // namespace quire::shell
