# Reads .env and *.pem in the root: by name, by a copy, by archive, by renaming, by a folder that is renamed above it.
# Why: they are in the workspace, where commands may read, and they are what an attacker wants most of it.
# needs: any
# at-none: escapes
. "$(dirname "$0")/attempt.sh"
cd "$root" || exit
for file in .env key.pem deep/down/.env ./deep/../.env "/proc/self/root$root/.env" "/proc/self/cwd/.env"; do
  steal "$file" < <(cat "$file")
done
steal copy < <(cp -a .env work/copy && cat work/copy)
steal archive < <(tar cf - .env key.pem deep)
steal dd < <(dd if=.env)
steal git < <(git hash-object -w .env && git cat-file -p "$(git hash-object .env)")
steal rename < <(mv .env work/renamed && cat work/renamed)
steal folder < <(mv deep/down deep/moved && cat deep/moved/.env)
mv deep/moved deep/down 2>/dev/null
steal exchange < <(mkdir -p work/x && mv -T work/x .env && cat .env)
held 'hidden files stay hidden'
