"""The pictures of a report: one file each, data in, a figure out."""
