"""The pure core: config, event, plan, comparison and verdict as values. No git, network, clock or torch."""
