#!/bin/sh
# More random programs than make check has time for.
# test: long
# test: timeout 7200
exec "$(dirname "$0")/same_result" 9 108
