// text.mark, text.unmark, text.delta and text.apply_delta; positions and counts in the unit that
// the request names.
#include "cli/driver/richtext.h"

#include <array>
#include <utility>

#include "base/concat.h"
#include "cli/driver/session.h"
#include "cli/driver/text_unit.h"

namespace quire::cli {
namespace {

using crdt::ContainerKind;

Result<Value> style_text(EngineDocuments& documents, const EngineRequest& request, Value value) {
    const EngineTarget target = TRY(documents.target(request, ContainerKind::text));
    const std::size_t start = TRY(request.size("start"));
    const std::size_t end = TRY(request.size("end"));
    const std::string key = TRY(request.text("key"));
    const TextUnit unit = TRY(unit_of(request));
    const text::CodePoint from = TRY(code_point(rope_of(target), start, unit));
    const text::CodePoint to = TRY(code_point(rope_of(target), end, unit));
    TRY(target.doc.text(target.handle).mark(from, to, key, std::move(value)));
    return Value(true);
}

Result<Value> text_mark(EngineDocuments& documents, const EngineRequest& request) {
    return style_text(documents, request, TRY(request.value("value")));
}

Result<Value> text_unmark(EngineDocuments& documents, const EngineRequest& request) {
    return style_text(documents, request, nullptr);
}

Result<Value> text_delta_json(EngineDocuments& documents, const EngineRequest& request) {
    const EngineTarget target = TRY(documents.target(request, ContainerKind::text));
    return to_json(target.doc.text(target.handle).delta());
}

Result<Value> text_apply_delta(EngineDocuments& documents, const EngineRequest& request) {
    const EngineTarget target = TRY(documents.target(request, ContainerKind::text));
    const Value steps = TRY(request.value("delta"));
    const TextUnit unit = TRY(unit_of(request));
    const crdt::TextDelta delta = TRY(text_delta_from(steps, rope_of(target), unit));
    TRY(target.doc.text(target.handle).apply(delta));
    return Value(true);
}

constexpr std::array kRichtextOps = {
    EngineOp{"text.mark", text_mark},
    EngineOp{"text.unmark", text_unmark},
    EngineOp{"text.delta", text_delta_json},
    EngineOp{"text.apply_delta", text_apply_delta},
};

Failure no_delta(std::string_view why) {
    return invalid("invalid_argument", cat("`delta` is no delta: ", why));
}

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
    if (!steps.is_list()) return no_delta("it is an array of steps");
    crdt::TextDelta delta;
    std::size_t at = 0;      // How much of the old text the steps have passed, in the unit
    text::CodePoint here{};  // and in code points.
    const auto go = [&](const Value& count) -> Result<std::size_t> {
        if (!count.is_int() || count.as_int() < 0)
            return no_delta("a step retains or deletes a whole number, 0 or more");
        at += static_cast<std::size_t>(count.as_int());
        const text::CodePoint next = TRY(code_point(rope, at, unit));
        const std::size_t steps_over = next.n - here.n;
        here = next;
        return steps_over;
    };
    for (const Value& step : steps.as_list()) {
        const Value* kept = step.get("retain");
        const Value* put = step.get("insert");
        const Value* erased = step.get("delete");
        if ((kept != nullptr) + (put != nullptr) + (erased != nullptr) != 1)
            return no_delta("a step has one of `retain`, `insert` and `delete`");
        Map attributes;
        if (const Value* given = step.get("attributes"); given != nullptr && !given->is_null()) {
            if (!given->is_map()) return no_delta("`attributes` is an object");
            attributes = given->as_map();
        }
        if (kept != nullptr) {
            delta.push_back(crdt::Retain{TRY(go(*kept)), std::move(attributes)});
        } else if (erased != nullptr) {
            delta.push_back(crdt::Erase{TRY(go(*erased))});
        } else if (put->is_string()) {
            delta.push_back(crdt::PutText{put->as_string(), std::move(attributes)});
        } else {
            return no_delta("a step inserts a string");
        }
    }
    return delta;
}

Result<void> configure_styles(const EngineRequest& request, crdt::Doc& doc) {
    if (!request.has("text_styles") && !request.has("default_text_style")) return {};
    crdt::StyleConfig config = doc.settings().text_styles;
    if (request.has("text_styles")) {
        const Value styles = TRY(request.value("text_styles"));
        if (!styles.is_map())
            return invalid("invalid_argument", "`text_styles` is an object of styles by key");
        config = crdt::StyleConfig();
        config.set_default(doc.settings().text_styles.default_expand());
        for (const auto& [key, style] : styles.as_map()) {
            if (key.find(':') != std::string::npos) {
                return invalid("invalid_argument",
                               "a text style is configured by the part of its keys before a ':'");
            }
            config.set(key, TRY(expand_from(style)));
        }
    }
    if (request.has("default_text_style")) {
        const Value style = TRY(request.value("default_text_style"));
        config.set_default(TRY(expand_from(style)));
    }
    doc.settings().text_styles = std::move(config);
    return {};
}

}  // namespace quire::cli
