"""The examples of modules that need torchmetrics run where it is installed."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore = [] if find_spec("torchmetrics") else ["exactk/torch.py", "exactk/compat/_torchmetrics_classes.py"]
