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


def residual(m, matrix_x, matrix_y, gain):
    return matrix_x + gain * (matrix_y / (1 + m.exp(-matrix_y)))


def axpy(m, x, y):
    return 1.5 * x + y


ROWS = {  # the cases of bench/rows, for which libraries have their own functions
    "softmax": lambda m, matrix_x: m.softmax(matrix_x),
    "log_softmax": lambda m, matrix_x: m.log_softmax(matrix_x),
    "layer_norm": lambda m, matrix_x, gain, shift: m.layer_norm(matrix_x, gain, shift),
    "rms_norm": lambda m, matrix_x, gain: m.rms_norm(matrix_x, gain),
    "cross_entropy": lambda m, matrix_x, classes: m.cross_entropy(matrix_x, classes),
    "sum_all": lambda m, matrix_x: m.sum(matrix_x, None),
    "sum_rows": lambda m, matrix_x: m.sum(matrix_x, 1),
    "sum_columns": lambda m, matrix_x: m.sum(matrix_x, 0),
    "logsumexp": lambda m, matrix_x: m.logsumexp(matrix_x),
    "argmax": lambda m, matrix_x: m.argmax(matrix_x),
    "cumsum": lambda m, matrix_x: m.cumsum(matrix_x),
    "sort": lambda m, matrix_x: m.sort(matrix_x),
    "dropout": lambda m, matrix_x: m.dropout(matrix_x),
    "embedding": lambda m, matrix_x, places: m.embedding(matrix_x, places),
}

FORMULAS = {
    **{f"chain_{operations}": chain(operations) for operations in (1, 2, 5, 10, 20, 40)},
    "example": lambda m, x, y: m.exp(x + 2) * y,
    "axpy": axpy,
    "gelu": gelu,
    "swish": lambda m, x: x / (1 + m.exp(-x)),
    "distance": distance,
    "black_scholes": black_scholes,
    "transposed": lambda m, tall, matrix_y: m.transpose(tall) + matrix_y,
    "every_second": lambda m, wide, y: m.every_second(wide) * y,
    "add_row": lambda m, matrix_x, row: matrix_x + row,
    "outer": lambda m, column, row: column * row,
    "normalise": normalise,
    "residual": residual,
    "axpy_half": axpy,
    "gelu_half": gelu,
    "residual_half": residual,
    "transposed_half": lambda m, tall, matrix_y: m.transpose(tall) + matrix_y,
    "axpy_bfloat16": axpy,
    "gelu_bfloat16": gelu,
    "residual_bfloat16": residual,
    "every_second_bfloat16": lambda m, wide, y: m.every_second(wide) * y,
    "image": lambda m, pixels: (m.to_float32(pixels) * (1 / 255) - 0.45) * (1 / 0.225),
}


def dtype(expression):
    """The dtype of the result and of all operands except pixels, which are bytes."""
    name = expression.rpartition("_")[2]
    return {"half": "float16", "bfloat16": "bfloat16"}.get(name, "float32")


def formula_of(expression):
    return ROWS.get(expression.removesuffix("_bfloat16")) or FORMULAS[expression]


def operands(expression):
    """The names of an expression's operands."""
    return list(inspect.signature(formula_of(expression)).parameters)[1:]


def function(expression, library):
    """A function of only the operands, with its own code: torch.compile caches by a function's code."""
    names = ", ".join(operands(expression))
    space = {"formula": formula_of(expression), "library": library}
    exec(f"def {expression}({names}):\n    return formula(library, {names})\n", space)
    return space[expression]
