#!/bin/bash
echo $((RANDOM % 10 < 4)) > /logs/verifier/reward.txt
