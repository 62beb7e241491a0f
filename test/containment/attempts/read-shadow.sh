# Reads the password hashes of the machine, and the names of its users.
# Why: they can be cracked elsewhere; a sandbox that shows all of /etc shows them to root.
# needs: any
# at-none: escapes as root where /etc/shadow
. "$(dirname "$0")/attempt.sh"
for file in /etc/shadow /etc/shadow- /etc/gshadow /etc/sudoers; do
  [ -s "$file" ] && head -c1 "$file" >/dev/null && escaped "read $file"
done
held 'there is no such file'
