# Reads through symbolic links in the workspace that lead outside: to a file, to a folder, to /, over another link.
# Why: whoever checks only that a name is in the workspace follows the link for the attacker.
# needs: any
# at-none: escapes
. "$(dirname "$0")/attempt.sh"
ln -s "$secretFile" file
ln -s "$(dirname "$secretFile")" folder
ln -s / top
ln -s folder again
for way in file folder/secret "top$secretFile" again/secret; do
  steal "$way" < <(cat "$way")
done
held 'the links lead to nothing'
