"""Where the Action touches the world: environment, git, child processes, GitHub, files."""
