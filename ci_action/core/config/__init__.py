"""The owner's config: entries as values, and every way in which a file can be wrong."""
