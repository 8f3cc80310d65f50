// Test support: a text, a plan over it, and what comes of it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "edits/plan.h"
#include "seq/rope.h"

namespace quire::edits {

// What `planned` makes of `text`: its splices are ascending, apart, and true for the text as it
// was.
inline std::string applied(std::string_view text, const Planned& planned) {
    std::string out;
    std::size_t at = 0;
    for (const text::Splice& splice : planned.splices) {
        out.append(text.substr(at, splice.at.n - at));
        out.append(splice.insert);
        at = splice.at.n + splice.erase.n;
    }
    return out.append(text.substr(at));
}

// The text after the plan, or the reason why there is none.
inline std::string outcome(std::string_view text, Plan plan, std::uint64_t version = 7) {
    const Result<Planned> planned = plan(seq::Rope(text), version);
    return planned ? applied(text, *planned) : planned.error().reason();
}

inline Error refusal(std::string_view text, Plan plan, std::uint64_t version = 7) {
    Result<Planned> planned = plan(seq::Rope(text), version);
    return planned ? Error(Errc::unavailable, "was_not_refused", "") : std::move(planned).error();
}

}  // namespace quire::edits
