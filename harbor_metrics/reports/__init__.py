"""What a report shows: results, what their trials say of single tasks, and comparisons."""
