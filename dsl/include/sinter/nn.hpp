// Networks: layers, Sequential, user-defined modules. Includes sinter.hpp.
#pragma once
#if __cplusplus < 202002L
#error "Sinter needs C++20: compile with -std=c++20"
#else
#include <sinter/sinter.hpp>

// First, so that an error in a module is reported only two includes away from the user's file.
#include <sinter/nn/members.hpp>

#include <sinter/nn/module.hpp>

#include <sinter/nn/activation.hpp>
#include <sinter/nn/data_parallel.hpp>
#include <sinter/nn/dropout.hpp>
#include <sinter/nn/embedding.hpp>
#include <sinter/nn/flatten.hpp>
#include <sinter/nn/functional.hpp>
#include <sinter/nn/linear.hpp>
#include <sinter/nn/norm.hpp>
#include <sinter/nn/sequential.hpp>
#endif
