// Operations: what a tool that does several things does, and what each of them takes.
//
// One argument of the tool says which operation a call is. A tool declares them all in one list:
// its schema, its description, its annotations, the check of what a call gives, what may be asked
// again and the rules that allow some of them are read from it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/value.h"

namespace quire::tools {

struct Operation {
    std::string name;
    std::vector<std::string> needed = {};  // The arguments that it takes,
    std::vector<std::string> more = {};    // and those that it may take.
    bool reads = false;                    // It changes nothing.
    bool open = false;                     // It takes whatever the schema lets through.
    std::string says = {};                 // Of it, in the tool's description.
    // Names that older forms of a tool had: where `now` is absent, `then` stands for it.
    struct Earlier {
        std::string then;
        std::string now;
    };
    std::vector<Earlier> earlier = {};
};

struct Operations {
    std::string argument = {};  // "operation" or "command"; "" of a tool that does one thing.
    std::vector<Operation> all = {};

    // nullptr for a word that is none of them.
    const Operation* find(std::string_view name) const;
    bool empty() const { return all.empty(); }
    // The arguments that none of these takes and others do.
    std::vector<std::string> unused_by(const std::vector<std::string>& names) const;
    // What the description says of these: "save: writes edits to the disk. undo, redo: your own."
    std::string description(const std::vector<std::string>& names) const;
    std::vector<std::string> names() const;
};

// Gives earlier names of arguments their names of now, and says whether these are the ones that the
// operation takes which they name. Errors: invalid_argument "invalid_argument" {missing} or
// {unknown}, with what it takes in the message.
Result<void> settle_arguments(const Operations& operations, Map& arguments);

}  // namespace quire::tools
