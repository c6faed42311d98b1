"""A registry file and the scripts that it names."""
