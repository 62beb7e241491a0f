# The first half of renamed-secret: renames the folder of a hidden file, and keeps running.
. "$(dirname "$0")/attempt.sh"
mv "$root/moving/first" "$root/moving/second"
echo ready
said=1
sleep 20
