# Opens the files that other processes hold open, among them one that has no name any more.
# Why: a descriptor of a deleted file, a pipe or a log can be opened again by whoever may look at it.
# needs: any
# at-none: escapes
. "$(dirname "$0")/attempt.sh"
steal unlinked < <(cat "/proc/$outsidePid/fd/$unlinkedFd")
for file in /proc/[0-9]*/fd/*; do
  case $(readlink "$file") in /*outside*) steal "$file" < <(cat "$file") ;; esac
done
held 'no process of others is to be seen'
