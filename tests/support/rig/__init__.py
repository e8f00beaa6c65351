"""The end-to-end rig: a stateful fake GitHub behind Prism, and a real Actions runner, all on 127.0.0.1."""
