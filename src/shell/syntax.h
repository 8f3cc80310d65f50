// The syntax of a bash script, as the parser reads it.
//
// A word is a sequence of parts, and says for each whether it was quoted: quoted text is neither
// split nor expanded further. Substitutions hold the script that they run. Nothing is expanded here.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace quire::shell {

struct Script;
struct Part;

// A word with no parts is an empty operand, as in ${x:-}; "" in a script is a quoted empty literal.
struct Word {
    std::vector<Part> parts;
    std::size_t line = 1;
    std::string source;  // The word as it is written.
};

// One stretch of a word. Neighbours with the same quoting and without an expansion are one literal.
enum class PartKind {
    literal,     // `text`, with quotes and escapes removed.
    parameter,   // $name, ${…}: `text` is the name, `operation` what follows it.
    command,     // $(…), `…`: `script`.
    arithmetic,  // $((…)): `words` has the expression as one word.
    process,     // <(…), >(…): `script`; `operation` is "<" or ">".
};

struct Part {
    PartKind kind = PartKind::literal;
    bool quoted = false;
    std::string text;
    // For ${…}: "#name" and "!name" have "#" and "!"; else the operator behind the name, such as ":-",
    // "%%", "/", ":", "@Q", "^^"; "[" for a subscript, before the operator and behind "#" and "!".
    // `words` are the subscript and the operands.
    std::string operation = {};
    std::vector<Word> words = {};
    // Set for `command` and `process` alone. Shared, because words are copied freely.
    std::shared_ptr<const Script> script = {};
};

// NAME=value, NAME+=value, NAME[subscript]=value or NAME=(elements).
struct Assignment {
    std::string name;
    bool appends = false;
    bool is_array = false;
    bool is_argument = false;          // Behind declare and its kin, not before a command.
    std::vector<Word> subscript = {};  // At most one.
    std::vector<Word> values;          // One, or an array's elements.
};

enum class RedirectKind {
    read,         // <
    write,        // > and >|
    append,       // >>
    read_write,   // <>
    write_both,   // &> and >& with a name
    append_both,  // &>>
    duplicate,    // <& and >&, with a number, "-" or a word that expands to one
    here_doc,     // << and <<-: the target is the text
    here_string,  // <<<
};
// A redirection of a command, in the order in which they are written. `{name}>` has no number
// either.
struct Redirect {
    RedirectKind kind = RedirectKind::read;
    int fd = -1;  // -1: the usual one of its kind, or one that the shell chooses.
    // Never null after the parse. It holds the text of a here-document or here-string, else a word
    // that expands to file names.
    std::shared_ptr<const Word> target;
    // For {name}>: the variable that gets the number.
    std::string variable = {};
};

enum class CommandKind {
    simple,      // `words`, after `assignments`
    group,       // { list }
    subshell,    // ( list )
    if_,         // lists: condition, body, condition, body …, and an else
    while_,      // lists: condition, body; until too
    for_,        // `name` in `words`; lists: body. `has_in` is false for "$@". select too
    arith_for,   // for ((…)): words are its expressions; lists: body
    case_,       // words: the subject; `items`
    function,    // `name`; lists: the body
    condition,   // [[ … ]]: words are its operands and operators
    arithmetic,  // ((…)): words has the expression
    coprocess,   // lists: the command; `name` gets its descriptors
};

struct Command;

// Commands joined by |.
struct Pipeline {
    bool negated = false;
    std::vector<Command> commands;
};
// Pipelines joined by && and ||; `joins` has '&' or '|' for each but the first.
struct AndOr {
    std::vector<Pipeline> pipelines;
    std::string joins;
    bool background = false;
};
struct List {
    std::vector<AndOr> items;
};
struct CaseItem {
    std::vector<Word> patterns;
    List body;
};

struct Command {
    CommandKind kind = CommandKind::simple;
    std::size_t line = 1;
    std::string name;
    bool has_in = true;
    bool selects = false;  // for_: a person chooses among the words.
    std::vector<Assignment> assignments;
    std::vector<Word> words;
    std::vector<List> lists;
    std::vector<CaseItem> items;
    std::vector<Redirect> redirects;
};

struct Script {
    List list;
};

}  // namespace quire::shell
