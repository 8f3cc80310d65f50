// Styled text as JSON: Quill's deltas, and how styles are configured.
//
// A delta walks over the old text: `retain` passes a stretch and may change its style, `delete`
// removes one, `insert` adds text where the walk stands.
#pragma once

#include "base/concat.h"
#include "cli/driver/argument.h"
#include "cli/driver/text_unit.h"
#include "crdt/doc/doc.h"

namespace quire::cli {

// [{retain|insert|delete, attributes?}], counting code points.
Value to_json(const crdt::TextDelta& delta);
// Reads a delta of this text, whose values are raw, that counts in `unit`. Errors: invalid_argument;
// out_of_range "out_of_bound"; invalid_argument "position_not_on_boundary".
Result<crdt::TextDelta> text_delta_from(const Value& steps, const seq::Rope& rope, TextUnit unit);

// Configures text styles and their default, where they are given. `text_styles` replaces all
// styles that were configured before; a null default is none, and a mark with a key that is not
// configured is refused. Errors: invalid_argument.
Result<void> configure_styles(crdt::Doc& doc, const std::optional<Value>& text_styles,
                              const std::optional<RawJson>& default_text_style);

// Reads the steps of a text's or a list's delta. `count` reads how much a step keeps or erases,
// `put` what it inserts, and `wrong` says what is wrong with them. A step has exactly one of
// `retain`, `insert` and `delete`, and may have `attributes`.
template <class Steps, class Count, class Put, class Wrong>
Result<Steps> steps_from(const Value& json, Count count, Put put, Wrong wrong) {
    if (!json.is_list()) return wrong("it is an array of steps");
    Steps steps;
    for (const Value& step : json.as_list()) {
        const Value* kept = step.get("retain");
        const Value* inserted = step.get("insert");
        const Value* erased = step.get("delete");
        if ((kept != nullptr) + (inserted != nullptr) + (erased != nullptr) != 1)
            return wrong("a step has one of `retain`, `insert` and `delete`");
        Map attributes;
        if (const Value* given = step.get("attributes"); given != nullptr && !given->is_null()) {
            if (!given->is_map()) return wrong("`attributes` is an object");
            const Value read = TRY(plain(*given));
            attributes = read.as_map();
        }
        if (kept != nullptr) {
            steps.push_back(crdt::Retain{TRY(count(*kept)), std::move(attributes)});
        } else if (erased != nullptr) {
            steps.push_back(crdt::Erase{TRY(count(*erased))});
        } else {
            steps.push_back(TRY(put(*inserted, std::move(attributes))));
        }
    }
    return steps;
}

}  // namespace quire::cli
