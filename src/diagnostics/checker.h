// Checker: checks one unit at a time, and runs nothing that agents could have written.
//
// The tool and the list of units come from the settings. Each check asks anew what agents may
// write, since that may change at any time.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "diagnostics/check.h"
#include "diagnostics/reach.h"
#include "diagnostics/units.h"

namespace quire::diagnostics {

struct DiagnosticsOptions;

class Checker {
public:
    // `options` and `clock` outlive it.
    Checker(const DiagnosticsOptions& options, Clock& clock);

    // The absolute path of compile_commands.json.
    const std::string& list() const { return list_; }
    const Reach& reach() const { return reach_; }
    // The reason why nothing may be run; "" if something may. It looks at the disk and at the rules
    // as they are now.
    std::string refusal() const;
    // The reason why the flags that clang-tidy reads beside the list keep it from running; "" if
    // they do not. They may name a plugin.
    std::string flags_refusal() const;
    // Returns none if it was stopped. A unit that is not trusted gets its reason as the problem. Blocks as
    // long as the tool runs; `scratch` as for check_unit().
    std::optional<Checked> check(const Listed& listed, const std::string& scratch,
                                 const std::stop_token& stop) const;

private:
    std::string distrust(const CompileUnit& unit) const;
    void name_from_root(Checked& checked) const;

    const DiagnosticsOptions& options_;
    const std::string settings_refusal_;  // From the settings alone; "" for none.
    const std::string list_;
    const CheckTool tool_;
    const Reach reach_;
    Clock& clock_;
};

}  // namespace quire::diagnostics
