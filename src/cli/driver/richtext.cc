// text.mark, text.unmark, text.delta and text.apply_delta; positions and counts in the unit that
// the request names.
//
// The document counts code points. A request may count UTF-16 units or bytes, so each position is
// converted against the rope as it is before the operation, in O(log n).
#include "cli/driver/richtext.h"

#include <array>
#include <utility>

#include "base/concat.h"
#include "cli/driver/operation.h"
#include "cli/driver/text_unit.h"
#include "cli/driver/view_argument.h"
#include "crdt/doc/text.h"

namespace quire::cli {
namespace {

using crdt::TextView;

Result<void> text_mark(TextView view, std::size_t start, std::size_t end, const std::string& key,
                       Value value, TextUnit unit) {
    const text::CodePoint from = TRY(code_point(view.rope(), start, unit));
    const text::CodePoint to = TRY(code_point(view.rope(), end, unit));
    return view.mark(from, to, key, std::move(value));
}

// A style is removed by marking the range with null.
Result<void> text_unmark(TextView view, std::size_t start, std::size_t end, const std::string& key,
                         TextUnit unit) {
    return text_mark(view, start, end, key, nullptr, unit);
}

Result<Value> text_delta(const TextView& view) {
    return to_json(view.delta());
}

Result<void> text_apply_delta(TextView view, const RawJson& steps, TextUnit unit) {
    return view.apply(TRY(text_delta_from(steps.value, view.rope(), unit)));
}

constexpr std::array kRichtextOps = {
    engine_op<text_mark>("text.mark", "start", "end", "key", "value", "unit"),
    engine_op<text_unmark>("text.unmark", "start", "end", "key", "unit"),
    engine_op<text_delta>("text.delta"),
    engine_op<text_apply_delta>("text.apply_delta", "delta", "unit"),
};

Failure no_delta(std::string_view why) {
    return invalid("invalid_argument", cat("`delta` is no delta: ", why));
}

// Takes the word alone and {"expand": word}.
Result<crdt::Expand> expand_from(const Value& value) {
    const Value* expand = value.is_string() ? &value : value.get("expand");
    if (expand != nullptr && expand->is_string()) {
        const std::string& name = expand->as_string();
        if (name == "none") return crdt::Expand::none;
        if (name == "before") return crdt::Expand::before;
        if (name == "after") return crdt::Expand::after;
        if (name == "both") return crdt::Expand::both;
    }
    return invalid("invalid_argument",
                   "a text style is {\"expand\": \"after\", \"before\", \"both\" or \"none\"}");
}

}  // namespace

std::span<const EngineOp> engine_richtext_ops() {
    return kRichtextOps;
}

Value to_json(const crdt::TextDelta& delta) {
    List list;
    for (const crdt::TextStep& step : delta) {
        Map map;
        const Map* attributes = nullptr;
        if (const auto* kept = std::get_if<crdt::Retain>(&step)) {
            map.append("retain", kept->count);
            attributes = &kept->attributes;
        } else if (const auto* put = std::get_if<crdt::PutText>(&step)) {
            map.append("insert", put->text);
            attributes = &put->attributes;
        } else {
            map.append("delete", std::get<crdt::Erase>(step).count);
        }
        if (attributes != nullptr && !attributes->empty()) map.append("attributes", *attributes);
        list.push_back(std::move(map));
    }
    return list;
}

Result<crdt::TextDelta> text_delta_from(const Value& steps, const seq::Rope& rope, TextUnit unit) {
    std::size_t at = 0;      // How much of the old text the steps have passed, in the unit
    text::CodePoint here{};  // and in code points.
    // A step's length depends on where it begins, because a unit is not the same number of code
    // points everywhere: the end is converted and the start subtracted.
    const auto go = [&](const Value& count) -> Result<std::size_t> {
        if (!count.is_int() || count.as_int() < 0)
            return no_delta("a step retains or deletes a whole number, 0 or more");
        at += static_cast<std::size_t>(count.as_int());
        const text::CodePoint next = TRY(code_point(rope, at, unit));
        const std::size_t steps_over = next.n - here.n;
        here = next;
        return steps_over;
    };
    return steps_from<crdt::TextDelta>(
        steps, go,
        [](const Value& put, Map attributes) -> Result<crdt::PutText> {
            if (!put.is_string()) return no_delta("a step inserts a string");
            return crdt::PutText{put.as_string(), std::move(attributes)};
        },
        no_delta);
}

// The new configuration is built aside and set at the end, so that an error leaves the old one
// whole.
Result<void> configure_styles(crdt::Doc& doc, const std::optional<Value>& text_styles,
                              const std::optional<RawJson>& default_text_style) {
    if (!text_styles && !default_text_style) return {};
    crdt::StyleConfig config = doc.settings().text_styles;
    if (text_styles) {
        if (!text_styles->is_map())
            return invalid("invalid_argument", "`text_styles` is an object of styles by key");
        config = crdt::StyleConfig();
        config.set_default(doc.settings().text_styles.default_expand());
        for (const auto& [key, style] : text_styles->as_map()) {
            if (key.find(':') != std::string::npos) {
                return invalid("invalid_argument",
                               "a text style is configured by the part of its keys before a ':'");
            }
            config.set(key, TRY(expand_from(style)));
        }
    }
    if (default_text_style) {
        const Value& style = default_text_style->value;
        config.set_default(style.is_null() ? std::nullopt
                                           : std::optional(TRY(expand_from(style))));
    }
    doc.settings().text_styles = std::move(config);
    return {};
}

}  // namespace quire::cli
