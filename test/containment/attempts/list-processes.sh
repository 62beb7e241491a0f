# Lists the processes of the machine with their command lines.
# Why: command lines hold tokens, and a list of processes is a list of targets.
# needs: any
# at-none: escapes
. "$(dirname "$0")/attempt.sh"
for file in /proc/[0-9]*/cmdline; do
  case $(tr '\0' ' ' 2>/dev/null <"$file") in *outside.py*) escaped "saw $file" ;; esac
done
[ -d "/proc/$outsidePid" ] && escaped "saw process $outsidePid"
held "saw $(ls -d /proc/[0-9]* | wc -l) processes of its own"
