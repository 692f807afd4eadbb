"""The effects of calls, and which storages their results share."""
