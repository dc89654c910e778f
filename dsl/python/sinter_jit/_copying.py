"""copy, deepcopy and pickle of tensors and expressions. An expression is copied deeply and pickled as its value."""
import pickle
import warnings

from . import _core


def _restored(data, dtype, shape, device):
    tensor = _core._reinterpreted(_core.asarray(data), dtype, shape)
    try:
        return tensor.to(device)
    except _core.DeviceError as error:
        warnings.warn(f"a tensor was pickled on {device}, and is now on the cpu: {error}", stacklevel=2)
        return tensor


def copy(self):
    return self.clone() if isinstance(self, _core.Tensor) else self


def deepcopy(self, memo):
    return self.eval().clone()


def reduce(self, protocol):
    tensor = self.eval().to("cpu").contiguous()
    data = _core._reinterpreted(tensor, _core.uint8, (tensor.size * tensor.dtype.itemsize,))
    elements = pickle.PickleBuffer(data) if protocol >= 5 else bytes(data)
    return _restored, (elements, self.dtype, self.shape, str(self.device))
