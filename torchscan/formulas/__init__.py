"""Module formulas: FLOPs, MACs, DMAs, receptive field and token dependencies of one module call."""
