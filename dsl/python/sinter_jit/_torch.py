"""The backend of torch.compile. PyTorch captures the graph, splits it into forward and backward, and removes what is in
place; here the largest parts that Sinter can compute become one evaluation each."""

import logging
import operator

import torch
from torch._decomp import core_aten_decompositions
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.aot_autograd import make_boxed_func
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase

import sinter_jit as sn

from . import _torch_operations as operations

aten = torch.ops.aten
log = logging.getLogger("sinter_jit.torch_backend")

# A single operation is PyTorch's own: there is nothing to fuse it with.
MIN_OPERATIONS = 2
MAX_AXES = 8

# Operations that stay whole: Sinter has them, or PyTorch's own kernel is better than their parts.
WHOLE = """
addcdiv addcmul baddbmm block_diag channel_shuffle col2im dot elu heaviside im2col index_add index_copy index_fill isin
lerp linspace logaddexp logaddexp2 logit logsumexp logspace mish mv nan_to_num pixel_shuffle pixel_unshuffle
reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d replication_pad2d replication_pad3d roll rot90
_scaled_dot_product_flash_attention_for_cpu sgn silu sinc softplus stack std threshold trace tril triu unfold_copy
upsample_bilinear2d upsample_linear1d upsample_trilinear3d xlogy
""".split()


def decompositions():
    return {
        target: parts
        for target, parts in core_aten_decompositions().items()
        if target.name().partition("::")[2].partition(".")[0] not in WHOLE
    }


# What Sinter computes.


def tensors_of(value):
    if isinstance(value, (list, tuple)):
        return [t for item in value for t in tensors_of(item)]
    return [value] if isinstance(value, torch.Tensor) else []


def fits(tensor):
    return (
        type(tensor) is torch._subclasses.FakeTensor
        and tensor.layout == torch.strided
        and tensor.dtype in operations.DTYPES
        and tensor.ndim <= MAX_AXES
        and tensor.device.type in ("cpu", "cuda")
    )


def is_one_index(node):
    positions = [i for i in node.args[1] if i is not None]
    return len(positions) == 1 and positions[0].meta["val"].dtype not in (torch.bool, torch.uint8)


def is_of_floats(node):
    return node.meta["val"].is_floating_point() or node.meta["val"].is_complex()


def reads_no_complex(node):
    return not any(t.is_complex() for n in node.all_input_nodes for t in tensors_of(n.meta["val"]))


def keeps_imaginary_parts(node):
    return reads_no_complex(node) or node.meta["val"].is_complex()


def reads_no_bools(node):
    return node.args[0].meta["val"].dtype != torch.bool


CONDITIONS = {
    aten.index.Tensor: is_one_index,
    aten._to_copy.default: keeps_imaginary_parts,
    **dict.fromkeys(operations.PRODUCTS, is_of_floats),
    **dict.fromkeys(operations.OF_REAL_NUMBERS, reads_no_complex),
    **dict.fromkeys((aten.max.dim, aten.min.dim), reads_no_bools),
}


class Support(OperatorSupportBase):
    def is_node_supported(self, _, node):
        return is_supported(node)


def is_supported(node):
    if node.op != "call_function" or node.target not in operations.FUNCTIONS:
        return False
    if node.target is operator.getitem and not is_supported(node.args[0]):
        return False
    results = tensors_of(node.meta.get("val"))
    tensors = results + tensors_of([n.meta.get("val") for n in node.all_input_nodes])
    return (
        bool(results)
        and all(fits(t) for t in tensors)
        and len({t.device for t in tensors}) == 1
        and CONDITIONS.get(node.target, bool)(node)
    )


def is_view(node):
    producer = node.args[0] if node.target is operator.getitem else node
    return producer.target in operations.VIEWS


def without_last_views(partition):
    """Views that nothing in the partition reads are PyTorch's: they share the memory of the results."""
    for node in reversed(list(partition.nodes)):
        if is_view(node) and not any(user in partition.nodes for user in node.users):
            partition.remove_node(node)
    return partition


def is_worthwhile(partition):
    free = {operator.getitem, *operations.VIEWS, *operations.CONSTANTS}
    return sum(node.target not in free for node in partition.nodes) >= MIN_OPERATIONS


# A part of the graph as a function of tensors.

VIEW = aten.view.default
IDENTITIES = {aten.alias.default, aten.clone.default, aten.detach.default, aten.expand.default, VIEW}


def remove_identities(graph):
    for node in graph.nodes:
        if node.target in IDENTITIES and shape_of(node) == shape_of(node.args[0]):
            node.replace_all_uses_with(node.args[0])


def merge_batches(graph):
    """view(product(view(x), y)) becomes the product of x itself. This is how linear(x, w, bias) and matmul(x, y) arrive if
    there are more than two axes, and what follows a product is not fused with it across a view."""
    for node in graph.nodes:
        product = node.args[0] if node.target is VIEW else node
        if product is not node and product.target in MERGED and len(product.users) == 1:
            arguments = MERGED[product.target](node, *product.args)
            if arguments:
                node.target, node.args, node.kwargs = product.target, arguments, product.kwargs


def merged_rows(node, *arguments):
    """addmm(bias, view(x), w) as (..., n): of (..., k)."""
    *bias, rows, weight = arguments
    if rows.target is VIEW and all(b.meta["val"].ndim <= 1 for b in bias):
        x = rows.args[0]
        if shape_of(x) == shape_of(node)[:-1] + shape_of(weight)[:1]:
            return (*bias, x, weight)
    return None


def merged_products(node, a, b):
    """bmm(view(x), view(y)) as (..., m, n): of (..., m, k) and (..., k, n)."""
    if a.target is VIEW and b.target is VIEW:
        x, y, (*batch, m, n), k = a.args[0], b.args[0], shape_of(node), shape_of(a)[-1]
        if shape_of(x) == [*batch, m, k] and shape_of(y) == [*batch, k, n]:
            return x, y
    return None


MERGED = {aten.addmm.default: merged_rows, aten.mm.default: merged_rows, aten.bmm.default: merged_products}


def shape_of(node):
    return [str(extent) for extent in node.meta["val"].shape]  # symbolic ones too, without a guard


def order_in_memory(tensor):
    """The axes of a dense result from the outermost in memory to the innermost; None in row-major order."""
    if tensor.is_contiguous():
        return None
    order = sorted(range(tensor.ndim), key=lambda axis: -int(tensor.stride(axis)))
    return order if tensor.permute(order).is_contiguous() else None


def in_memory_order(graph):
    """Permutes the results to the order in which PyTorch has them in memory, and returns how to permute them back."""
    last = graph.output_node()
    results, is_single = last.args[0], not isinstance(last.args[0], tuple)
    back, ordered = [], []
    for result in (results,) if is_single else results:
        order = order_in_memory(result.meta["val"])
        back.append(order and [order.index(axis) for axis in range(len(order))])
        with graph.inserting_before(last):
            ordered.append(graph.call_function(operations.permute, (result, order)) if order else result)
    last.args = (ordered,)
    return back, is_single


class Check(torch.fx.Interpreter):
    """The first run: finds operations whose result has another dtype than PyTorch's, such as those of 0-d tensors."""

    def run_node(self, n):
        value = super().run_node(n)
        kind = getattr(n.meta.get("val"), "dtype", None)
        if (
            isinstance(value, sn.Operand)
            and kind
            and n.op == "call_function"
            and value.dtype != operations.DTYPES[kind]
        ):
            value = value.to(operations.DTYPES[kind])
            with n.graph.inserting_after(n):
                made = n.graph.call_function(operations.cast, (n, kind))
            n.replace_all_uses_with(made, delete_user_cb=lambda user: user is not made)
            self.env[made] = value
        return value


def from_cpu(tensor):
    return sn.from_dlpack(torch.utils.dlpack.to_dlpack(tensor))  # without what __dlpack__ checks in Python


def from_elsewhere(tensor):
    """On a GPU the protocol orders the streams; a conjugate or a negative that PyTorch has put off is computed."""
    return sn.from_dlpack(tensor.detach().resolve_conj().resolve_neg())


def importer(placeholder):
    """The function that makes a Sinter operand over the memory of an argument; numbers are themselves."""
    tensor = placeholder.meta["val"]
    if not isinstance(tensor, torch.Tensor):
        return operations.same
    return from_cpu if tensor.device.type == "cpu" and not tensor.is_conj() and not tensor.is_neg() else from_elsewhere


def exported(value, axes):
    made = torch.from_dlpack(value)
    return made.permute(axes) if axes else made


class Evaluation:
    """A part of the graph as a function of tensors, which one evaluation computes."""

    def __init__(self, module, name):
        self.__name__ = self.__qualname__ = name  # the graph's code calls it by name
        self.original = module
        self.lowered = torch.fx.GraphModule({}, torch.fx.Graph())
        graph = self.lowered.graph
        graph.output(graph.graph_copy(module.graph, {}))
        self.back, self.is_single = in_memory_order(graph)
        remove_identities(graph)
        merge_batches(graph)
        graph.eliminate_dead_code()
        for node in graph.nodes:
            if node.op == "call_function":
                node.target = operations.FUNCTIONS.get(node.target, node.target)
        self.importers = [importer(node) for node in graph.find_nodes(op="placeholder")]
        self.call = self.first_call

    def __call__(self, *arguments):
        return self.call(*arguments)

    def imported(self, arguments):
        return [take(argument) for take, argument in zip(self.importers, arguments)]

    def first_call(self, *arguments):
        try:
            check = Check(self.lowered)
            check.extra_traceback = False
            values = check.run(*self.imported(arguments))
            made = self.results(values)
        except (sn.Error, TypeError, ValueError) as error:
            made = self.original(*arguments)  # which may raise too: then the arguments are wrong
            log.warning("%s is left to PyTorch: %s", self.__name__, error)
            self.call = self.original.forward
            return made
        self.lowered.recompile()
        self.record = self.lowered.forward
        self.call = self.later_call
        return made

    def later_call(self, *arguments):
        return self.results(self.record(*self.imported(arguments)))

    def results(self, values):
        # A tensor is a view of an argument, or a constant: the result must have memory of its own.
        made = sn.evaluate(*[value.clone() if isinstance(value, sn.Tensor) else value for value in values])
        if self.is_single:
            return exported(made, self.back[0])
        return tuple(map(exported, made if isinstance(made, tuple) else (made,), self.back))


def compiled(module, _):
    """The compiler of a forward or backward graph."""
    partitioner = CapabilityBasedPartitioner(module, Support(), allows_single_node_partition=True)
    partitions = [p for p in map(without_last_views, partitioner.propose_partitions()) if is_worthwhile(p)]
    fused = partitioner.fuse_partitions(partitions, prefix="sinter_")
    for node in fused.graph.nodes:
        if node.op == "call_module" and node.target.startswith("sinter_"):
            node.target, node.op = Evaluation(fused.get_submodule(node.target), node.target), "call_function"
        elif node.target is aten.view.default:
            node.target = aten.reshape.default  # of a result that may have other strides
    fused.delete_all_unused_submodules()
    fused.recompile()
    log.info("%d evaluations; PyTorch's own: %s", len(partitions), left_to_pytorch(fused) or "nothing")
    return make_boxed_func(fused.forward)


def left_to_pytorch(module):
    """The operations that compute something, by name."""
    names = {
        node.target.name()
        for node in module.graph.nodes
        if isinstance(node.target, torch._ops.OpOverload) and not is_view(node)
    }
    return ", ".join(sorted(name.partition("::")[2].partition(".")[0] for name in names - {"aten::reshape"}))


backend = aot_autograd(
    fw_compiler=compiled, decompositions=decompositions, partition_fn=min_cut_rematerialization_partition
)
