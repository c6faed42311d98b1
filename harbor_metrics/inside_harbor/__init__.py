"""What runs inside Harbor: the plugin, and the metric script of dataset authors."""
