"""Operator counting by dispatch: one lean mode, and a table of formulas for what PyTorch leaves uncounted."""
