"""Metrics by family: every public function of a module here is a metric, its type the name with `-`."""
