"""What crosses from one job to another: evidence that is sent, and evidence that is received as from an enemy."""
