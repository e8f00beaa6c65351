"""Operator counting: one lean dispatch mode, and a table of what each operator costs."""
