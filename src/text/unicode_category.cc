// ECMA's \p{…} takes long and short names, RE2's only short ones. The table has the long names with
// the short one that RE2 takes; some names have two long forms.
#include "text/unicode_category.h"

#include <array>

namespace quire::text {
namespace {

struct Category {
    std::string_view name;
    std::string_view short_name;
};
// The long names of the general categories. Other and Unassigned are missing: RE2 does not know
// which code points are unassigned.
constexpr std::array<Category, 39> kCategories = {{{"Letter", "L"},
                                                   {"Uppercase_Letter", "Lu"},
                                                   {"Lowercase_Letter", "Ll"},
                                                   {"Titlecase_Letter", "Lt"},
                                                   {"Modifier_Letter", "Lm"},
                                                   {"Other_Letter", "Lo"},
                                                   {"Mark", "M"},
                                                   {"Combining_Mark", "M"},
                                                   {"Nonspacing_Mark", "Mn"},
                                                   {"Spacing_Mark", "Mc"},
                                                   {"Enclosing_Mark", "Me"},
                                                   {"Number", "N"},
                                                   {"Decimal_Number", "Nd"},
                                                   {"digit", "Nd"},
                                                   {"Letter_Number", "Nl"},
                                                   {"Other_Number", "No"},
                                                   {"Punctuation", "P"},
                                                   {"punct", "P"},
                                                   {"Connector_Punctuation", "Pc"},
                                                   {"Dash_Punctuation", "Pd"},
                                                   {"Open_Punctuation", "Ps"},
                                                   {"Close_Punctuation", "Pe"},
                                                   {"Initial_Punctuation", "Pi"},
                                                   {"Final_Punctuation", "Pf"},
                                                   {"Other_Punctuation", "Po"},
                                                   {"Symbol", "S"},
                                                   {"Math_Symbol", "Sm"},
                                                   {"Currency_Symbol", "Sc"},
                                                   {"Modifier_Symbol", "Sk"},
                                                   {"Other_Symbol", "So"},
                                                   {"Separator", "Z"},
                                                   {"Space_Separator", "Zs"},
                                                   {"Line_Separator", "Zl"},
                                                   {"Paragraph_Separator", "Zp"},
                                                   {"Control", "Cc"},
                                                   {"cntrl", "Cc"},
                                                   {"Format", "Cf"},
                                                   {"Private_Use", "Co"},
                                                   {"Surrogate", "Cs"}}};

}  // namespace

std::optional<std::string_view> unicode_category(std::string_view name) {
    for (const Category& known : kCategories) {
        if (known.name == name || known.short_name == name) return known.short_name;
    }
    return std::nullopt;
}

}  // namespace quire::text
