// Everything: tensors, expressions, evaluation, devices, files.
#pragma once
#include <sinter/dsl/constants.hpp>
#include <sinter/dsl/evaluate.hpp>
#include <sinter/dsl/factory.hpp>
#include <sinter/dsl/lazy.hpp>
#include <sinter/dsl/let.hpp>
#include <sinter/dsl/random.hpp>
