"""JSON that knows where everything stands, and what there is to say about it."""
