# Runs a program in the workspace that belongs to another user and has the setuid bit.
# Why: it is how a user becomes root; a sandbox must not carry the bit along.
# needs: any
# at-none: escapes where facts.setuidProgram
. "$(dirname "$0")/attempt.sh"
[ -n "${setuidProgram:-}" ] || held 'only root can plant such a program'
[ -x "$setuidProgram" ] || held 'the program is not there'
mine=$(id -u)
now=$("$setuidProgram" -u) || held 'the program does not run'
[ "$now" = "$mine" ] || escaped "user $mine became $now"
held "stays user $mine"
