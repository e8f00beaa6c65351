"""Verdict to comment, summary, pages and terminal text. Pure: values in, strings out."""
