# Reads a file in /dev/shm that belongs to somebody outside, and leaves one there for others.
# Why: programs hand each other data through it, and clean it up seldom.
# needs: any
# at-none: escapes where facts.sharedFile
. "$(dirname "$0")/attempt.sh"
[ -n "${sharedFile:-}" ] && steal "$sharedFile" < <(cat "$sharedFile")
steal all < <(cat /dev/shm/*)
held 'the shared memory is its own'
