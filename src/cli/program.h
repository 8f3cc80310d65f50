// The command line: reads it, and runs the command it names.
#pragma once

#include <string_view>

namespace quire::cli {

// `commit`: what the program was built from. Returns the exit code. Standard output carries what
// was asked for, standard error all else.
int run(int argc, char** argv, std::string_view version, std::string_view commit);

}  // namespace quire::cli
