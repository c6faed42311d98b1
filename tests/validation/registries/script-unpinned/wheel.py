# /// script
# requires-python = ">=3.11"
# dependencies = ["harbor-metrics @ https://example.org/harbor_metrics-0.1.0-py3-none-any.whl#sha256=0000000000000000000000000000000000000000000000000000000000000000"]
#
# [tool.harbor-metrics]
# metrics = ["median"]
# ///
import sys

from harbor_metrics.inside_harbor.script import main

main(__file__, sys.argv[1:])
