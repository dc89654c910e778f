# Shared by the scripts: `source "$(dirname "$0")/lib.sh"`. Moves to the top of the source tree.
# shellcheck shell=bash
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
jobs=$(nproc)

say() { printf '%s\n' "$*"; }
fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# with_log NAME COMMAND...: runs the command silently; its output is kept in build/NAME.log and shown if it fails.
with_log() {
  local log=build/$1.log
  shift
  mkdir -p build
  if ! "$@" >"$log" 2>&1; then
    tail -n 60 "$log" >&2
    fail "this failed: $* (all of its output: $log)"
  fi
}

# build PRESET [cmake --build options]: configures and builds, with one line of progress on a terminal.
build() {
  local preset=$1 log=build/$1.log start=$SECONDS line
  shift
  use_fetched_toolkit
  with_log "$preset-configure" cmake --preset "$preset"
  if [ -t 1 ]; then
    cmake --build --preset "$preset" -j "$jobs" "$@" 2>&1 | tee "$log" | while IFS= read -r line; do
      [[ $line =~ ^\[[0-9]+/[0-9]+\] ]] && printf '\rbuilding (%s) %s ' "$preset" "${BASH_REMATCH[0]}"
    done || true
    printf '\r\033[K'
    [ "$(grep -cE '^(FAILED:|ninja: (error|build stopped))' "$log")" -eq 0 ] || fail_build "$log"
  else
    say "building ($preset), which takes some minutes the first time; its output: $log"
    cmake --build --preset "$preset" -j "$jobs" "$@" >"$log" 2>&1 || fail_build "$log"
  fi
  say "built ($preset) in $((SECONDS - start)) s"
}
fail_build() {
  grep -vE '^\[[0-9]+/[0-9]+\] (Building|Linking|Re-running)' "$1" | tail -n 80 >&2
  fail "the build failed (all of its output: $1)"
}

# run_tests PRESET [CTEST OPTIONS...]: leaves build/PRESET-tests.xml for scripts/test_report.py. On a terminal, tests that
# pass take one line of progress.
run_tests() {
  local preset=$1 progress=()
  shift
  say "testing ($preset)"
  use_fetched_toolkit
  [ ! -t 1 ] || progress=(--progress)
  ctest --preset "$preset" -j "$jobs" "${progress[@]}" --output-junit "$PWD/build/$preset-tests.xml" --test-output-size-passed 1000000 "$@"
}

# Uses the CUDA toolkit that scripts/deps fetched, if the machine has none.
use_fetched_toolkit() {
  local wheel=$PWD/build/nvrtc/nvidia/cu13
  if [ -z "${CUDA_HOME:-}" ] && [ -e "$wheel/lib/libnvrtc.so.13" ]; then
    export CUDA_HOME=$wheel
  fi
}

use_fetched_toolkit
