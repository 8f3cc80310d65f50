// Words for faults. A fault is made where the value is, without knowing the way to it; each object
// and array around it adds its step on the way out, in_member() or in_item(), so a reading that
// succeeds builds no path.

#include "json/fault.h"

#include <utility>

#include "base/concat.h"
#include "base/utf8.h"

namespace quire::json {
namespace {

// A pair of rules for one measure of a value.
struct Bounds {
    std::string_view least;
    std::string_view most;
    std::string_view unit;
};

std::string with_article(std::string_view kind) {
    if (kind == "null") return "null";
    const bool vowel = kind.starts_with('a') || kind.starts_with('i') || kind.starts_with('o');
    return cat(vowel ? "an " : "a ", kind);
}

// Bounds are written without a fraction, as sizes and counts are.
std::string number_text(const Value& number) {
    return cat(static_cast<std::int64_t>(number.as_number()));
}

// Both bounds are told when there are two, whichever of them was broken: the sender then needs one
// more attempt and no second.
std::optional<Fault> out_of_bounds(const Map& schema, const Bounds& bounds, double measure) {
    const Value* const least = schema.find(bounds.least);
    const Value* const most = schema.find(bounds.most);
    if ((least == nullptr || measure >= least->as_number()) &&
        (most == nullptr || measure <= most->as_number()))
        return std::nullopt;
    const std::string wanted =
        cat(least == nullptr  ? cat("at most ", number_text(*most))
            : most == nullptr ? cat("at least ", number_text(*least))
                              : cat("from ", number_text(*least), " to ", number_text(*most)),
            bounds.unit);
    return Fault{
        .kind = Fault::Kind::bad_value, .problem = cat("must be ", wanted), .wanted = wanted};
}

}  // namespace

Fault Fault::in_member(std::string_view name) && {
    path = cat(name, path.empty() || path.starts_with('[') ? "" : ".", path);
    return std::move(*this);
}

Fault Fault::in_item(std::size_t index) && {
    path = cat("[", index, "]", path.empty() || path.starts_with('[') ? "" : ".", path);
    return std::move(*this);
}

std::string Fault::message() const {
    return cat(path.empty() ? "the value" : cat("`", path, "`"), " ", problem);
}

Error Fault::error(Errc code, std::string reason) const {
    return Error(code, std::move(reason), message(), {{"path", path}});
}

Fault::operator Error() const {
    return error(Errc::invalid_argument, "invalid_argument");
}

Unread wrong_type(std::string_view wanted, const Value& found) {
    return Unread(
        Fault{.kind = Fault::Kind::wrong_type,
              .problem = cat("must be ", wanted, ", not ", with_article(kind_name(found))),
              .wanted = std::string(wanted)});
}

Unread missing(std::string name, std::string wanted) {
    std::string problem = cat("is missing", wanted.empty() ? "" : cat("; it must be ", wanted));
    return Unread(Fault{.kind = Fault::Kind::missing,
                        .problem = std::move(problem),
                        .wanted = std::move(wanted),
                        .path = std::move(name)});
}

Unread bad_value(std::string problem, std::string wanted) {
    return Unread(Fault{.kind = Fault::Kind::bad_value,
                        .problem = std::move(problem),
                        .wanted = std::move(wanted)});
}

// A value of a type that has no rules here breaks none: its codec judges the type. Characters are
// counted only where a rule asks, since that reads the whole string.
std::optional<Fault> broken_rule(const Map& schema, const Value& value) {
    if (value.is_number())
        return out_of_bounds(schema, {"minimum", "maximum", ""}, value.as_number());
    if (value.is_list()) {
        return out_of_bounds(schema, {"minItems", "maxItems", " items long"},
                             static_cast<double>(value.as_list().size()));
    }
    if (value.is_string() && (schema.contains("minLength") || schema.contains("maxLength"))) {
        return out_of_bounds(schema, {"minLength", "maxLength", " characters long"},
                             static_cast<double>(utf8::count_code_points(value.as_string())));
    }
    return std::nullopt;
}

}  // namespace quire::json
