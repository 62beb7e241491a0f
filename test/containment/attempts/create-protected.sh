# Makes protected files that the root does not have yet: settings of editors and agents, a config of the hub.
# Why: where none is there yet, making one is the same as changing one: the next editor or hub reads it.
# needs: any
# before: first make-protected.sh
# at-none: held because what a command has made there is renamed when it ends, at every level
. "$(dirname "$0")/attempt.sh"
cd "$root" || exit
for file in .claude/settings.json .cursor/mcp.json .mcp.json .envrc tool-hub.json; do
  [ -e "$file" ] && escaped "made $file"
done
ls -d .mcp.json.set-aside-* > /dev/null || finish BROKEN 'nothing was made'
held 'what was made has another name'
