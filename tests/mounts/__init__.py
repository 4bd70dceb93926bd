"""Mount manifests: the file, applying it, what readers get, the commands."""
