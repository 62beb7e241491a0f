# Changes what runs code later or changes the rules: git hooks and config, editor settings, the hub's own config.
# Why: the next `git commit`, the next opened editor or the next hub runs without a sandbox, as the owner.
# needs: any
# at-none: escapes
. "$(dirname "$0")/attempt.sh"
cd "$root" || exit
umask 022
for file in .git/hooks/pre-commit .git/config .vscode/settings.json tool-hub.yaml guarded/rules; do
  (echo '# changed' >> "$file") 2>/dev/null && escaped "changed $file"
  ln -sf /dev/null "$file" 2>/dev/null && escaped "replaced $file"
  rm -f "$file" 2>/dev/null && [ ! -e "$file" ] && escaped "removed $file"
  chmod 4777 "$file" 2>/dev/null && escaped "changed the mode of $file"
done
held 'nothing protected can be written'
