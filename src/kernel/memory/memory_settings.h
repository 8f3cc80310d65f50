// MemorySettings: what [memory] of quire.toml says.
#pragma once

#include <vector>

#include "memory/render_style.h"
#include "memory/templates.h"
#include "sched/guarded.h"

namespace quire::kernel {

struct MemorySettings {
    memory::RenderStyle style = memory::RenderStyle::tags;
    std::vector<memory::Template> templates = {};  // Beside the built-in ones.
};

// The settings that hold now. Calls read them from any strand.
class HeldMemorySettings : public sched::Guarded<MemorySettings> {};

}  // namespace quire::kernel
