# Opens a device file that lies in the workspace already.
# Why: an archive or an earlier, freer command may have left it there; the mount must not let it work.
# needs: any
# at-none: escapes where facts.device
. "$(dirname "$0")/attempt.sh"
[ -n "${device:-}" ] || held 'only root can plant a device'
[ -e "$device" ] || held 'the device is not there'
head -c1 "$device" >/dev/null 2>&1 && escaped 'read from the device'
held 'the device does not open'
