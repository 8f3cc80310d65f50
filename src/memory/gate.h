// The gate: the one place that lets a write to a memory block through, or refuses it.
//
// In this order: may this actor do this to the block (policy/rights.h); may it write this section;
// is this schema what the write is for, and does it have the fields; may it write these fields.
// What is written is checked against the schema after that, by whoever writes. Pure.
#pragma once

#include "memory/field_path.h"
#include "memory/written.h"
#include "policy/rights.h"

namespace quire::memory {

// Who writes, and what the block allows them.
struct Writer {
    policy::Actor actor;
    policy::Rights rights;

    // Sources and the system write what is read-only to everybody else.
    bool writes_read_only() const {
        return actor.kind == policy::ActorKind::source || actor.kind == policy::ActorKind::system;
    }
};

// The schema that the write is for: the block's, or its section's.
//
// Errors: denied "permission_denied", escalation_required "escalation_required" as permit() has
// them; invalid_argument "section_required", not_found "section_not_found" as locate(); denied
// "read_only_section" {section}: "Section 'NAME' is read-only and cannot be modified by agent";
// invalid_argument "schema_mismatch" {field, expected, actual}; not_found "field_not_found"; denied
// "read_only_field" {field}: "Field 'NAME' is read-only and cannot be modified by agent".
Result<const BlockSchema*> admit(const Writer& by, const Write& write, const BlockSchema& block);

}  // namespace quire::memory
