// Optimizers: they move parameters along the gradients of a loss.
//
//     sn::optim::AdamW optimizer(net.parameters(), {.lr = 1e-3});
//     for (const auto& [x, y] : batches) {
//       auto loss = optimizer.step(sn::cross_entropy(net(x), y));  // a 0-d tensor
//     }
//
// A step evaluates the loss and the gradients together, and updates all parameters of one dtype and device by one
// kernel.
#pragma once
#if __cplusplus < 202002L
#error "Sinter needs C++20: compile with -std=c++20"
#else
#include <sinter/optim/adam.hpp>
#include <sinter/optim/ema.hpp>
#include <sinter/optim/rmsprop.hpp>
#include <sinter/optim/schedule.hpp>
#include <sinter/optim/sgd.hpp>
#endif
