#!/usr/bin/env bash
# Mutation tests of the code that claims, unclaims, confirms, ends and disposes: every mutant must be caught by the unit tests
# of `store` and `domain`. The random walk of `rule_tests` is left out: what catches a mutant must catch it every time.
#
#   tests/mutants.sh           the mutations of SQL listed below, then cargo-mutants on the Rust code
#   tests/mutants.sh sql [N…]  only the listed ones, or only those with these numbers
#   tests/mutants.sh rust [RE] only cargo-mutants, or only those of its mutants whose names match
#   tests/mutants.sh check     only whether each listed mutation still applies
#
# cargo-mutants takes whole files: those of claim, confirm, unclaim and dispose, of ends and of the journal that tells them, of
# tokens, of what all of them read first (load), and of the rules of `domain`. Together some 240 mutants of two to five seconds
# each on two cores.
#
# Works in target/mutants, in a copy that has only these two rooms and what they need, so a mutant costs seconds.
# Exit code 1: a mutant survived or never ended, or a listed one does not apply any more.
set -euo pipefail
top=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
what=${1:-all}
only=" ${*:2} "

# What cargo-mutants mutates.
files=('src/store/{apply,claim,confirm,dispose,ends,load,tokens,unclaim}.rs' 'src/domain/{ending,rules}.rs')

# Not run, each with its reason: a regular expression on the mutant's name.
equivalent() {
  sed -n 's/^\([^#].*[^ ]\) *$/\1/p' <<'LIST'
# `Committed` has no such constructors: they do not compile.
with Ok\(Committed::
LIST
}

# file|text|replacement: each text must be there, and is replaced everywhere in the file. Every parameter must stay in its
# statement: one that SQLite refuses as a whole proves nothing.
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
predicate.rs|(:person AND b.end_reason = 'detached')|((:person OR 1) AND b.end_reason = 'detached')
predicate.rs|(:reopen AND b.end_reason IN|((:reopen OR :person) AND b.end_reason IN
predicate.rs|AND o.terminal_id <> b.terminal_id|AND o.terminal_id = b.terminal_id
predicate.rs|claim_epoch = s.last_epoch + 1|claim_epoch = s.last_epoch
predicate.rs|claimed_from = b.end_reason, end_reason = 'resumed'|claimed_from = 'terminal-exited', end_reason = 'resumed'
predicate.rs|b.session_id = s.id AND b.generation = |b.generation = 
predicate.rs|WHERE b.session_id = :session AND|WHERE :session IS NOT NULL AND
predicate.rs|s.id = ?1 AND s.pending IS NULL AND|s.id = ?1 AND
predicate.rs|b.end_reason IN ('terminal-exited', 'disposed')|b.end_reason = 'disposed'
predicate.rs|b.end_reason IN ('terminal-exited', 'disposed')|b.end_reason = 'terminal-exited'
predicate.rs|o.agent_id = b.agent_id|1
predicate.rs|AND o.agent_session_id = b.agent_session_id|
predicate.rs|AND (o.end_reason IS NULL OR o.end_reason = 'terminal-exited')|AND o.end_reason IS NULL
predicate.rs|AND (o.end_reason IS NULL OR o.end_reason = 'terminal-exited')|AND o.end_reason = 'terminal-exited'
predicate.rs|AND (o.end_reason IS NULL OR o.end_reason = 'terminal-exited')|
predicate.rs|p.agent_profile_id = b.agent_id|1
predicate.rs|= b.agent_session_id)|= b.agent_session_id AND 0)
predicate.rs|claimed_at = :now,|claimed_at = NULLIF(:now, :now),
predicate.rs|successor_terminal_id = :successor|successor_terminal_id = NULLIF(:successor, :successor)
claim.rs|SET wanted = 'run', hold = NULL,|SET hold = NULL,
claim.rs|hold = NULL, not_before = NULL, unsettled_deaths = 0|not_before = NULL, unsettled_deaths = 0
claim.rs|SET dismissed_at = NULL|SET dismissed_at = dismissed_at
claim.rs|WHERE id = ?1 AND pending IS NULL AND wanted = 'run'|WHERE id = ?1 AND wanted = 'run'
claim.rs|AND NOT EXISTS (SELECT 1 FROM agent_bindings b WHERE b.session_id = task_sessions.id)|
claim.rs|not_before = NULL, unsettled_deaths = 0|unsettled_deaths = 0
claim.rs|not_before = NULL, unsettled_deaths = 0|not_before = NULL
claim.rs|SET pending = ?2, last_epoch = ?3|SET pending = ?2, last_epoch = last_epoch
claim.rs|AND pending IS NULL AND wanted = 'run'|AND pending IS NULL
claim.rs|SET last_epoch = last_epoch + 1|SET last_epoch = last_epoch
claim.rs|SET hold = NULL WHERE|SET hold = hold WHERE
unclaim.rs|successor_terminal_id = NULL|successor_terminal_id = successor_terminal_id
unclaim.rs|SET pending = NULL, hold|SET hold
unclaim.rs|if stopped { EndReason::Disposed } else { had }|had
unclaim.rs|stopped \|\| back == Some(EndReason::Disposed)|stopped
unclaim.rs|SET outcome = 'failed', ended_at|SET ended_at
unclaim.rs|hold = COALESCE(?2, hold)|hold = hold
unclaim.rs|hold = COALESCE(?2, hold)|hold = ?2
unclaim.rs|not_before = COALESCE(?5, not_before)|not_before = IIF(?5, not_before, not_before)
unclaim.rs|not_before = COALESCE(?5, not_before)|not_before = ?5
unclaim.rs|wanted = ?3, updated_at|updated_at
unclaim.rs|claimed_at = NULL, |
unclaim.rs|claimed_from = NULL, |
unclaim.rs|AND end_reason = 'resumed' AND|AND
unclaim.rs|AND claim_epoch = ?2 |
unclaim.rs|AND successor_terminal_id = ?3|
unclaim.rs|ended_at = ?2, error_code = ?3|error_code = ?3
unclaim.rs|error_code = ?3, message = ?4|message = ?4
unclaim.rs|message = ?4|message = IIF(?4, message, message)
unclaim.rs|WHERE successor = ?1|WHERE ?1 IS NOT NULL
confirm.rs|SET pending = NULL, agent_execution_id|SET agent_execution_id
confirm.rs|agent_execution_id = ?2, prompted_at = ?3|agent_execution_id = NULL, prompted_at = ?3
confirm.rs|SET status = 'disposed'|SET status = 'exited'
confirm.rs|(Some(confirm.now), Some(EndReason::Disposed.as_str()), Some(session.state.as_str()))|(None::<i64>, None::<&str>, None::<&str>)
confirm.rs|prompted_at = ?3, updated_at|updated_at
confirm.rs|dead.as_ref().and_then(\|d\| d.prompted_at)|None
confirm.rs|?8, 'active', ?9)|?8, 'exited', ?9)
confirm.rs|SET outcome = ?2, ended_at = ?3|SET ended_at = ?3
confirm.rs|ended_at = ?3, error_code = ?4|error_code = ?4
confirm.rs|error_code = ?4|error_code = IIF(?4, error_code, error_code)
confirm.rs|error_code = ?4 WHERE successor = ?1|error_code = ?4 WHERE ?1 IS NOT NULL
confirm.rs|("failed", Some("cancelled"))|("resumed", None::<&str>)
confirm.rs|AND start_mode = ?2|AND ?2 IS NOT NULL
confirm.rs|WHERE terminal_id = ?1 AND start_mode = ?2|WHERE ?1 IS NOT NULL AND start_mode = ?2
confirm.rs|SET status = 'disposed' WHERE id = ?1|SET status = 'disposed' WHERE ?1 IS NOT NULL
dispose.rs|SET wanted = 'stop', not_before|SET not_before
dispose.rs|(end_reason IS NULL OR end_reason = 'terminal-exited')|(end_reason IS NULL)
dispose.rs|(end_reason IS NULL OR end_reason = 'terminal-exited')|(end_reason = 'terminal-exited')
dispose.rs|SET end_reason = 'disposed', ended_at|SET ended_at
dispose.rs|not_before = NULL, hold = NULL|hold = NULL
dispose.rs|not_before = NULL, hold = NULL|not_before = NULL
dispose.rs|ended_at = COALESCE(ended_at, ?2)|ended_at = ?2
dispose.rs|ended_at = COALESCE(ended_at, ?2)|ended_at = ended_at
dispose.rs|state_at_death = COALESCE(state_at_death, ?3)|state_at_death = ?3
dispose.rs|state_at_death = COALESCE(state_at_death, ?3)|state_at_death = IIF(?3, state_at_death, state_at_death)
dispose.rs|WHERE session_id = ?1 AND (end_reason|WHERE ?1 IS NOT NULL AND (end_reason
dispose.rs|AND end_reason = 'terminal-exited' AND dismissed_at|AND dismissed_at
dispose.rs|AND dismissed_at IS NULL RETURNING|RETURNING
dispose.rs|SET hold = ?2 WHERE|SET hold = IIF(?2, hold, hold) WHERE
# Not listed, since the same transaction has just read that they hold: `end_reason IS NULL` where an end is written,
# `end_reason = 'detached'` where an exit turns out to be a death gasp.
ends.rs|SET agent_execution_id = NULL, updated_at|SET updated_at
ends.rs|AND (p.journal_seq IS NULL OR p.journal_seq < x.outside_seq)|
ends.rs|AND x.outside_boot_id = ?3|
ends.rs|SET end_reason = 'terminal-exited' WHERE|SET end_reason = end_reason WHERE
ends.rs|SET ended_at = ?2, end_reason = ?3|SET end_reason = ?3
ends.rs|end_reason = ?3, state_at_death = ?4|end_reason = ?3
ends.rs|exit_boot_ms = ?5|exit_boot_ms = NULL
ends.rs|exit_boot_id = ?6|exit_boot_id = NULL
ends.rs|exit_incarnation = ?7|exit_incarnation = NULL
ends.rs|exit_person_quit = ?8|exit_person_quit = (?8 AND 0)
ends.rs|SET status = ?2, exit_code|SET exit_code
ends.rs|exit_code = ?3, exit_signal|exit_signal
ends.rs|exit_signal = ?4, ended_at|ended_at
ends.rs|ended_at = ?5|ended_at = IIF(?5, ended_at, ended_at)
ends.rs|SET unsettled_deaths = 0, not_before|SET not_before
ends.rs|not_before = NULL, hold = NULL, interrupted = 0|hold = NULL, interrupted = 0
ends.rs|hold = NULL, interrupted = 0|interrupted = 0
ends.rs|hold = NULL, interrupted = 0|hold = NULL
ends.rs|SET unsettled_deaths = ?2, not_before|SET not_before
ends.rs|not_before = ?3, interrupted = ?4|interrupted = ?4
ends.rs|interrupted = ?4, hold = ?5|hold = ?5
ends.rs|hold = ?5, updated_at|updated_at
ends.rs|SET outside_kind = ?2, outside_seq|SET outside_seq
ends.rs|outside_seq = ?3, outside_boot_ms|outside_boot_ms
ends.rs|outside_boot_ms = ?4, outside_boot_id|outside_boot_id
ends.rs|outside_boot_id = ?5|outside_boot_id = IIF(?5, outside_boot_id, outside_boot_id)
ends.rs|WHERE x.session_id = ?1 AND|WHERE
ends.rs|AND p.journal_id = ?4|AND ?4 IS NOT NULL
ends.rs|p.journal_seq < x.outside_seq|p.journal_seq > x.outside_seq
ends.rs|SET interrupted = ?2 WHERE|SET interrupted = IIF(?2, interrupted, interrupted) WHERE
apply.rs|SET journal_id = ?2, journal_seq|SET journal_seq
apply.rs|journal_seq = ?3|journal_seq = IIF(?3, journal_seq, journal_seq)
apply.rs|goodbye_person = goodbye_person OR ?4|goodbye_person = ?4
apply.rs|goodbye_person = goodbye_person OR ?4|goodbye_person = goodbye_person OR (?4 AND 0)
apply.rs|SET exit_settled = 1|SET exit_settled = 0
apply.rs|WHEN ?3 THEN NULL|WHEN ?3 AND 0 THEN NULL
apply.rs|WHEN ?3 THEN NULL|WHEN ?3 OR 1 THEN NULL
apply.rs|SET prompted_at = NULL WHERE|SET prompted_at = prompted_at WHERE
apply.rs|UPDATE agent_bindings SET prompted_at = COALESCE(prompted_at, ?2)|UPDATE agent_bindings SET prompted_at = ?2
apply.rs|UPDATE task_sessions SET prompted_at = COALESCE(prompted_at, ?2)|UPDATE task_sessions SET prompted_at = ?2
apply.rs|settled_at = COALESCE(settled_at, ?4)|settled_at = ?4
apply.rs|settled_at = COALESCE(settled_at, ?4)|settled_at = IIF(?4, settled_at, settled_at)
apply.rs|SET unsettled_deaths = 0, not_before = NULL|SET not_before = NULL
apply.rs|SET unsettled_deaths = 0, not_before = NULL|SET unsettled_deaths = 0
apply.rs|SET interrupted = 0|SET interrupted = interrupted
apply.rs|INSERT OR REPLACE INTO spawns|INSERT OR IGNORE INTO spawns
apply.rs|AND journal_id = ?2 AND incarnation|AND incarnation
apply.rs|incarnation <= ?3|incarnation < ?3
apply.rs|incarnation <= ?3|incarnation = ?3
apply.rs|AND incarnation <= ?3|AND ?3 IS NOT NULL
# Not listed: the guard of what is superseded, since `other_holders` (load.rs, below) reads only such rows.
tokens.rs|SET end_reason = 'superseded'|SET end_reason = 'disposed'
tokens.rs|SET resume_token = ?2|SET resume_token = IIF(?2, resume_token, resume_token)
tokens.rs|SET metadata = ?2|SET metadata = metadata
tokens.rs|ended_at = COALESCE(ended_at, ?2)|ended_at = ?2
tokens.rs|ended_at = COALESCE(ended_at, ?2)|ended_at = ended_at
tokens.rs|state_at_death = COALESCE(state_at_death, ?3)|state_at_death = ?3
tokens.rs|state_at_death = COALESCE(state_at_death, ?3)|state_at_death = IIF(?3, state_at_death, state_at_death)
tokens.rs|SET agent_session_id = ?2 WHERE|SET agent_session_id = IIF(?2, agent_session_id, agent_session_id) WHERE
load.rs|ORDER BY generation DESC|ORDER BY generation
load.rs|WHERE agent_id = ?1 AND agent_session_id|WHERE agent_session_id
load.rs|AND agent_session_id = ?2|
load.rs|AND session_id <> ?3|AND ?3 IS NOT NULL
load.rs|AND (end_reason IS NULL OR end_reason = 'terminal-exited')|AND end_reason IS NULL
load.rs|AND (end_reason IS NULL OR end_reason = 'terminal-exited')|AND end_reason = 'terminal-exited'
load.rs|AND (end_reason IS NULL OR end_reason = 'terminal-exited')|
LIST
}

work=$top/target/mutants copy=$top/target/mutants/tree
mkdir -p "$work"
exec 9>"$work/lock"
flock -n 9 || { echo "another run works in $work"; exit 2; }
export CARGO_TARGET_DIR=$work/build CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_TEST_DEBUG=0
# Many small databases with every commit on disk: in memory where that is.
[[ ! -w /dev/shm ]] || export TMPDIR=/dev/shm
tests=(store:: domain:: --skip no_end_is_named_anew_but_by_the_legal_changes)
failed=0

# All times are new: what was built from an earlier mutant is never taken for this.
rm -rf "$copy" && mkdir "$copy"
(cd "$top" && git ls-files -coz --exclude-standard Cargo.toml Cargo.lock src/store src/domain | tar --null -T - -cf -) | tar -C "$copy" -xmf -
printf '//! Only the rooms that are mutated.\npub mod domain;\npub mod store;\n' >"$copy/src/lib.rs"
# Only the library, small and so under a name of its own, and only the packages that its rooms name.
USED=$(grep -rhoE '\b[a-z0-9_]+::' "$copy/src" | sort -u) perl -0pi -e '
  my %used = map { s/::$//r => 1 } split /\n/, $ENV{USED};
  s/^\[\[(?:bin|test|bench)\]\]\n(?:.+\n)*//mg;
  s/^default-run.*\n//m;
  s/^name = "relight"$/name = "rooms"/mg;
  s{^(\[(?:dev-)?dependencies\]\n)((?:.+\n)*)}
   {$1 . join "", grep { /^([\w-]+) =/ && $used{$1 =~ tr/-/_/r} } split /^/, $2}mge;
  $_ .= "\n[workspace]\n"' "$copy/Cargo.toml"

build() { (cd "$copy" && cargo test -q --lib --no-run) >"$work/log" 2>&1; }
run() { (cd "$copy" && timeout 120 cargo test -q --lib -- "${tests[@]}") >"$work/log" 2>&1; }

sql() {
  local line file text with before names number=0 caught=0 survived=0 broken=0 code
  if [[ $what != check ]] && ! { build && run; }; then
    echo "the tests fail without any mutation:"; tail -20 "$work/log"; exit 1
  fi
  while IFS= read -r line; do
    [[ $line != '#'* ]] || continue
    number=$((number + 1))
    [[ $only == '  ' || $only == *" $number "* ]] || continue
    line=${line//\\|/$'\1'}
    IFS='|' read -r file text with <<<"$line"
    text=${text//$'\1'/|} with=${with//$'\1'/|}
    before=$(cat "$copy/src/store/$file"; echo x)
    if [[ $before != *"$text"* ]]; then
      echo "$number does not apply: $file: $text"; broken=$((broken + 1)); continue
    fi
    [[ $what == check ]] && continue
    TEXT=$text WITH=$with perl -0pi -e 's/\Q$ENV{TEXT}\E/$ENV{WITH}/g' "$copy/src/store/$file"
    code=0
    if ! build; then
      echo "$number does not compile: $file: $text"; tail -20 "$work/log"; broken=$((broken + 1))
    else
      run || code=$?
      case $code in
        0) echo "$number SURVIVED: $file: $text → $with"; survived=$((survived + 1)) ;;
        124) echo "$number NEVER ENDED: $file: $text → $with"; survived=$((survived + 1)) ;;
        *)
          if grep -qE 'Sqlite \{.*(Wrong number of param|Invalid parameter name|syntax error|no such )' "$work/log"; then
            echo "$number is no statement any more: $file: $text → $with"; broken=$((broken + 1))
            printf '%s' "${before%x}" >"$copy/src/store/$file"
            continue
          fi
          names=$(sed -n 's/^    \([a-z_:]*\)$/\1/p' "$work/log" | sort -u | sed -n 1,3p | paste -sd' ')
          echo "$number caught: $file: $text → $with   [$names]"; caught=$((caught + 1)) ;;
      esac
    fi
    printf '%s' "${before%x}" >"$copy/src/store/$file"
  done < <(mutations)
  [[ $what == check ]] || echo "SQL: $caught caught, $survived survived, $broken do not apply or compile"
  [[ $((survived + broken)) == 0 ]] || failed=1
}

rust() {
  local args=() re
  if ! cargo mutants --version >/dev/null 2>&1; then
    echo "cargo-mutants is not installed: cargo install --locked cargo-mutants"; failed=1; return
  fi
  while IFS= read -r re; do args+=(--exclude-re "$re"); done < <(equivalent)
  [[ $what != rust || $only == '  ' ]] || args+=(--re "${only:1:-1}")
  (cd "$copy" && cargo mutants --in-place --timeout 300 --output "$work" "${files[@]/#/-f}" "${args[@]}" \
    -- --lib -- "${tests[@]}") || failed=1
}

case $what in
  all) sql; rust ;;
  sql | check) sql ;;
  rust) rust ;;
  *) echo "unknown: $what"; exit 2 ;;
esac
exit "$failed"
