"""The expressions of bench/expressions/formulas.hpp, for array libraries: `m` is the library, the rest are operands."""

import inspect

RATE, VOLATILITY, EPSILON = 0.02, 0.3, 1e-5
DRIFT = RATE + 0.5 * VOLATILITY * VOLATILITY
SQRT_HALF, SQRT_2_OVER_PI = 0.70710678, 0.7978845608


def chain(operations):
    def evaluate(m, x, y):
        value = x
        for step in range(1, operations + 1):
            value = m.tanh(value) if step % 5 == 0 else value * x if step % 2 == 0 else value + y
        return value

    return evaluate


def gelu(m, x):
    return 0.5 * x * (1 + m.tanh(SQRT_2_OVER_PI * (x + 0.044715 * x * x * x)))


def distance(m, x, y, spot, strike):
    across, along = x - spot, y - strike
    return m.sqrt(across * across + along * along)


def cdf(m, d):
    return 0.5 * (1 + m.erf(d * SQRT_HALF))


def black_scholes(m, spot, strike, time):
    spread = VOLATILITY * m.sqrt(time)
    d1 = (m.log(spot / strike) + DRIFT * time) / spread
    return spot * cdf(m, d1) - strike * m.exp(-RATE * time) * cdf(m, d1 - spread)


def normalise(m, matrix_x, mean, variance, gain, shift):
    return (matrix_x - mean) * (1 / m.sqrt(variance + EPSILON)) * gain + shift


FORMULAS = {
    **{f"chain_{operations}": chain(operations) for operations in (1, 2, 5, 10, 20, 40)},
    "example": lambda m, x, y: m.exp(x + 2) * y,
    "axpy": lambda m, x, y: 1.5 * x + y,
    "gelu": gelu,
    "swish": lambda m, x: x / (1 + m.exp(-x)),
    "distance": distance,
    "black_scholes": black_scholes,
    "transposed": lambda m, tall, matrix_y: m.transpose(tall) + matrix_y,
    "every_second": lambda m, wide, y: m.every_second(wide) * y,
    "add_row": lambda m, matrix_x, row: matrix_x + row,
    "outer": lambda m, column, row: column * row,
    "normalise": normalise,
}


def operands(expression):
    """The names of what an expression reads."""
    return list(inspect.signature(FORMULAS[expression]).parameters)[1:]


def function(expression, library):
    """A function of the operands alone, with code of its own: torch.compile keeps its work by a function's code."""
    names = ", ".join(operands(expression))
    space = {"formula": FORMULAS[expression], "library": library}
    exec(f"def {expression}({names}):\n    return formula(library, {names})\n", space)
    return space[expression]
