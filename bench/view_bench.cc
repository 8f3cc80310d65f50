// Five lines of a block, as a call reads them: what they cost must not grow with the block.
#include <string>

#include <benchmark/benchmark.h>

#include "base/check.h"
#include "edits/view.h"
#include "seq/rope.h"

namespace {

using namespace quire;  // NOLINT: a benchmark reads better without the project's name.

std::string lines_of(std::size_t bytes, std::string_view terminator) {
    std::string text;
    for (int i = 0; text.size() < bytes; ++i) {
        text += "line " + std::to_string(i) + " of a text that goes on and on";
        text += terminator;
    }
    return text;
}

// Every read comes after an edit somewhere, and says which line ends the block has.
void read_five_lines(benchmark::State& state, std::string_view terminator) {
    seq::Rope rope(lines_of(static_cast<std::size_t>(state.range(0)), terminator));
    const std::size_t lines = rope.lines().n;
    static_cast<void>(edits::eol_name(rope));
    std::size_t at = 0;
    for (auto _ : state) {
        at = (at + 7919) % (lines - 5);
        rope.insert({rope.to_code_point(rope.line_start({at}))}, "x");
        const auto view = edits::view(rope, text::LineRange{{at}, {at + 5}}, {});
        CHECK(view.has_value() && view->lines.size() == 5);
        benchmark::DoNotOptimize(edits::eol_name(rope).data());
    }
}

void register_all() {
    for (const auto& [name, terminator] : {std::pair{"lf", "\n"}, {"crlf", "\r\n"}}) {
        benchmark::RegisterBenchmark(
            (std::string("ReadFiveLines/") + name).c_str(),
            [terminator = std::string_view(terminator)](benchmark::State& state) {
                read_five_lines(state, terminator);
            })
            ->Arg(100'000)
            ->Arg(10'000'000)
            ->Unit(benchmark::kMicrosecond);
    }
}

[[maybe_unused]] const bool kRegistered = (register_all(), true);

}  // namespace
