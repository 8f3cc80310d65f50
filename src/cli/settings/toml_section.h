// Section: a table of a TOML file, read key by key or by a field list, with errors that name the
// file, the line and what would be right.
//
// A key that nobody asks for is an error: a misspelt key would otherwise set nothing, silently.
//
//     Section root(table, "", "quire.toml");
//     TRY(root.table("shell", [&](Section& shell) -> Result<void> {
//         settings.shell = TRY(shell.fields<ShellSettings>());
//         return {};
//     }));
//     TRY(root.end());
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include "base/concat.h"
#include "base/result.h"
#include "base/value.h"
#include "json/fields.h"

namespace quire::cli {

// The line in the file, from 1, on which the value begins.
std::size_t line_of(const toml::node& node);
// invalid_argument "invalid_config" {file, line}: "FILE:LINE: WHAT".
Failure invalid_config(std::string_view file, std::size_t line, std::string_view what);
// A TOML value as JSON; a date, a time and a number that JSON lacks become their text.
Value value_of(const toml::node& node);

// A table that is being read. The TOML document must outlive it. The file's name must outlive it,
// too. end() is called by table() and tables() for what they open; the caller calls it for the
// root.
class Section {
public:
    Section(const toml::table& table, std::string name, std::string_view file)
        : table_(table), name_(std::move(name)), file_(file) {}

    std::size_t line() const { return line_of(table_); }
    // The value of a key, or null if it is absent. Asking marks the key as known to end().
    const toml::node* node(std::string_view key);
    // The keys of a table whose keys the operator chooses. They are not marked as known: node() or
    // table() marks each when it is read.
    std::vector<std::string> keys() const;
    // "tools.mount.fs.env", for messages.
    std::string full(std::string_view key) const;
    // The error for a value of this section, or for the section itself.
    Failure wrong(const toml::node& at, std::string_view what) const;
    Failure wrong(std::string_view what) const { return invalid_config(file_, line(), what); }

    // Reads the members of a T that are present; the others keep the values of T{}. The field
    // list of T gives their types and bounds, and for a required member the description is an
    // example. Errors: invalid_argument "invalid_config" for the first member that is wrong or
    // missing. An integer needs both bounds in its field list, since the message names them.
    template <class T>
    Result<T> fields() {
        const Map schema = json::Codec<T>::schema();
        return json::decode<T>(TRY(members(schema)));
    }
    // The list of strings at `key`, which must be there.
    Result<std::vector<std::string>> words(std::string_view key);
    // The strings of a table whose keys the operator chooses. No message holds a value. They may be
    // secrets, such as tokens in an environment. A name with '=' or NUL, and a value with NUL,
    // cannot be given to a program and are refused with `hint`. Absent is empty.
    Result<std::map<std::string, std::string>> strings(std::string_view key, std::string_view hint);

    // Calls take(section) for the table at `key`, if there is one.
    template <class F>
    Result<void> table(std::string_view key, F take) {
        const toml::node* at = node(key);
        if (at == nullptr) return {};
        if (!at->is_table())
            return wrong(*at, cat(full(key), " is a table; write [", full(key), "]"));
        Section section(*at->as_table(), full(key), file_);
        TRY(take(section));
        return section.end();
    }
    // Calls take(section) for each table of the list at `key`.
    template <class F>
    Result<void> tables(std::string_view key, F take) {
        const toml::node* at = node(key);
        if (at == nullptr) return {};
        const toml::array* array = at->as_array();
        const bool good =
            array != nullptr &&
            std::all_of(array->begin(), array->end(), [](const auto& e) { return e.is_table(); });
        if (!good)
            return wrong(*at, cat(full(key), " is a list of tables; write [[", full(key), "]]"));
        for (const toml::node& each : *array) {
            Section section(*each.as_table(), full(key), file_);
            TRY(take(section));
            TRY(section.end());
        }
        return {};
    }

    // Refuses keys that nobody asked for, and lists the known ones. A key counts as asked for even
    // if it was absent, so the list is that of all valid keys.
    Result<void> end() const;

private:
    // The members that a schema of json::Fields names, each checked against it.
    Result<Value> members(const Map& schema);
    Result<Value> member(std::string_view key, const toml::node& at, const Value& schema) const;

    const toml::table& table_;
    std::string name_;
    std::string_view file_;
    std::vector<std::string> known_;
};

}  // namespace quire::cli
