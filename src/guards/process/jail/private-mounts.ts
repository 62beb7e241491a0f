import { findProgram, needProgram } from './find-program.ts'
import type { Jail } from './jail.ts'
import type { JailOwner } from './jail-owner.ts'

/** The devices that every sandbox has. Where each is a mount, as in some containers, each is closed. */
const DEVICES = ['null', 'zero', 'full', 'random', 'urandom', 'tty']

/** `UNSHARE …`: where root may not make a mount namespace, as in many containers, a user namespace around it lets it. */
const CHOOSE = `
unshare=$1
shift
if "$unshare" --mount -- "$unshare" --version >/dev/null 2>&1; then exec "$unshare" --mount --propagation slave -- "$@"
else exec "$unshare" --user --map-root-user --mount --propagation slave -- "$@"
fi
`

/** `MOUNT FILE… -- WORD…`: becomes the words once the devices and the files are read-only. */
const CLOSE = `
set -eu
mount=$1
shift
close() { "$mount" -n -i -o remount,bind,ro "$1"; }
is_mounted() { while read -r _ _ _ _ point _; do [ "$point" != "$1" ] || return 0; done </proc/self/mountinfo; return 1; }
is_mounted /dev || "$mount" -n -i --rbind /dev /dev
close /dev
for name in ${DEVICES.join(' ')}; do if is_mounted "/dev/$name"; then close "/dev/$name"; fi; done
while [ "$1" != -- ]; do
  "$mount" -n -i --bind "$1" "$1"
  close "$1"
  shift
done
shift
exec "$@"
`

/**
 * Whether a sandbox must be started where the files of the machine that it is made of are read-only: uid 0 owns them
 * also without capabilities, and reaches them by the device nodes and by the links in /proc of who made the sandbox.
 */
export function needsPrivateMounts(owner: JailOwner): boolean {
  return process.platform === 'linux' && owner.uid === 0
}

/** The words that run others where such sandboxes are started; those words as they are for all other sandboxes. */
export function inPrivateMounts(
  { hasPrivateMounts }: Pick<Jail, 'hasPrivateMounts'>,
  words: readonly string[],
): string[] {
  if (!hasPrivateMounts) return [...words]
  const [unshare, mount] = [needProgram('unshare', 'util-linux'), needProgram('mount', 'util-linux')]
  const bwrap = findProgram('bwrap')
  return [
    ...['/bin/sh', '-c', CHOOSE, 'choose', unshare],
    ...['/bin/sh', '-c', CLOSE, 'close', mount, ...(bwrap ? [bwrap] : []), '--'],
    ...words,
  ]
}
