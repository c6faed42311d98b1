"""What a metric and a reducer are; knows no names."""
