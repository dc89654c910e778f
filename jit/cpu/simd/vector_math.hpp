// The functions that the table of operations calls, on vectors: one definition each.
#pragma once
#include "vector.hpp"
#include "vector_basic.hpp"
#include "vector_float.hpp"
#include "vector_integer.hpp"
#include "vector_sleef.hpp"
