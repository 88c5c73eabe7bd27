"""Names for the arrays that the models pass around."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Places = NDArray[np.uint32]  # indices: unsigned, so that compiled code need not look for negative ones
Bools = NDArray[np.bool_]
