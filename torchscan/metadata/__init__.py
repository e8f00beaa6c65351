"""What a value looks like, without the value: shapes, dtypes, devices, containers."""
