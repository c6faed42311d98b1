"""Another program, watched and confined; imports the standard library only."""
