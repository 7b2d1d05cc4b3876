"""What permutation tests say of their random sign flips: errors of p-values, captions, warnings and hints."""

from __future__ import annotations

import pytest

import exactk
from exactk._report.comparison_options import ComparisonOptions


@pytest.mark.parametrize(
    ("option", "name", "choice"),
    [
        *(("test", name, "permutation") for name in ("randomization", "Randomisation", "sign_flip", "sign-flips", "fisher")),
        *(("test", name, "t") for name in ("ttest", "t-test", "t_test", "student", "paired_t")),
        ("test", "signed-rank", "wilcoxon"),
        ("test", "permutations", "permutation"),
        ("test", "bh", ""),
        ("interval", "bootstrap", "bca"),
        ("interval", "normal", "t"),
        ("interval", "BCa", "bca"),
        ("interval", "fisher", ""),
        ("alternative", "larger", "greater"),
        ("alternative", "two-sided", "two_sided"),
        *(("adjust", name, "max_t") for name in ("maxt", "max-T", "westfall_young", "Westfall-Young")),
        ("adjust", "bonf", "bonferroni"),
        ("adjust", "fdr", "benjamini_hochberg"),
        ("adjust", "student", ""),
    ],
)  # fmt: skip
def test_a_choice_by_another_name_is_one_of_its_option(option: str, name: str, choice: str) -> None:
    with pytest.raises(exactk.InputError) as caught:
        ComparisonOptions(**{option: name})  # type: ignore[arg-type]
    hint = f"found {name!r}; did you mean {choice!r}?" if choice else f"found {name!r}"
    assert str(caught.value).endswith(hint)
