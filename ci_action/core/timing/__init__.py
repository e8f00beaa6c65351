"""The statistics of lockstep pairs: rounds, exact signed ranks, Holm, the control, and their rows."""
