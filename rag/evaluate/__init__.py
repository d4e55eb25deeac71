"""Measuring: question sets, metrics, runs, comparison.

The data flows one way: `cases` (what is asked, and what is right) -> `bench` (where it is asked)
-> `runs` (what came back, kept on disk) -> `scores` (numbers with intervals) -> `compare`.

Ground truth is a document, a page and a quote, never a chunk, so it survives re-chunking.
"""
