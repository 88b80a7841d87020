#!/bin/sh
# The job for CI: everything is checked, the cases prove that they tell known subjects apart, then the suite runs.
# The exit code is that of the first step that does not end well; of `oyer run` it is that of the gates.
set -e
oyer check cases/*.yaml rubrics/*.yaml suites/*.yaml oyer.yaml
oyer qualify first --record qualifications
out="runs/ci-$(date -u +%Y%m%d-%H%M%S)"
code=0
oyer run first --out "$out" || code=$?
# Where nothing could be run there is no series to verify, and the code of `oyer run` says why.
verified=0
if [ -d "$out" ]; then oyer verify "$out" || verified=$?; fi
[ "$code" -ne 0 ] || code=$verified
exit "$code"
