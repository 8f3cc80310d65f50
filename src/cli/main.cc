#include "cli/program.h"
#include "cli/version.h"

int main(int argc, char** argv) {
    return quire::cli::run(argc, argv, quire::cli::version(), quire::cli::built_from());
}
