// The first process of a stage: it confines itself or the command, starts it, passes signals on, ends what
// the command has left, and reports how it ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

#include "stage/confinement.h"

namespace quire::stage {

// All that the first process needs, made before it is cloned.
struct Beginning {
    Confinement& confinement;
    std::vector<char*> arguments;
    std::vector<char*> environment;
    const char* directory;  // The command's; null where the confinement goes there.
    int input;
    int output;
    int errors;
    std::size_t own_words;  // size_of_arguments()
    int report;             // Reports go there; closed by the program's start.
    int finish;             // The command's exit code goes there when all processes have ended.
    // The file_time_ns() of the request. Files that were changed before it have this stamp or an older one.
    std::int64_t asked_ns;
    // The stack on which the command begins.
    char* stack;
    std::size_t stack_size;
};

// A report that the command begins, or why it does not.
struct Report {
    Refusal refusal = {};
    std::int64_t began_ns = 0;
};

// The step of a Refusal in which the program was to be started; the steps before are the confinement's.
inline constexpr std::int32_t kProgramStep = 14;

// The bytes of the words with which this program was started, as the system shows them to others: they lie
// behind its name, one after another. 0 where they do not.
std::size_t size_of_arguments();
// The time with which a file that is made now is stamped. That clock stands still for some milliseconds
// at a time.
std::int64_t file_time_ns();
// Starts the process. -1 with errno.
// `begin` is used by the copy alone, so it may go when this returns. The caller waits for the
// process.
pid_t clone_first(const Beginning& begin);

}  // namespace quire::stage
