// The engine on a pipe as a program of its own: QUIRE=build/tests/engine_alone runs the node tests
// that drive `quire engine` without building the rest of `quire`.
#include <unistd.h>

#include "cli/driver/pipe.h"

int main() {
    return quire::cli::run_engine(STDIN_FILENO, STDOUT_FILENO);
}
