// Tier: how well a command is kept apart from the workspace, best first.
#pragma once

#include "base/enum_words.h"

namespace quire::stage {

// `staged`: namespaces of its own, and an overlay over the workspace (interior.h). The others run on a
// private copy of the workspace (copied_tree.h): `bubblewrap` at the workspace's own path, in namespaces
// that the program bwrap makes; `landlock` in the copy's directory, where the system refuses writes to
// anything else; `observed` there too, with nothing that holds the command back. `none`: in the workspace
// itself.
enum class Tier { staged, bubblewrap, landlock, observed, none };
constexpr auto words_of(Tier) {
    return word_table("staged", "bubblewrap", "landlock", "observed", "none");
}

}  // namespace quire::stage
