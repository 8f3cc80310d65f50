// One function for every write, local or of another replica, so no path around it can forget a
// check. Pure, O(sections + fields written × fields of the schema).

#include "memory/gate.h"

#include "base/concat.h"

namespace quire::memory {
namespace {

Failure read_only_section(std::string_view section) {
    return fail(Errc::denied, "read_only_section",
                cat("Section '", section, "' is read-only and cannot be modified by agent"),
                {{"section", section}});
}

}  // namespace

// The order of checks decides which refusal an actor sees: permission, section, schema, field. Only
// where nothing else refuses the write is a person asked for it.
Result<const BlockSchema*> admit(const Writer& by, const Write& write, const BlockSchema& block) {
    Result<void> permitted = policy::permit(by.rights, write.operation);
    if (!permitted && permitted.error().code() != Errc::escalation_required)
        return Failure(std::move(permitted).error());

    const Located found = TRY(locate(block, write.section));
    if (found.read_only != nullptr && !by.writes_read_only())
        return read_only_section(found.read_only->name);

    TRY(check_shape(*found.schema, write));
    for (const std::string& each : write.fields) {
        const Field* field = TRY(find_written(*found.schema, each));
        if (field != nullptr && field->read_only && !by.writes_read_only())
            return read_only_field(each);
    }
    TRY(std::move(permitted));
    return found.schema;
}

}  // namespace quire::memory
