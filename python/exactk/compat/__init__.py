"""Drop-in replacements for the evaluators of other libraries: one import changes, the numbers stay.

Each module has a library's names, arguments, defaults, shapes and exceptions, and computes with exactk. What cannot be
equal is in the module's docstring, and ``differences()`` lists it. The modules that replace functions never import the
library; what plugs into one (`ir_measures`, `torchmetrics`, the scorers of `sklearn`) imports it when it is first used.
"""
