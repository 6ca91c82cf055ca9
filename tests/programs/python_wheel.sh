#!/usr/bin/env bash
# The wheel for Python programs beside the wheels of numpy, scipy and scikit-learn: the same results as without, by
# `import capstan` and by `python -m capstan run`; all regions and OpenBLAS's sections are Capstan's; and child
# processes of every kind end, with the same results.
# test: long
. "$(dirname "$0")/lib.sh"
needs_wheel scikit-learn numpy scipy sklearn threadpoolctl
site=$work/site
wheel=$("$source_root/tools/make-wheel" --out "$work/wheel") || exit 1
"$python" -m zipfile -e "$wheel" "$site"
export PYTHONDONTWRITEBYTECODE=1

# run_one NAME COMMAND...: its output in $work/NAME, the report in $work/NAME.report.
run_one() {
    local name=$1
    shift
    if ! PYTHONPATH=$site CAPSTAN_REPORT=fd:2 timeout "$step_limit" "$@" >"$work/$name" 2>"$work/$name.report"; then
        fail "$name: exit status $?: $(tail -n 5 "$work/$name.report")"
    fi
}

program=$here/python_wheel.py
run_one stock "$python" "$program"
run_one import "$python" "$program" import
run_one run "$python" -m capstan run "$program"
for way in import run; do
    cmp -s "$work/stock" "$work/$way" || fail "$way: $(cat "$work/$way"), and without $(cat "$work/stock")"
    grep -q '"regions":[1-9][0-9][0-9]' "$work/$way.report" || fail "$way: no regions: $(cat "$work/$way.report")"
    grep -q '"pool":"OpenBLAS","sections":[1-9]' "$work/$way.report" || fail "$way: OpenBLAS: $(cat "$work/$way.report")"
    grep -q '"threads":2,' "$work/$way.report" || fail "$way: more threads than asked for: $(cat "$work/$way.report")"
done

run_one processes-import "$python" "$program" import processes
run_one processes-run "$python" -m capstan run "$program" processes
for way in processes-import processes-run; do
    [ "$(wc -l <"$work/$way")" = 6 ] || fail "$way: $(cat "$work/$way")"
    [ "$(sed -n '2,5s/^[a-z]* //p' "$work/$way" | sort -u | wc -l)" = 1 ] || fail "$way: children differ: $(cat "$work/$way")"
    [ "$(tail -n 1 "$work/$way")" = "$(tail -n 1 "$work/stock")" ] || fail "$way: $(cat "$work/$way")"
done
compared=1
finish
