"""Which metric a name means."""
