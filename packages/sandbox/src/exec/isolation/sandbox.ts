import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { SandboxLevel } from '@tool-hub/core'
import { findProgram, needProgram, type ProcessLimits } from '../host/host.ts'

/** The home of every sandboxed command: empty, in memory, and removed with the sandbox. */
export const SANDBOX_HOME = '/run/home'

/** What a sandbox shows to its command, and nothing else. All paths are real and absolute. */
export interface SandboxSpec {
  readonly level: SandboxLevel
  readonly roots: ReadonlyArray<{ readonly path: string; readonly mode: 'read' | 'write' }>
  /** Further files and folders that are readable. */
  readonly readable: readonly string[]
  /** Further files and folders that are writable. */
  readonly writable: readonly string[]
  /** Files and folders inside the roots that are visible but read-only. */
  readonly protect: readonly string[]
  /** Files and folders inside the roots that are not visible. */
  readonly hide: readonly string[]
  readonly limits: ProcessLimits
  /** The unix socket of the proxy, where the network is granted. */
  readonly proxySocket?: string
  /** The complete environment of a command, before the variables that its call adds. */
  readonly environment: Readonly<Record<string, string>>
  /** It may run one command after another, if it is at level full and has no network. */
  readonly isReusable?: boolean
}

/** A sandbox as a program to start; the words of the command follow `args`. */
export interface SandboxLaunch {
  readonly level: SandboxLevel
  /** Sandboxes with the same key are identical: a warm one serves any of them. */
  readonly key: string
  readonly file: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** The filter of system calls, and the descriptor from which the sandbox reads it. */
  readonly seccomp?: { readonly fd: number; readonly program: Uint8Array }
  /** A helper process that must run in the sandbox before the command starts: the bridge to the proxy. Prints a line when ready. */
  readonly helper?: readonly string[]
  /**
   * Mounts inside folders that commands can write: a running command could have replaced the source with a link while
   * this sandbox was created. They are checked in the sandbox's mount table before it gets its command.
   */
  readonly swappable?: readonly string[]
  /** Mounts that hide or protect something: the command runs only as long as all of them are in place. */
  readonly closed?: readonly string[]
  /** The command runs as root: the sandbox is started where the machine's devices and programs are read-only. */
  readonly hasPrivateMounts?: boolean
  /** Its supervisor can run one command after another; see `superviseScript`. */
  readonly isReusable?: boolean
  readonly limits: ProcessLimits
}

/** One step in building the root of a sandbox; `to` is a path in the sandbox. */
export type Mount =
  | { readonly kind: 'read' | 'write'; readonly from: string; readonly to: string }
  | { readonly kind: 'memory'; readonly to: string; readonly bytes: number; readonly mode: '0755' | '1777' }
  | { readonly kind: 'link'; readonly target: string; readonly to: string }
  /** An empty folder in which nothing can be created. */
  | { readonly kind: 'hideFolder'; readonly to: string }
  /** A file that nobody can open, not even root. */
  | { readonly kind: 'hideFile'; readonly to: string }

/** Identifies a sandbox by everything that it is started with. */
export function sandboxKey(
  sandbox: Pick<SandboxLaunch, 'level' | 'file' | 'args' | 'env' | 'helper' | 'hasPrivateMounts'>,
): string {
  const { level, file, args, env, helper } = sandbox
  const parts = [level, file, args, sortedVariables(env), helper]
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 22)
}

/** Names and values in the order of the names. Sorting the entries themselves would compare texts of both: 64 us for 40. */
export function sortedVariables(env: Readonly<Record<string, string>>): string[] {
  return Object.keys(env)
    .sort()
    .flatMap((name) => [name, env[name]!])
}

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
