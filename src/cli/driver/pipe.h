// `quire engine`: the document engine on a pipe and nothing else, for tests, fuzzers and benchmarks
// in any language. One JSON request a line, one reply a line, in order.
#pragma once

namespace quire::cli {

// Serves requests from `in` until its end, then returns 0; 1 when replies cannot be written.
// Replies are written when no further request is waiting. A line may hold 256 MiB. Requests that
// arrive together get their replies in one write, but at most 1 MiB and one reply are held back. A
// longer line is dropped and gets the error "too_large"; the session goes on. SIGPIPE must be
// ignored, or a reader that is gone ends the process.
int run_engine(int in, int out);

}  // namespace quire::cli
