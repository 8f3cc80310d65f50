#include "policy/permission.h"

#include "base/concat.h"

namespace quire::policy {
namespace {

// In the order of Permission.
constexpr std::string_view kTitles[] = {"Read Only",
                                        "Requires Partner permission to write",
                                        "Requires Human permission to write",
                                        "Append Only",
                                        "Read, Append, Write",
                                        "Read, Write, Delete"};
static_assert(std::size(kTitles) == kWords<Permission>.size());

// The word in lower case, with '-' written as '_'.
std::string folded(std::string_view word) {
    std::string out(word);
    for (char& c : out) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        if (c == '-') c = '_';
    }
    return out;
}

}  // namespace

std::string_view title_of(Permission permission) {
    return kTitles[static_cast<std::size_t>(permission)];
}

// Compares folded words, then the two spellings without underscore.
Result<Permission> parse_permission(std::string_view word) {
    const std::string plain = folded(word);
    if (const auto known = enum_named<Permission>(plain)) return *known;
    if (plain == "readonly") return Permission::read_only;
    if (plain == "readwrite") return Permission::read_write;
    return invalid("unknown_permission",
                   cat("unknown permission '", word, "', expected: ", listed_words<Permission>()));
}

// "write" stands for two operations; settings may use it, answers never do.
Result<Operations> parse_operations(std::string_view word) {
    for (const Operation each : kOperations) {
        if (word == name_of(each)) return Operations{each};
    }
    if (word == "write") return Operations{Operation::append, Operation::overwrite};
    return invalid("unknown_operation",
                   cat("unknown operation '", word,
                       "', expected: read, create, append, overwrite, write, delete"));
}

// The switch spells the matrix out row by row, so that a new permission does not compile without
// one.
Verdict verdict(Permission permission, Operation operation, Deleting deleting) {
    if (operation == Operation::read) return Verdict::allow;
    const bool erasing = operation == Operation::erase;
    switch (permission) {
        case Permission::read_only:
            return Verdict::deny;
        case Permission::partner:
        case Permission::human:
            return erasing && deleting == Deleting::admin_only ? Verdict::deny : Verdict::escalate;
        case Permission::append:
            return operation == Operation::create || operation == Operation::append ? Verdict::allow
                                                                                    : Verdict::deny;
        case Permission::read_write:
            return erasing && deleting == Deleting::admin_only ? Verdict::deny : Verdict::allow;
        case Permission::admin:
            return Verdict::allow;
    }
    return Verdict::deny;
}

}  // namespace quire::policy
