"""Evaluation in buckets of users, which an engine such as Spark makes: Arrow batches in, one state per bucket out."""

from __future__ import annotations
