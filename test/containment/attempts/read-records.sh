# Reads the records and the data of the hub that runs it, which lie inside the root.
# Why: they hold what other calls and other runs did, and the grants that people gave.
# needs: any
# at-none: escapes
. "$(dirname "$0")/attempt.sh"
for path in "$root"/runs/*/events.jsonl "$root"/.tool-hub/*; do
  [ -s "$path" ] && escaped "read $path: $(head -c 60 "$path")"
done
mv "$root/runs" runs && escaped 'moved the records'
(echo x > "$root/runs/forged") 2>/dev/null && escaped 'wrote a record'
held 'the folders are empty and cannot be changed'
