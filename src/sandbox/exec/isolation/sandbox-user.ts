import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { findProgram, needProgram } from '../host/system-programs.ts'
import type { SandboxLaunch, SandboxSpec } from './sandbox.ts'

/** The user that a command runs as. */
export interface SandboxUser {
  readonly uid: number
  readonly gid: number
  /** It is not the hub's own user: a hub that runs as root drops its rights to those of the workspace's owner. */
  readonly isOther: boolean
}

/** The unprivileged user of every Linux: under a root hub, it runs what has no owner of its own. */
export const NOBODY_USER = { uid: 65_534, gid: 65_534 } as const

/**
 * Commands run as the hub's user, without capabilities in the sandbox. For root that means no access to files of other
 * users, so if the first writable root belongs to another user who can reach it, commands run as that user.
 */
export function sandboxUser({ roots }: Pick<SandboxSpec, 'roots'>): SandboxUser {
  const uid = process.geteuid?.() ?? 0
  const gid = process.getegid?.() ?? 0
  const hub = { uid, gid, isOther: false }
  const workspace = (roots.find((root) => root.mode === 'write') ?? roots[0])?.path
  const owner = uid === 0 && workspace ? statSync(workspace, { throwIfNoEntry: false }) : undefined
  if (!workspace || !owner || owner.uid === 0 || !canEnter(dirname(workspace), owner)) return hub
  // Keeping root's group would be a right that the owner of the workspace does not have.
  return { uid: owner.uid, gid: owner.gid === 0 ? owner.uid : owner.gid, isOther: true }
}

/** Whether the mode bits let a user through all folders of a path; a user can always open its own folders. */
export function canEnter(folder: string, user: { readonly uid: number; readonly gid: number }): boolean {
  const stats = statSync(folder, { throwIfNoEntry: false })
  if (!stats?.isDirectory()) return false
  const bit = stats.gid === user.gid ? 0o010 : 0o001
  if (stats.uid !== user.uid && (stats.mode & bit) === 0) return false
  return folder === '/' || canEnter(dirname(folder), user)
}

/** The words that run other words as the user of a sandbox; the same words if that is the hub's own user. */
export function runAs(user: SandboxUser, words: readonly string[]): string[] {
  if (!user.isOther) return [...words]
  const setpriv = needProgram('setpriv', 'util-linux')
  return [setpriv, `--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups', '--', ...words]
}

/** The devices that every sandbox has. Where each is a mount of its own, as in some containers, each is made read-only. */
const DEVICES = ['null', 'zero', 'full', 'random', 'urandom', 'tty']

/** `UNSHARE …`: where root may not create a mount namespace, as in many containers, a user namespace around it allows it. */
const CHOOSE = `
unshare=$1
shift
if "$unshare" --mount -- "$unshare" --version >/dev/null 2>&1; then exec "$unshare" --mount --propagation slave -- "$@"
else exec "$unshare" --user --map-root-user --mount --propagation slave -- "$@"
fi
`

/** `MOUNT FILE… -- WORD…`: makes the devices and the files read-only, then becomes the words. */
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
 * Whether a sandbox must be started where the machine's files that it consists of are read-only: uid 0 owns them even
 * without capabilities, and reaches them through device nodes and through the links in /proc of the sandbox's creator.
 */
export function needsPrivateMounts(user: SandboxUser): boolean {
  return process.platform === 'linux' && user.uid === 0
}

/** The words that run other words where such sandboxes are started; the same words for all other sandboxes. */
export function inPrivateMounts(
  { hasPrivateMounts }: Pick<SandboxLaunch, 'hasPrivateMounts'>,
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
