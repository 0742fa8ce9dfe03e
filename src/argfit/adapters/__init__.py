"""One file per host library, each imported by its path and with that library installed."""
