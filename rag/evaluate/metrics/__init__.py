"""One family of metrics a module, each pure, each with its definition and source."""
