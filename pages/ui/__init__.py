"""Parts that more than one page draws, and the plain functions behind them."""
