"""One attempt, a column of one reward key, a table, a pool of tables."""
