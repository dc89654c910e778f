// Data for training: datasets, loaders of batches, and MNIST files.
#pragma once
#include <sinter/data/data_loader.hpp>
#include <sinter/data/dataset.hpp>
#include <sinter/data/idx.hpp>
