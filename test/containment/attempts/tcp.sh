# Connects to a server on this machine over TCP: by address, by name, by the address of every interface.
# Why: databases and control services listen on the loopback, and everything stolen leaves over TCP.
# needs: any
# at-none: escapes
. "$(dirname "$0")/attempt.sh"
for address in 127.0.0.1 localhost 0.0.0.0 127.1.2.3; do
  steal "$address" < <(exec 3<>"/dev/tcp/$address/$tcpPort" && cat <&3)
done
held 'nobody listens'
