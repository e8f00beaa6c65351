"""Runs in the user's interpreter: the only place where measured code runs."""
