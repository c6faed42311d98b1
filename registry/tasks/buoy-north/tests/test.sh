#!/bin/bash
echo $((RANDOM % 10 < 7)) > /logs/verifier/reward.txt
