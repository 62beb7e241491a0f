# Writes through a symbolic link in the workspace to a file outside.
# Why: a link is harmless where it lies, and whoever writes to its name writes elsewhere.
# needs: any
# at-none: escapes
. "$(dirname "$0")/attempt.sh"
outside=$(dirname "$secretFile")
ln -s "$outside/changeable" file
ln -s "$outside" folder
[ -e file ] && (echo changed > file) 2>/dev/null && escaped 'wrote through the link'
(echo made > folder/made) 2>/dev/null && escaped 'made a file through the link'
held 'the links lead to nothing'
