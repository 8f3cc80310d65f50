// One table row per keyword: its vocabulary, what its operand holds, and the function that compiles
// it. The scan of documents, the compiler and the check for misspelt keywords all read this table,
// so a keyword is described once. Its order is the order of faults in messages.

#include "json/schema/keywords.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace quire::json::detail {
namespace {

constexpr std::array<Keyword, 57> kKeywords = {{
    {"type", kValidation, Operand::value, compile_type},
    {"const", kValidation, Operand::value, compile_const},
    {"enum", kValidation, Operand::value, compile_enum},
    {"$ref", kCore, Operand::value, compile_ref},
    {"$dynamicRef", kCore, Operand::value, compile_dynamic_ref},
    {"allOf", kApplicator, Operand::schemas, compile_all_of},
    {"anyOf", kApplicator, Operand::schemas, compile_branches},
    {"oneOf", kApplicator, Operand::schemas, compile_branches},
    {"not", kApplicator, Operand::schema, compile_not},
    {"if", kApplicator, Operand::schema, compile_if},
    {"then", kApplicator, Operand::schema, nullptr},  // Read by `if`.
    {"else", kApplicator, Operand::schema, nullptr},
    {"additionalProperties", kApplicator, Operand::schema, compile_additional},
    {"required", kValidation, Operand::value, compile_required},
    {"properties", kApplicator, Operand::named_schemas, compile_properties},
    {"patternProperties", kApplicator, Operand::named_schemas, compile_pattern_properties},
    {"propertyNames", kApplicator, Operand::schema, compile_property_names},
    {"minProperties", kValidation, Operand::value, compile_size},
    {"maxProperties", kValidation, Operand::value, compile_size},
    {"dependentRequired", kValidation, Operand::value, compile_dependent_required},
    {"dependentSchemas", kApplicator, Operand::named_schemas, compile_dependent_schemas},
    {"minItems", kValidation, Operand::value, compile_size},
    {"maxItems", kValidation, Operand::value, compile_size},
    {"prefixItems", kApplicator, Operand::schemas, compile_prefix_items},
    {"items", kApplicator, Operand::schema, compile_items},
    {"contains", kApplicator, Operand::schema, compile_contains},
    {"minContains", kValidation, Operand::value, nullptr},  // Read by `contains`.
    {"maxContains", kValidation, Operand::value, nullptr},
    {"uniqueItems", kValidation, Operand::value, compile_unique_items},
    {"minimum", kValidation, Operand::value, compile_bound},
    {"maximum", kValidation, Operand::value, compile_bound},
    {"exclusiveMinimum", kValidation, Operand::value, compile_bound},
    {"exclusiveMaximum", kValidation, Operand::value, compile_bound},
    {"multipleOf", kValidation, Operand::value, compile_multiple_of},
    {"minLength", kValidation, Operand::value, compile_size},
    {"maxLength", kValidation, Operand::value, compile_size},
    {"pattern", kValidation, Operand::value, compile_pattern},
    {"unevaluatedItems", kUnevaluated, Operand::schema, compile_unevaluated_items},
    {"unevaluatedProperties", kUnevaluated, Operand::schema, compile_unevaluated_properties},
    {"$defs", kCore, Operand::named_schemas, compile_definitions},
    // Handled by Documents.
    {"$schema", kCore, Operand::value, nullptr},
    {"$id", kCore, Operand::value, nullptr},
    {"$anchor", kCore, Operand::value, nullptr},
    {"$dynamicAnchor", kCore, Operand::value, nullptr},
    {"$vocabulary", kCore, Operand::value, nullptr},
    // Annotations check nothing.
    {"$comment", kCore, Operand::value, nullptr},
    {"title", kMetaData, Operand::value, nullptr},
    {"description", kMetaData, Operand::value, nullptr},
    {"default", kMetaData, Operand::value, nullptr},
    {"deprecated", kMetaData, Operand::value, nullptr},
    {"readOnly", kMetaData, Operand::value, nullptr},
    {"writeOnly", kMetaData, Operand::value, nullptr},
    {"examples", kMetaData, Operand::value, nullptr},
    {"format", kFormatAnnotation, Operand::value, nullptr},
    {"contentEncoding", kContent, Operand::value, nullptr},
    {"contentMediaType", kContent, Operand::value, nullptr},
    {"contentSchema", kContent, Operand::schema, nullptr},
}};

// The indices of the keywords in the order of their names.
constexpr auto kByName = [] {
    std::array<std::uint8_t, kKeywords.size()> order{};
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint8_t>(i);
    std::ranges::sort(order, [](std::uint8_t a, std::uint8_t b) {
        return kKeywords[a].name < kKeywords[b].name;
    });
    return order;
}();

}  // namespace

std::span<const Keyword> keywords() {
    return kKeywords;
}

const Keyword* keyword_named(std::string_view name, Vocabularies in_use) {
    const auto at = std::lower_bound(
        kByName.begin(), kByName.end(), name,
        [](std::uint8_t i, std::string_view wanted) { return kKeywords[i].name < wanted; });
    if (at == kByName.end() || kKeywords[*at].name != name) return nullptr;
    return (kKeywords[*at].vocabulary & in_use) != 0 ? &kKeywords[*at] : nullptr;
}

// Floats without fraction count, as the standard has it: 2.0 is an integer.
std::optional<std::int64_t> count_operand(const Value& operand) {
    if (!operand.is_number() || (types_of(operand) & kInteger) == 0) return std::nullopt;
    if (operand.as_number() < 0) return std::nullopt;
    if (operand.is_int()) return operand.as_int();
    constexpr double kBeyond = 9223372036854775808.0;  // 2^63
    return operand.as_float() < kBeyond ? static_cast<std::int64_t>(operand.as_float()) : INT64_MAX;
}

Value as_list(const std::vector<std::string>& names) {
    List list;
    for (const std::string& name : names) list.emplace_back(name);
    return list;
}

// Definitions are compiled where something refers to them. A strict schema compiles all, so that a
// mistake in one that is not used is found as well.
Result<void> compile_definitions(const Site& site) {
    if (!site.operand.is_map()) return site.wrong("must be an object of schemas");
    if (!site.strict()) return {};
    for (const Map::Entry& entry : site.operand.as_map()) {
        TRY(site.child(entry.value, Site::For::inside, entry.key));
    }
    return {};
}

}  // namespace quire::json::detail
