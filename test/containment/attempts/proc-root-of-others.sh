# Reads a file outside through /proc/<pid>/root and /proc/<pid>/cwd of process 1, of the hub and of all others.
# Why: each of these links is a door into the mounts of another process.
# needs: any
# at-none: escapes
. "$(dirname "$0")/attempt.sh"
for process in /proc/1 "/proc/$hubPid" "/proc/$outsidePid" /proc/[0-9]*; do
  for way in "root$secretFile" cwd/secret "cwd/../outside/secret"; do
    steal "$process/$way" < <(cat "$process/$way")
  done
done
held 'no process has another root'
