"""Jobs of Harbor."""
