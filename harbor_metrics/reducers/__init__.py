"""Reducers by family: every public function makes a task's attempts one value."""
