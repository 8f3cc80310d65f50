// The values that answers about commands are made of: what was predicted, and what the rules say.
#pragma once

#include <string>

#include "base/result.h"
#include "base/value.h"
#include "kernel/commands/background_commands.h"
#include "kernel/commands/command_result.h"

namespace quire::kernel {

// {decision, predicted, violations, escalations, warnings, unpredictable}.
Map forecast_value(const CommandForecast& forecast);
// {stdout, stderr, exit_code, timed_out, decision, predicted, file_changes, violations, escalations,
// unexpected, warnings, tier}.
Map run_value(const CommandRun& run);

// {process_id, block_id, command, started, running}. Once the command has ended, also exit_code and the
// members of run_value() about its changes, or `error` if the gate failed or refused.
Map background_value(const BackgroundState& state);

// The refusal of a command that was not run: denied "permission_denied" {violations}, or invalid where
// it is no command.
Failure refused_forecast(const CommandForecast& forecast);
// Returns true if the command is known to use the network.
bool uses_network(const CommandForecast& forecast);
// The refusal of one that does, before a person has allowed it: escalation_required
// "escalation_required" {escalations}.
Error refused_network(const CommandForecast& forecast);
// The error for a command that a person must allow before it runs, because its tier holds nothing back.
Error refused_tier(const CommandForecast& forecast);
// The refusal of one that ran and was discarded: its own failure, or denied "permission_denied", with
// the members of run_value() that tell what it did.
Failure refused_run(const CommandRun& run);

}  // namespace quire::kernel
