# Process 1 of a sandbox: runs one line after the other, each by a bash of its own, and waits until all it began is gone.
declare -i number=0
while IFS= read -r -d '' fail && IFS= read -r -d '' line; do
  export FUZZ_LINE=$number FUZZ_FAIL=$fail
  # How many processes it may start; of a loop that never ends the first rounds tell all.
  most=300
  [[ $line == *@(while|until|'for'*'((')* ]] && most=40
  said=$(ulimit -t 1; export FUZZ_LAST_PID=$((BASHPID + most)); exec -a bash /.driver/bash -c "$line" </dev/null 2>&1)
  until set -- /proc/[0-9]*; (($# <= 1)); do :; done
  printf '%s' "$said" >"/log/$number.said"
  number+=1
done </.driver/lines
