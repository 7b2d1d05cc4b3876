"""The public function that says how much two systems' lists agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactk._engine.agreement import ListEngine, evaluate_agreement
from exactk._engine.core import core_engine, core_ranker
from exactk._engine.options import AgreementOptions
from exactk._evaluate import takes_options, with_defaults

if TYPE_CHECKING:
    from typing import Unpack

    from exactk._inputs.types import PredictionsLike
    from exactk._plan.metric_strings import MetricsLike
    from exactk._report.report import Report

DEFAULT_AGREEMENT_METRICS = ("overlap@10", "rbo@10")
"""What is computed where no metrics are given."""


@takes_options(AgreementOptions)
def agreement(
    one: PredictionsLike,
    other: PredictionsLike,
    metrics: MetricsLike = DEFAULT_AGREEMENT_METRICS,
    **options: Unpack[AgreementOptions],
) -> Report:
    r"""Compare the lists that two systems, or two days of one system, recommend to the same users.

    Each value is the mean over the users who are in both. With A and B the first k items of a user's two lists:

    - ``overlap@k``: \|A & B\| / max(\|A\|, \|B\|), the share of the items that both have, from 0 to 1 [1]_;
    - ``jaccard@k``: \|A & B\| / \|A | B\|, from 0 to 1;
    - ``rbo@k(p=0.9)``: rank-biased overlap [2]_, from 0 to 1: the mean overlap of the first d items over all depths d,
      with weights (1 - p) p^(d - 1), so that a lower p puts more weight on the first ranks. The overlap below the lists is
      extrapolated from that at their end (RBO_ext); ``rbo_over=truncated`` divides the sum down to rank k by its weights;
    - ``kendall_tau@k``: (pairs in the same order - pairs in another) / pairs of A & B, from -1 to 1 [3]_. It is 0/0 for
      users whose lists share fewer than two items;
    - ``lip@k``: max(0, r - k), where r is the lowest rank in `one` of B's items: by how many ranks beyond k the lowest of
      them starts ("least item promoted"). Items that `one` does not have are left out, so give `one` beyond rank k;
      it is 0/0 for users where none is left. If `one` is a matrix of scores, all of its items are ranked, which takes 8
      bytes each.

    A list that agrees with itself has overlap, jaccard and rbo of exactly 1. Where one of a user's two lists is empty
    these are 0, where both are, 0/0. Users whose value is 0/0 are left out of the mean and counted as skipped.

    Parameters
    ----------
    one, other : Rankings, Scores, SparseScores, Embeddings, Batches, list of sequences, sparse matrix, mapping, two-dimensional array, data frame, Series, TopK, ids and distances, or path
        The lists to compare, in any containers that `exactk.evaluate` takes as predictions, also of different kinds.
        Scores are ranked first; ties are broken by the convention's ``ties``, in each list alone. Keyed users are matched
        by key, others by row number; all metrics but lip are the same if `one` and `other` are exchanged.
    metrics : str or iterable of str, default overlap and rbo at 10
        Metric strings as in `exactk.evaluate`, such as ``"rbo@[5,10](p=0.8)"``. Without ``@k`` the whole lists count.
        ``exactk.agreement_metrics`` lists the names.
    convention : Convention, str or mapping
        A mapping changes fields: ``rbo_over``, ``undefined`` (the value of 0/0, by default ``"skip"``; as in any other
        convention if `convention` is one), ``ties``, ``nan``, ``score_dtype``, ``negative_infinity`` and ``decimals``.
        The other fields do not apply.
    user, item, score, rank : str, optional
        Column names in data frames and files, for all arguments alike; `user` may name several columns, which together identify
        a user. Usual names are detected: user_id, query_id, ...; item_id, doc_id, ...; score, prediction, ...; rank. If frames
        differ in their column names, convert each with `exactk.as_predictions`.

    Returns
    -------
    Report
        A mapping from metric to value, as of `exactk.evaluate`: reports of shards merge exactly, and
        `exactk.compare_reports` compares several systems with `one`. Of its counts, ``missing_lists`` are users
        only in `one`, ``missing_truth`` users only in `other`, ``empty_truth`` users without items in `one`, and
        ``empty_predictions`` users without items in `other`.

    Raises
    ------
    InputError, InputTypeError
        If an argument is invalid, or an item is in a list twice. The message names `one` or `other`.

    Warns
    -----
    EvaluationWarning
        If users are only in one of the two, if they share no user or no item, if no list reaches a cutoff, or if ranks
        have gaps.

    See Also
    --------
    evaluate : The predictions of one system, beside what is relevant.
    compare : Which of several systems is better.

    References
    ----------
    .. [1] Fagin, Kumar, Sivakumar, "Comparing top k lists", 2003.
    .. [2] Webber, Moffat, Zobel, "A similarity measure for indefinite rankings", 2010, equation 32.
    .. [3] Kendall, "A new measure of rank correlation", 1938.

    Examples
    --------
    >>> import exactk
    >>> monday = {"ann": ["tea", "milk", "rice"], "bob": ["bread", "tea", "rice"], "eve": ["rice"]}
    >>> tuesday = {"ann": ["milk", "tea", "fish"], "bob": ["bread", "tea", "rice"], "eve": ["fish"]}
    >>> exactk.agreement(monday, tuesday, ["overlap@3", "jaccard@3", "rbo@3", "kendall_tau@3"])
    metric          value     std  evaluated  skipped
    overlap@3      0.5556  0.4157          3        0
    jaccard@3      0.5000  0.4082          3        0
    rbo@3          0.5433  0.4128          3        0
    kendall_tau@3  0.0000  1.0000          2        1
    convention standard with users='both', undefined='skip'; 3 users
    """
    engine, options_of_all = (
        ListEngine(core_engine, core_ranker),
        with_defaults(options, agreement, AgreementOptions, metrics),
    )
    return evaluate_agreement(engine, one, other, metrics, **options_of_all)
