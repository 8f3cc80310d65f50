// What the tool `context` does: the words of its argument `operation`, for the tool and for rules
// that allow some of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace quire::tools {

enum class ContextOperation : std::uint8_t {
    create,
    view,
    list,
    append,
    replace,
    set_field,
    append_to_list,
    remove_from_list,
    increment_counter,
    archive,
    load,
    swap,
    search,
    undo,
    redo,
    history,
    diff,
    rollback,
    share,
    unshare,
    convert,
    erase,
};

// In the order of the enumerators.
inline constexpr std::array<std::string_view, 22> kContextOperations = {"create",
                                                                        "view",
                                                                        "list",
                                                                        "append",
                                                                        "replace",
                                                                        "set_field",
                                                                        "append_to_list",
                                                                        "remove_from_list",
                                                                        "increment_counter",
                                                                        "archive",
                                                                        "load",
                                                                        "swap",
                                                                        "search",
                                                                        "undo",
                                                                        "redo",
                                                                        "history",
                                                                        "diff",
                                                                        "rollback",
                                                                        "share",
                                                                        "unshare",
                                                                        "convert",
                                                                        "delete"};

constexpr std::string_view name_of(ContextOperation operation) {
    return kContextOperations[static_cast<std::size_t>(operation)];
}
static_assert(name_of(ContextOperation::erase) == "delete");

}  // namespace quire::tools
