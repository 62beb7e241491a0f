# One command renames the folder of a hidden file and goes on; the next one reads the file under its new name.
# Why: each command may do what it does; only both together undo what hides the file.
# needs: any
# before: background rename-deep.sh
# at-none: escapes
. "$(dirname "$0")/attempt.sh"
for file in "$root"/moving/*/.env; do
  steal "$file" < <(cat "$file")
done
held 'the file is hidden by its new name as well'
