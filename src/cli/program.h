// The command line: reads it, and runs the command it names.
#pragma once

#include <string_view>

namespace quire::cli {

// `commit`: the commit from which the program was built. Returns the exit code. Results go to
// standard output, everything else to standard error. To be called once, from main().
int run(int argc, char** argv, std::string_view version, std::string_view commit);

}  // namespace quire::cli
