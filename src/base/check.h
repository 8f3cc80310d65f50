// CHECK: stops the process when one of our own promises is broken. Input from outside must never
// reach a failing CHECK; it fails with a Result (base/result.h).
//
// It stays on in every build. A document that goes on after a broken promise could store wrong
// data; a process that stops loses nothing, because what was acknowledged is durable.
#pragma once

namespace quire {

// Prints "FILE:LINE: CHECK failed: WHAT" on stderr and aborts. `what` is the text of the condition.
[[noreturn]] void check_failed(const char* file, int line, const char* what);

}  // namespace quire

// Evaluates `condition` once, in every build.
#define CHECK(condition)                                           \
    do {                                                           \
        if (!(condition)) [[unlikely]]                             \
            ::quire::check_failed(__FILE__, __LINE__, #condition); \
    } while (false)

// For checks whose cost grows with the data: on where NDEBUG is off. Its condition is not evaluated
// otherwise, so it must have no effects.
#ifdef NDEBUG
#define DCHECK(condition) static_cast<void>(0)
#else
#define DCHECK(condition) CHECK(condition)
#endif
