"""Footnote's engine: files in, answers with verified page citations out.

The data's way, one module a stage: parse -> chunk -> embed + keyword -> retrieve -> rerank ->
reader or agent -> cite. `workspace` bundles the stages for a page or a command; nothing here
imports Streamlit.
"""
