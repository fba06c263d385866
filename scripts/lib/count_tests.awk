# Counts test cases: awk -f count_tests.awk JUNIT-FILE CTEST-LOG. Where a test is a doctest binary, the cases that it
# reports count, else the test itself does. A case that finds no data to work on says "skipped: ..." and counts
# as skipped; a test that died without a report counts as failed.

FNR == NR {
  if (match($0, /<testcase name="[^"]*"/)) name = substr($0, RSTART + 16, RLENGTH - 17)
  if (match($0, /status="[a-z]*"/) && /<testcase/) state[name] = substr($0, RSTART + 8, RLENGTH - 9)
  if (/<skipped message="SKIP_/ || /<skipped message="Skip/) state[name] = "skipped"
  next
}

/^[0-9]+\/[0-9]+ Testing: / {
  name = substr($0, index($0, ": ") + 2)
  reported = cases_failed = skips = 0
}

/^\[doctest\] test cases:/ {
  split($0, field, "|")
  reported = 1
  passed += number(field[2])
  failed += number(field[3])
  cases_failed += number(field[3])
}

/MESSAGE: skipped:/ { skips++ }

/^Test time = / {
  if (reported) {
    passed -= skips
    skipped += skips
    if (state[name] == "fail" && cases_failed == 0) failed++
  } else if (state[name] == "run") {
    passed++
  } else if (state[name] == "skipped" || state[name] == "disabled") {
    skipped++
  } else {
    failed++
  }
}

function number(text) {
  match(text, /[0-9]+/)
  return substr(text, RSTART, RLENGTH) + 0
}

END { printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped }
