"""ranx's randomization test in a process of its own: each line of the input is a test, of which p and CPU seconds are printed.

``python -m benchmarks.versus.fisher_library VALUES.npy PERMUTATIONS``
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np
from ranx.statistical_tests import fisher_randomization_test


def main() -> None:
    """Serve until the input ends."""
    system, baseline = np.load(sys.argv[1])
    fisher_randomization_test(baseline, system, 1)  # which compiles it
    for _ in sys.stdin:
        begin = time.process_time()
        p, _ = fisher_randomization_test(baseline, system, int(sys.argv[2]))
        print(json.dumps([float(p), time.process_time() - begin]), flush=True)


if __name__ == "__main__":
    main()
