// Reads compile commands and a compiler's output from any bytes. Commands that are read can be run,
// and findings that are read can be kept in a block; what cannot be read is refused or passed over.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/utf8.h"
#include "diagnostics/compile_commands.h"
#include "diagnostics/findings.h"

using namespace quire;
using namespace quire::diagnostics;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const auto units = parse_compile_commands(text, "/w")) {
        for (const CompileUnit& unit : *units) {
            CHECK(unit.file.starts_with('/') && unit.directory.starts_with('/'));
            CHECK(!check_command(unit, "", "/d").front().empty());
            CHECK(!include_directories(unit).empty());
        }
    }
    const std::vector<Finding> found = parse_findings(text, {"/w", "/w/build", "/w/a.cc"});
    CHECK(found.size() <= kMostOfOneRun);
    for (const Finding& each : found) {
        CHECK(!each.path.empty() && utf8::is_valid(each.path) && utf8::is_valid(each.check));
        CHECK(utf8::is_valid(each.message) && each.notes.size() <= kMostNotes);
    }
    static_cast<void>(parse_depfile(text));
    return 0;
}
