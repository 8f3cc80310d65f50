// The place of what is edited in a file that a person also edits (jsonc_edit.h, toml_edit.h).
//
// Both editors share it, so that a table of clients can name a place without its file's form.
#pragma once

#include <string_view>

namespace quire::cli {

// `name` in `container`, which stands at the top of the file.
struct MemberPlace {
    std::string_view container;
    std::string_view name;
};

}  // namespace quire::cli
