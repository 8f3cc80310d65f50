#include "policy/permission.h"

#include "base/concat.h"

namespace quire::policy {
namespace {

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

std::string_view name_of(Permission permission) {
    switch (permission) {
        case Permission::read_only:
            return "read_only";
        case Permission::partner:
            return "partner";
        case Permission::human:
            return "human";
        case Permission::append:
            return "append";
        case Permission::read_write:
            return "read_write";
        case Permission::admin:
            return "admin";
    }
    return "read_only";
}

std::string_view name_of(Operation operation) {
    switch (operation) {
        case Operation::read:
            return "read";
        case Operation::create:
            return "create";
        case Operation::append:
            return "append";
        case Operation::overwrite:
            return "overwrite";
        case Operation::erase:
            return "delete";
        case Operation::execute:
            return "execute";
    }
    return "read";
}

std::string_view name_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::allow:
            return "allow";
        case Verdict::escalate:
            return "escalate";
        case Verdict::deny:
            return "deny";
    }
    return "deny";
}

std::string_view title_of(Permission permission) {
    switch (permission) {
        case Permission::read_only:
            return "Read Only";
        case Permission::partner:
            return "Requires Partner permission to write";
        case Permission::human:
            return "Requires Human permission to write";
        case Permission::append:
            return "Append Only";
        case Permission::read_write:
            return "Read, Append, Write";
        case Permission::admin:
            return "Read, Write, Delete";
    }
    return "Read Only";
}

// Compares folded words, then the two spellings without underscore.
Result<Permission> parse_permission(std::string_view word) {
    const std::string plain = folded(word);
    for (const Permission each : kPermissions) {
        if (plain == name_of(each)) return each;
    }
    if (plain == "readonly") return Permission::read_only;
    if (plain == "readwrite") return Permission::read_write;
    return invalid("unknown_permission",
                   cat("unknown permission '", word,
                       "', expected: read_only, partner, human, append, read_write, admin"));
}

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
