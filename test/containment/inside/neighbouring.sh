# The other command: has files and a process that are not for its neighbours.
. "$(dirname "$0")/attempt.sh"
said=1
mine=containment-neighbour-$name
for folder in /tmp /dev/shm ~; do
  touch "$folder/$mine" 2>/dev/null
done
trap 'rm -f /tmp/$mine /dev/shm/$mine ~/$mine' EXIT
echo ready
bash -c 'read -rt 20 < <(sleep 20)' "$mine"
