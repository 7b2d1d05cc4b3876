"""The examples of modules that need torchmetrics or sentence-transformers run where these are installed."""

from __future__ import annotations

from importlib.util import find_spec

NEEDS = {
    "torchmetrics": ["exactk/torch.py", "exactk/compat/_torchmetrics_classes.py"],
    "sentence_transformers": ["exactk/sentence_transformers.py"],
}
collect_ignore = [path for library, paths in NEEDS.items() if not find_spec(library) for path in paths]
