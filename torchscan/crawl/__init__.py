"""One inference forward, observed: hooks, metadata, storages, and the report made of them."""
