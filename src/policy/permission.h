// Permissions, operations, and the matrix that says what each permission lets an agent do.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/enum_words.h"
#include "base/result.h"

namespace quire::policy {

// Ordered from the strictest. Under partner and human an agent may write after that person
// approved.
enum class Permission : std::uint8_t { read_only, partner, human, append, read_write, admin };
constexpr auto words_of(Permission) {
    return word_table("read_only", "partner", "human", "append", "read_write", "admin");
}

// `execute` applies to tools and commands, the others to documents and files.
enum class Operation : std::uint8_t { read, create, append, overwrite, erase, execute };
constexpr auto words_of(Operation) {
    return word_table("read", "create", "append", "overwrite", "delete", "execute");
}
// The operations on documents.
inline constexpr Operation kOperations[] = {Operation::read, Operation::create, Operation::append,
                                            Operation::overwrite, Operation::erase};

// Ordered from the mildest, so the stricter of two verdicts is the greater.
enum class Verdict : std::uint8_t { allow, escalate, deny };
constexpr auto words_of(Verdict) {
    return word_table("allow", "escalate", "deny");
}

// The permission's meaning in words for a model's prompt: "Append Only" …
std::string_view title_of(Permission permission);

// Ignores case, reads '-' as '_', and accepts "readonly" and "readwrite". Errors: invalid_argument
// "unknown_permission".
Result<Permission> parse_permission(std::string_view word);

// A set of operations.
class Operations {
public:
    Operations() = default;
    Operations(std::initializer_list<Operation> operations) {
        for (const Operation each : operations) add(each);
    }
    void add(Operation operation) { bits_ |= bit(operation); }
    void add(Operations others) { bits_ |= others.bits_; }
    // The operations on documents, all of them.
    static Operations all() {
        Operations every;
        for (const Operation each : kOperations) every.add(each);
        return every;
    }
    bool has(Operation operation) const { return (bits_ & bit(operation)) != 0; }
    bool empty() const { return bits_ == 0; }
    friend bool operator==(Operations, Operations) = default;

private:
    static std::uint8_t bit(Operation operation) {
        return static_cast<std::uint8_t>(1U << static_cast<unsigned>(operation));
    }
    std::uint8_t bits_ = 0;
};

// One word of operations_requiring_escalation; "write" is append and overwrite.
// Errors: invalid_argument "unknown_operation".
Result<Operations> parse_operations(std::string_view word);

// The rule for deleting. Shared memory is deleted by admins alone. An actor's own blocks and the
// workspace's files can also be deleted under read_write, and under human and partner with an
// approval.
enum class Deleting : std::uint8_t { admin_only, owner };

// The permission matrix. Reading is always allowed; creating counts as appending to nothing.
Verdict verdict(Permission permission, Operation operation,
                Deleting deleting = Deleting::admin_only);

}  // namespace quire::policy
