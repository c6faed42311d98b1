"""Metrics by family: every public function of a module is a metric, its type the name with `-`."""
