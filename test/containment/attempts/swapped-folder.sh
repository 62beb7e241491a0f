# While one command swaps a protected folder for a link to / and back as fast as it can, others look at what they see there.
# Why: the hub looks at a folder and then mounts it; in between the folder can become a way to everything.
# needs: any
# before: background swap-folder.py
# repeat: 12
# refused: held
# at-none: escapes
. "$(dirname "$0")/attempt.sh"
for ((i = 0; i < 20; i++)); do
  steal "$root/.cursor" < <(cat "$root/.cursor$secretFile" 2>/dev/null)
done
held 'the folder shows nothing of outside'
