"""The ATen operations that become Sinter's: for each overload a function of Sinter's operands and other arguments."""

import functools
import operator

import torch

import sinter_jit as sn

aten = torch.ops.aten

DTYPES = {
    getattr(torch, name): getattr(sn, name)
    for name in (
        "bool",
        "uint8",
        "int8",
        "int16",
        "int32",
        "int64",
        "float16",
        "bfloat16",
        "float32",
        "float64",
        "complex64",
        "complex128",
    )
}

# Elementwise functions of the same name, meaning and parameters.
SAME = """
abs neg sign sgn square reciprocal sqrt rsqrt exp exp2 expm1 log log2 log10 log1p logaddexp logaddexp2 xlogy sin cos tan
asin acos atan atan2 sinh cosh tanh asinh acosh atanh hypot sinc lgamma digamma erfinv erf erfc sigmoid silu relu
leaky_relu hardtanh floor ceil trunc frac maximum minimum fmax fmin clamp copysign nextafter
nan_to_num mul remainder fmod pow floor_divide eq ne lt le gt ge isnan isinf isfinite isposinf isneginf signbit where
logical_and logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_xor bitwise_not bitwise_left_shift
bitwise_right_shift conj angle gcd lcm addcmul addcdiv lerp heaviside mish softplus logit threshold
""".split()
RENAMED = {
    "special_i0": sn.i0,
    "clamp_min": sn.maximum,
    "clamp_max": sn.minimum,
    "_conj": sn.conj,
    "_conj_physical": sn.conj,
    "conj_physical": sn.conj,
}

# Overloads of elementwise functions that take tensors and numbers in places where Sinter does too.
OVERLOADS = (
    "default",
    "self",
    "Tensor",
    "Scalar",
    "Tensor_Tensor",
    "Tensor_Scalar",
    "Scalar_Tensor",
    "Scalar_Self",
    "Scalar_Other",
    "self_tensor",
)


def add(a, b, alpha=1):
    return a + b if alpha == 1 else a + b * alpha


def sub(a, b, alpha=1):
    return a - b if alpha == 1 else a - b * alpha


def rsub(a, b, alpha=1):
    return sub(b, a, alpha)


def div(a, b, rounding_mode=None):
    functions = {None: sn.div, "floor": sn.floor_divide, "trunc": sn.trunc_divide}
    return functions[rounding_mode](a, b)


def gelu(x, approximate="none"):
    return sn.gelu_tanh(x) if approximate == "tanh" else sn.gelu(x)


def elu(x, alpha=1, scale=1, input_scale=1):
    return sn.where(x > 0, x * scale, (x * input_scale).expm1() * (alpha * scale))


def cast(x, dtype=None, **_):
    return x if dtype is None else x.to(DTYPES[dtype])


def same(x, **_):
    return x


# Reductions. An empty list of axes means all of them.


def axes_of(axes):
    return (tuple(axes) or None) if isinstance(axes, (list, tuple)) else axes


def reduction(function):
    def reduced(x, dim=None, keepdim=False, *, dtype=None):
        return function(cast(x, dtype), axes_of(dim), keepdim)

    return reduced


def variance(x, dim=None, *, correction=1, keepdim=False):
    return x.var(axes_of(dim), 1 if correction is None else correction, keepdim)


def deviation(x, dim=None, *, correction=1, keepdim=False):
    return x.std(axes_of(dim), 1 if correction is None else correction, keepdim)


def variance_and_mean(x, dim=None, *, correction=1, keepdim=False):
    return variance(x, dim, correction=correction, keepdim=keepdim), x.mean(axes_of(dim), keepdim)


def largest(x, dim, keepdim=False):
    return x.amax(dim, keepdim), x.argmax(dim, keepdim)


def smallest(x, dim, keepdim=False):
    return x.amin(dim, keepdim), x.argmin(dim, keepdim)


def softmax(x, dim, half_to_float):
    return (x.to(sn.float32) if half_to_float else x).softmax(dim)


def log_softmax(x, dim, half_to_float):
    return (x.to(sn.float32) if half_to_float else x).log_softmax(dim)


def norm(x, ord=2, dim=None, keepdim=False, *, dtype=None):
    return cast(x, dtype).norm(ord, axes_of(dim), keepdim)


def layer_norm(x, shape, weight, bias, eps):
    """With the mean and the reciprocal deviation, which cost nothing where they are not used."""
    axes = tuple(range(-len(shape), 0))
    return (x.layer_norm(shape, weight, bias, eps), x.mean(axes, True), (x.var(axes, 0, True) + eps).rsqrt())


def group_norm(x, weight, bias, batch, channels, size, groups, eps):
    parts = x.reshape(batch, groups, channels // groups, size)
    made = (parts - parts.mean((2, 3), True)) * (parts.var((2, 3), 0, True) + eps).rsqrt()
    if weight is not None:
        made = made * weight.reshape(groups, channels // groups, 1)
    if bias is not None:
        made = made + bias.reshape(groups, channels // groups, 1)
    return made.reshape(x.shape), parts.mean((2, 3)), (parts.var((2, 3), 0) + eps).rsqrt()


def batch_norm(x, weight, bias, mean, variance, momentum, eps):
    """Of inference."""

    def along_channels(parameter):
        return parameter.reshape(-1, *[1] * (x.ndim - 2))

    scale = (variance + eps).rsqrt()
    normal = (x - along_channels(mean)) * along_channels(scale if weight is None else scale * weight)
    empty = mean[:0]
    return normal if bias is None else normal + along_channels(bias), empty, empty


# Products of matrices.


def addmm(x, a, b, *, beta=1, alpha=1):
    made = sn.matmul(a, b)
    return scaled(x, beta) + scaled(made, alpha)


def scaled(x, factor):
    return x if factor == 1 else x * factor


# Views.


def reshape(x, shape):
    return x.reshape(shape)


def expand(x, shape, implicit=False):
    return x.expand(shape)


def part(x, dim=0, start=None, end=None, step=1):
    return x[(slice(None),) * (dim % x.ndim) + (slice(start, end, step),)]


def split(x, sizes, dim=0):
    extent, starts = x.shape[dim], 0
    if not isinstance(sizes, (list, tuple)):
        sizes = [min(sizes, extent - start) for start in range(0, extent, sizes)] if extent else [0]
    parts = []
    for size in sizes:
        parts.append(x.narrow(dim, starts, size))
        starts += size
    return parts


def unbind(x, dim=0):
    return [x.select(dim, i) for i in range(x.shape[dim])]


def squeeze(x, dims=None):
    if dims is None:
        return x.squeeze()
    dims = [dims] if isinstance(dims, int) else dims
    for dim in sorted((d % x.ndim for d in dims if x.ndim), reverse=True):
        x = x.squeeze(dim)
    return x


def permute(x, dims):
    return x.permute(dims) if dims else x


def flip(x, dims):
    return x.flip(dims) if dims else x


def transpose(x, dim0, dim1):
    return x.transpose(dim0, dim1) if x.ndim else x


def matrix_transpose(x):
    return x.t() if x.ndim == 2 else x


def diagonal(x, offset=0, dim1=0, dim2=1):
    return x.diagonal(offset, dim1, dim2)


# Elements at positions.


def embedding(weight, index, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    return sn.embedding(weight, index)


def gather(x, dim, index, sparse_grad=False):
    return sn.gather(x, dim, index)


def index(x, indices):
    """One tensor of positions among None: see is_one_index."""
    axis = next(i for i, positions in enumerate(indices) if positions is not None)
    at, shape = indices[axis], x.shape
    taken = sn.index_select(x, axis, at if at.ndim == 1 else at.reshape(-1))
    return taken if at.ndim == 1 else taken.reshape(*shape[:axis], *at.shape, *shape[axis + 1 :])


# Constants.


@functools.lru_cache(maxsize=1024)
def constant(value, kind, dtype, device):
    """`kind`, the value's type, tells True from 1 and 1.0."""
    return sn.tensor(kind(value), dtype, device)


def full(shape, value, *, dtype=None, device=None, **_):
    if dtype is None:
        kinds = {bool: torch.bool, int: torch.int64, float: torch.get_default_dtype()}
        dtype = kinds[type(value)]
    return constant(value, type(value), DTYPES[dtype], str(device or "cpu")).expand(shape)


def scalar_tensor(value, *, dtype=None, device=None, **_):
    return full((), value, dtype=dtype or torch.float32, device=device)


def full_like(x, value, *, dtype=None, **_):
    return constant(value, type(value), x.dtype if dtype is None else DTYPES[dtype], str(x.device)).expand(x.shape)


VIEWS = {
    aten.alias.default: same,
    aten.detach.default: same,
    aten.diagonal.default: diagonal,
    aten.expand.default: expand,
    aten.flip.default: flip,
    aten.permute.default: permute,
    aten.reshape.default: reshape,
    aten.select.int: sn.select,
    aten.slice.Tensor: part,
    aten.split.Tensor: split,
    aten.split_with_sizes.default: split,
    aten.squeeze.default: squeeze,
    aten.squeeze.dim: squeeze,
    aten.squeeze.dims: squeeze,
    aten.t.default: matrix_transpose,
    aten.transpose.int: transpose,
    aten.unbind.int: unbind,
    aten.unsqueeze.default: sn.unsqueeze,
    aten._unsafe_view.default: reshape,
    aten.view.default: reshape,
    operator.getitem: operator.getitem,
}

PRODUCTS = {
    aten.addmm.default: addmm,
    aten.addmv.default: addmm,
    aten.baddbmm.default: addmm,
    aten.bmm.default: sn.matmul,
    aten.dot.default: sn.matmul,
    aten.mm.default: sn.matmul,
    aten.mv.default: sn.matmul,
}

OF_REAL_NUMBERS = (
    aten.prod.default,
    aten.prod.dim_int,
    aten.var.correction,
    aten.std.correction,
    aten.var_mean.correction,
    aten.logsumexp.default,
    aten.logaddexp.default,
    aten.nan_to_num.default,
    aten.linalg_vector_norm.default,
)

CONSTANTS = {aten.full.default: full, aten.full_like.default: full_like, aten.scalar_tensor.default: scalar_tensor}

OTHERS = {
    aten.add.Scalar: add,
    aten.add.Tensor: add,
    aten.sub.Scalar: sub,
    aten.sub.Tensor: sub,
    aten.rsub.Scalar: rsub,
    aten.rsub.Tensor: rsub,
    aten.div.Scalar: div,
    aten.div.Tensor: div,
    aten.div.Scalar_mode: div,
    aten.div.Tensor_mode: div,
    aten.elu.default: elu,
    aten.gelu.default: gelu,
    aten.round.default: sn.round,
    aten.clone.default: same,
    aten._to_copy.default: cast,
    torch.ops.prims.convert_element_type.default: cast,
    aten.sum.default: reduction(sn.sum),
    aten.sum.dim_IntList: reduction(sn.sum),
    aten.mean.default: reduction(sn.mean),
    aten.mean.dim: reduction(sn.mean),
    aten.prod.default: reduction(sn.prod),
    aten.prod.dim_int: reduction(sn.prod),
    aten.amax.default: reduction(sn.amax),
    aten.amin.default: reduction(sn.amin),
    aten.max.default: reduction(sn.amax),
    aten.min.default: reduction(sn.amin),
    aten.max.dim: largest,
    aten.min.dim: smallest,
    aten.argmax.default: reduction(sn.argmax),
    aten.argmin.default: reduction(sn.argmin),
    aten.any.default: reduction(sn.any),
    aten.any.dim: reduction(sn.any),
    aten.any.dims: reduction(sn.any),
    aten.all.default: reduction(sn.all),
    aten.all.dim: reduction(sn.all),
    aten.all.dims: reduction(sn.all),
    aten.logsumexp.default: reduction(sn.logsumexp),
    aten.var.correction: variance,
    aten.std.correction: deviation,
    aten.var_mean.correction: variance_and_mean,
    aten.linalg_vector_norm.default: norm,
    aten._softmax.default: softmax,
    aten._log_softmax.default: log_softmax,
    aten.native_layer_norm.default: layer_norm,
    aten.native_group_norm.default: group_norm,
    aten._native_batch_norm_legit_no_training.default: batch_norm,
    aten.embedding.default: embedding,
    aten.gather.default: gather,
    aten.index.Tensor: index,
    aten.index_select.default: sn.index_select,
}


def elementwise():
    for name in SAME + list(RENAMED):
        packet = getattr(aten, name)
        for overload in packet.overloads():
            if overload in OVERLOADS:
                yield getattr(packet, overload), RENAMED.get(name) or getattr(sn, name)


FUNCTIONS = {**dict(elementwise()), **OTHERS, **PRODUCTS, **CONSTANTS, **VIEWS}
