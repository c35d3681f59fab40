#!/usr/bin/env bash
# Mutation tests of the code that claims, unclaims, ends and disposes: every mutant must be caught by the unit tests of
# `store` and `domain`.
#
#   tests/mutants.sh           the mutations of SQL listed below, then cargo-mutants on the Rust code
#   tests/mutants.sh sql [N…]  only the listed ones, or only those with these numbers
#   tests/mutants.sh rust      only cargo-mutants
#   tests/mutants.sh check     only whether each listed mutation still applies
#
# Works in a copy. Exit code 1: a mutant survived, or a listed one does not apply any more.
set -euo pipefail
top=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
what=${1:-all}
only=" ${*:2} "

# file|text|replacement: each text must be there, and is replaced everywhere in the file.
mutations() {
  cat <<'LIST'
predicate.rs|AND b.end_reason = 'terminal-exited' AND s.wanted = 'run'|AND b.end_reason = 'terminal-exited'
predicate.rs|AND b.end_reason = 'terminal-exited' AND s.wanted = 'run'|AND b.end_reason IS NOT NULL AND s.wanted = 'run'
predicate.rs|SELECT MAX(n.generation)|SELECT MIN(n.generation)
predicate.rs|b.prompted_at IS NULL OR |b.prompted_at IS NOT NULL OR 
predicate.rs|(b.agent_session_id IS NOT NULL AND b.prompted_at IS NOT NULL)|(b.prompted_at IS NOT NULL)
predicate.rs|(b.agent_session_id IS NOT NULL AND b.prompted_at IS NOT NULL)|(b.agent_session_id IS NOT NULL)
predicate.rs|b.session_id = :session AND s.pending IS NULL|b.session_id = :session
predicate.rs|(:dead IS NULL OR b.terminal_id = :dead)|(:dead IS NULL OR b.terminal_id IS NOT NULL)
predicate.rs|(:person AND b.end_reason = 'detached')|(b.end_reason = 'detached')
predicate.rs|(:reopen AND b.end_reason IN|(:person AND b.end_reason IN
predicate.rs|AND o.terminal_id <> b.terminal_id|AND o.terminal_id = b.terminal_id
predicate.rs|claim_epoch = s.last_epoch + 1|claim_epoch = s.last_epoch
predicate.rs|claimed_from = b.end_reason, end_reason = 'resumed'|claimed_from = 'terminal-exited', end_reason = 'resumed'
claim.rs|SET wanted = 'run', hold = NULL,|SET hold = NULL,
claim.rs|hold = NULL, not_before = NULL, unsettled_deaths = 0|not_before = NULL, unsettled_deaths = 0
claim.rs|SET dismissed_at = NULL|SET dismissed_at = dismissed_at
claim.rs|WHERE id = ?1 AND pending IS NULL AND wanted = 'run'|WHERE id = ?1 AND wanted = 'run'
claim.rs|AND NOT EXISTS (SELECT 1 FROM agent_bindings b WHERE b.session_id = task_sessions.id)|
unclaim.rs|successor_terminal_id = NULL|successor_terminal_id = successor_terminal_id
unclaim.rs|SET pending = NULL, hold|SET hold
unclaim.rs|if stopped { EndReason::Disposed } else { had }|had
unclaim.rs|stopped \|\| back == Some(EndReason::Disposed)|stopped
unclaim.rs|SET outcome = 'failed', ended_at|SET ended_at
confirm.rs|SET pending = NULL, agent_execution_id|SET agent_execution_id
confirm.rs|agent_execution_id = ?2, prompted_at = ?3|agent_execution_id = NULL, prompted_at = ?3
confirm.rs|SET status = 'disposed'|SET status = 'exited'
confirm.rs|(Some(confirm.now), Some(EndReason::Disposed.as_str()), Some(session.state.as_str()))|(None, None, None::<\&str>)
dispose.rs|SET wanted = 'stop', not_before|SET not_before
dispose.rs|(end_reason IS NULL OR end_reason = 'terminal-exited')|(end_reason IS NULL)
dispose.rs|(end_reason IS NULL OR end_reason = 'terminal-exited')|(end_reason = 'terminal-exited')
dispose.rs|SET end_reason = 'disposed', ended_at|SET ended_at
ends.rs|SET agent_execution_id = NULL, updated_at|SET updated_at
ends.rs|AND (p.journal_seq IS NULL OR p.journal_seq < x.outside_seq)|
ends.rs|AND x.outside_boot_id = ?3|
ends.rs|SET end_reason = 'terminal-exited' WHERE|SET end_reason = end_reason WHERE
tokens.rs|SET end_reason = 'superseded'|SET end_reason = 'disposed'
tokens.rs|UPDATE executors_running SET resume_token = ?2|UPDATE executors_running SET resume_token = resume_token
LIST
}

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git -C "$top" ls-files -z | (cd "$top" && tar --null -T - -cf -) | tar -C "$copy" -xf -
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$top/target/mutants}
failed=0

sql() {
  local line file text with before number=0
  while IFS= read -r line; do
    number=$((number + 1))
    [[ $only == '  ' || $only == *" $number "* ]] || continue
    line=${line//\\|/$'\1'}
    IFS='|' read -r file text with <<<"$line"
    text=${text//$'\1'/|} with=${with//$'\1'/|} with=${with//\\&/&}
    before=$(cat "$copy/src/store/$file"; echo x)
    if [[ $before != *"$text"* ]]; then
      echo "$number does not apply: $file: $text"; failed=1; continue
    fi
    [[ $what == check ]] && continue
    TEXT=$text WITH=$with perl -0pi -e 's/\Q$ENV{TEXT}\E/$ENV{WITH}/g' "$copy/src/store/$file"
    if ! (cd "$copy" && cargo test -q --lib --no-run) >"$copy/log" 2>&1; then
      echo "$number does not compile: $file: $text"; tail -20 "$copy/log"; failed=1
    elif (cd "$copy" && timeout 300 cargo test -q --lib store::) >"$copy/log" 2>&1; then
      echo "$number SURVIVED: $file: $text → $with"; failed=1
    else
      echo "$number caught: $file: $text"
    fi
    printf '%s' "${before%x}" >"$copy/src/store/$file"
  done < <(mutations)
}

rust() {
  if ! command -v cargo-mutants >/dev/null; then
    echo "cargo-mutants is not installed: cargo install cargo-mutants"; failed=1; return
  fi
  (cd "$copy" && git init -q . && cargo mutants --in-place --no-shuffle --timeout 300 --output "$copy/out" \
    -f 'src/store/{claim,unclaim,confirm,dispose,ends}.rs' -f 'src/domain/{rules,ending}.rs' \
    -- --lib -- store:: domain::) || failed=1
}

case $what in
  all) sql; rust ;;
  sql | check) sql ;;
  rust) rust ;;
  *) echo "unknown: $what"; exit 2 ;;
esac
exit "$failed"
