// View: the tools of a profile as one audience is shown them.
//
// A set of rules leaves some tools of a shelf, and of a tool some operations. Schemas, descriptions and
// annotations of what is left mention no other.
#pragma once

#include <map>
#include <vector>

#include "json/schema/schema.h"
#include "tools/shelf.h"
#include "tools/tool.h"

namespace quire::policy {
class RuleSet;
}

namespace quire::tools {

// A tool as a profile publishes it. A model reads the list of its tools at every start and pays for
// each word. What a tool answers it sees when it calls it, without the members that say nothing, so
// there the output schema promises an object. The other profiles have the members and their types,
// and no twins.
ToolInfo shown_in(Profile profile, ToolInfo info);

// The tools of a profile that a set of rules leaves, or all where none governs. `infos` is what
// clients are listed: twins of operations follow their tool. `narrowed` has what calls of a tool
// are checked against where the rules take some of its operations away. Immutable once made, so any
// thread may read it.
struct View {
    std::vector<ToolInfo> infos;
    std::map<const Entry*, json::Schema> narrowed;  // Schemas of the tools that the rules change.

    const json::Schema& schema_of(const Entry& entry) const {
        const auto at = narrowed.find(&entry);
        return at == narrowed.end() ? entry.accepts() : at->second;
    }
};
// `set`: the rules that govern the audience; null for none. Tools for people are left out for
// others. A foreign tool whose schema is no schema any more without the forbidden operations is not
// listed, and every call of it is refused. `shelf` outlives the view. O(what the shelf has).
View make_view(const Shelf& shelf, Profile profile, const policy::RuleSet* set, bool is_person);

}  // namespace quire::tools
