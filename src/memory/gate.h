// The gate: the only place that admits or refuses a write to a memory block.
//
// It checks in this order: may this actor do this to the block (policy/rights.h); may it write this
// section; does the schema suit the write and have the fields; may it write these fields. The
// written values are checked against the schema afterwards, by the caller. A write that waits for a
// person's approval is refused as such after all other checks. Pure.
#pragma once

#include "memory/field_path.h"
#include "memory/written.h"
#include "policy/rights.h"

namespace quire::memory {

// The writer, and its rights over the block.
struct Writer {
    policy::Actor actor;
    policy::Rights rights;

    // Sources and the system may write read-only fields and sections.
    bool writes_read_only() const {
        return actor.kind == policy::ActorKind::source || actor.kind == policy::ActorKind::system;
    }
};

// Returns the schema that the write is for: the block's, or its section's.
//
// Errors: denied "permission_denied", escalation_required "escalation_required" as permit();
// invalid_argument "section_required", not_found "section_not_found" as locate(); denied
// "read_only_section" {section}: "Section 'NAME' is read-only and cannot be modified by agent";
// invalid_argument "schema_mismatch" {field, expected, actual}; not_found "field_not_found"; denied
// "read_only_field" {field}: "Field 'NAME' is read-only and cannot be modified by agent".
Result<const BlockSchema*> admit(const Writer& by, const Write& write, const BlockSchema& block);

}  // namespace quire::memory
