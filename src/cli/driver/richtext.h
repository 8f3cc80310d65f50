// Styled text as JSON: Quill's deltas, and how styles are configured.
#pragma once

#include "cli/driver/request.h"
#include "cli/driver/text_unit.h"
#include "crdt/doc/doc.h"

namespace quire::cli {

// [{retain|insert|delete, attributes?}], counting code points.
Value to_json(const crdt::TextDelta& delta);
// Reads a delta of this text that counts in `unit`. Errors: invalid_argument;
// out_of_range "out_of_bound"; invalid_argument "position_not_on_boundary".
Result<crdt::TextDelta> text_delta_from(const Value& steps, const seq::Rope& rope, TextUnit unit);

// Configures the `text_styles` and the `default_text_style` that the request has. `text_styles`
// replaces all styles that were configured before. Errors: invalid_argument.
Result<void> configure_styles(const EngineRequest& request, crdt::Doc& doc);

}  // namespace quire::cli
