"""Functions of SciPy and scikit-learn that take arrays of the array API standard, with Sinter's tensors."""
import os
import unittest

os.environ["SCIPY_ARRAY_API"] = "1"

import numpy as np

import sinter_jit as sn
from case import Case, main

try:
    import scipy.integrate
    import scipy.signal
    import scipy.special
    import scipy.stats
    import sklearn
    import sklearn.metrics
    import sklearn.preprocessing
except ImportError:
    sklearn = None


@unittest.skipUnless(sklearn, "SciPy and scikit-learn are not installed")
class ArrayApi(Case):
    def check(self, function, *arrays, operands=True):
        made, expected = function(*map(sn.tensor, arrays)), function(*arrays)
        self.assertEqual(isinstance(made, sn.Operand), operands)
        np.testing.assert_allclose(np.asarray(made), expected, rtol=1e-10)

    def test_scipy(self):
        a = self.numpy_random.random((20, 3))
        for function in [lambda x: scipy.special.softmax(x, axis=1), lambda x: scipy.stats.skew(x, axis=0), lambda x: scipy.stats.kurtosis(x, axis=0),
                         lambda x: scipy.stats.gmean(x, axis=0), lambda x: scipy.stats.entropy(x), lambda x: scipy.stats.variation(x, axis=0),
                         lambda x: scipy.signal.detrend(x, axis=0), lambda x: scipy.integrate.trapezoid(x, axis=0), scipy.special.expit]:
            self.check(function, a)

    def test_scikit_learn(self):
        a, b = self.numpy_random.random((2, 20, 3))
        with sklearn.config_context(array_api_dispatch=True):
            self.check(sklearn.metrics.mean_squared_error, a[:, 0], b[:, 0], operands=False)
            self.check(sklearn.metrics.r2_score, a, b, operands=False)
            for scaler in [sklearn.preprocessing.MinMaxScaler, sklearn.preprocessing.MaxAbsScaler]:
                self.check(lambda x, make=scaler: make().fit_transform(x), a)


if __name__ == "__main__":
    main()
