# Reads a file outside of the roots by going up: from the working folder, from a folder that is a link, through /proc.
# Why: a sandbox that compares names, and not files, lets `..` pass.
# needs: any
# at-none: escapes
. "$(dirname "$0")/attempt.sh"
ln -s . link 2>/dev/null
for way in ../.. link/../.. /proc/self/cwd/../.. "$PWD/../.." /../../..; do
  for up in '' ../ ../../ ../../../; do
    steal "$way/$up" < <(cat "$way/${up}outside/secret")
  done
done
held 'above the roots there is nothing'
