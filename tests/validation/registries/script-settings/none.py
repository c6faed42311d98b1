# /// script
# requires-python = ">=3.11"
# dependencies = ["harbor-metrics==0.1.0"]
#
# [tool.harbor-metrics]
# metrics = []
# ///
import sys

from harbor_metrics.inside_harbor.script import main

main(__file__, sys.argv[1:])
