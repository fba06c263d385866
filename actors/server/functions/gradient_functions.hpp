#pragma once
// Entries of the gradient updaters; what they compute is said in builtin_functions.hpp.

#include "actors/server/functions/function_registry.hpp"

namespace troupe {

function_entry sgd_entry();
function_entry momentum_entry();
function_entry nesterov_entry();
function_entry adagrad_entry();
function_entry rmsprop_entry();
function_entry adam_entry();
function_entry ftrl_entry();
function_entry block_proximal_entry();

}  // namespace troupe
