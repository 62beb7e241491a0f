#!/.driver/bash -p
# Stands for every program: writes down how it was called, and does nothing. -p: no BASH_ENV, no functions from outside.
environment=
while IFS= read -r -d '' variable; do environment+=$variable$'\x1f'; done </proc/self/environ
cwd=$PWD
input=
if [[ -f /dev/stdin ]]; then
  IFS= read -r -n 64 input
elif [[ -d /dev/stdin ]]; then
  cd -P /dev/stdin && [[ $PWD/ == /ws/repo/* ]] || input=OUTSIDE
elif [[ -b /dev/stdin ]] || [[ -c /dev/stdin && ! /dev/stdin -ef /dev/null ]]; then
  input=OUTSIDE
fi
line=${FUZZ_LINE//[!0-9]/}
printf '%s\0' "$0" "$cwd" "$environment" "$input" "$#" "$@" >>"/log/${line:-lost}.$$.run"
# What a program prints is no command and no name of a file: whoever takes it for one is found out.
printf '%s\n' 'rm -rf /etc' 2>/dev/null
# A line that goes on for ever is ended, all of it.
(($$ > ${FUZZ_LAST_PID//[!0-9]/})) && kill -KILL -1
exit "${FUZZ_FAIL:-0}"
