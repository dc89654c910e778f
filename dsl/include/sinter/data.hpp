// Data for training: datasets, loaders of batches, and MNIST files.
#pragma once
#if __cplusplus < 202002L
#error "Sinter needs C++20: compile with -std=c++20"
#else
#include <sinter/data/data_loader.hpp>
#include <sinter/data/dataset.hpp>
#include <sinter/data/idx.hpp>
#endif
