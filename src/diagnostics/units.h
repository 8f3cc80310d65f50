// Units: the files that compile_commands.json lists, the choice that a config makes among them, and
// what their checks say together. Patterns are matched and files are looked at here, without a lock.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "diagnostics/check.h"
#include "diagnostics/check_config.h"
#include "diagnostics/compile_commands.h"
#include "diagnostics/findings.h"

namespace quire::diagnostics {

class Reach;

// A compile unit below the root. It is made once for each reading of the list and never changed.
struct Listed {
    CompileUnit unit;
    std::string path;  // From the root.
    std::string key;   // Equal for the same file checked by the same command.
};
// The whole list, as one reading of the file found it.
struct Units {
    std::vector<Listed> listed;
    std::size_t outside = 0;  // Entries whose files are not below the root.
    // The length of all paths together, by which the cost of matching is estimated beforehand.
    std::size_t path_bytes = 0;
};

// The units that a config chooses. Found once: it costs patterns times paths.
struct Choice {
    std::shared_ptr<const Units> units;
    CheckConfig config;
    std::vector<const Listed*> chosen;

    bool is_of(const std::shared_ptr<const Units>& all, const CheckConfig& wanted) const {
        return units == all && config.same_files(wanted);
    }
};
// Returns null if `stop` was requested meanwhile.
std::shared_ptr<const Choice> choose(std::shared_ptr<const Units> units, const CheckConfig& config,
                                     const std::stop_token& stop);

// The units whose files are below the root; the others are counted, for a project may compile files
// that are not the workspace's. Errors: not_found "file_not_found"; those of read_trusted() and
// parse_compile_commands().
Result<Units> read_units(const std::string& file, const Reach& reach, const std::string& root);

// Looks at each file once. It belongs to one look, so that all checks are compared with the same
// state of a header.
class Stamps {
public:
    const InputStamp& of(const std::string& path) {
        const auto [at, is_new] = known_.try_emplace(path);
        if (is_new) at->second = stamp_of(path);
        return at->second;
    }

private:
    std::map<std::string, InputStamp> known_;
};

// Returns true if the check had no problem and its inputs are as they were.
bool is_current(const Checked& checked, Stamps& stamps);

// The checks of all files that a config chooses.
using Checks = std::vector<std::shared_ptr<const Checked>>;
struct Seen {
    std::shared_ptr<const Choice> choice;
    Checks checks;  // One for each chosen unit; never null.
};
// All findings, sorted.
std::vector<Finding> collect(const Seen& seen);
// Returns true if a file could not be checked, or none was although there are entries.
bool lacks(const Seen& seen);
// "checked 3 files; 1 could not be: a.cc: …".
std::string summary(const Seen& seen);

}  // namespace quire::diagnostics
