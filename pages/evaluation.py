"""Measure how well the right pages are found."""

from __future__ import annotations

import streamlit as st

from pages.ui.sidebar import draw_state
from pages.ui.start import workspace as get_workspace

workspace = get_workspace("evaluation.py")
draw_state(workspace)
st.title("Evaluation")
