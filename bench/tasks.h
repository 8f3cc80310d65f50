// Tasks: what the engine and its peers are timed at. engine_tasks runs one of them; bench/node/engine_peers.mjs
// and bench/native have the same tasks under the same names, and all three read the files of bench_blobs.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace quire::bench {

// The blobs of a file, in the order of import. None if it is absent.
std::optional<std::vector<Bytes>> read_blobs(const std::string& name);

// One run: the milliseconds that count, and what it ended in, such as a text.
struct Done {
    double ms = 0;
    std::string end;
};
using Once = std::function<Done()>;

// `prepare` reads what the task works on. It returns an empty function if a file is absent.
struct Task {
    std::string name;
    std::function<Once()> prepare;
};

void add_text_tasks(std::vector<Task>& tasks);      // Traces, merges, crowds, time.
void add_document_tasks(std::vector<Task>& tasks);  // Snapshots, forks, JSON, maps, trees, marks.

// The milliseconds that `work` takes.
double timed(const std::function<void()>& work);

}  // namespace quire::bench
