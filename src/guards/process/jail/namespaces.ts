import { bridgeBinds, bridgeCompanion, PROXY_SOCKET, proxyEnvironment } from '../bridge/bridge.ts'
import { closedInProc } from './closed-in-proc.ts'
import { findProgram, needProgram } from './find-program.ts'
import { type Grants, grantedMounts } from './granted-mounts.ts'
import type { Jail, JailSpec } from './jail.ts'
import { JAIL_HOME } from './jail-home.ts'
import { jailKey } from './jail-key.ts'
import { type JailOwner, jailOwner } from './jail-owner.ts'
import { limitOptions } from './limits.ts'
import type { Mount } from './mount.ts'
import { NAMESPACES_SCRIPT } from './namespaces-script.ts'
import { needsPrivateMounts } from './private-mounts.ts'
import { runAs } from './run-as.ts'
import { memoryMounts, systemMounts } from './system-mounts.ts'

/** A jail of the programs of util-linux: a root of its own like bubblewrap's, but no filter of system calls. */
export function namespacesJail(spec: JailSpec): Jail {
  const owner = jailOwner(spec)
  const grants = grantedMounts(spec, owner)
  const words = [
    ...unshare(),
    ...['/bin/sh', '-c', NAMESPACES_SCRIPT, 'jail', base(spec)],
    ...outside(spec, owner, grants),
    ...['enter', owner.uid === 0 ? '0' : '1'],
    ...inside(owner, [
      ...systemMounts(owner).filter(isHiding),
      ...grants.mounts.filter((mount) => !isOutside(mount, grants)),
    ]),
    '--',
    ...command(spec, owner),
  ]
  const [file, ...args] = runAs(owner, words)
  const jail = {
    level: 'namespaces',
    file: file!,
    args,
    env: { ...spec.environment, ...(spec.proxySocket && proxyEnvironment()) },
    ...(spec.proxySocket && { companion: bridgeCompanion() }),
    closed: grants.closed,
    hasPrivateMounts: needsPrivateMounts(owner),
    limits: spec.limits,
  } as const
  return { ...jail, key: jailKey(jail) }
}

/** All of it dies with whoever started it: first `unshare`, by its death signal, then its only child. */
function unshare(): string[] {
  return [
    ...[needProgram('setpriv', 'util-linux'), '--pdeathsig', 'KILL', '--'],
    ...[needProgram('unshare', 'util-linux'), '--user', '--map-root-user', '--mount', '--propagation', 'private'],
    ...['--pid', '--fork', '--kill-child=KILL', '--net', '--ipc', '--uts', '--cgroup'],
    '--',
  ]
}

/** The command is its own user again, in one more user namespace unless that is root, with no capability in either. */
function command(spec: JailSpec, { uid, gid }: JailOwner): string[] {
  const unshare = [needProgram('unshare', 'util-linux'), '--user', `--map-user=${uid}`, `--map-group=${gid}`]
  return [
    // A process group reaches over the borders of process spaces: `kill 0` would end the hub.
    needProgram('setsid', 'util-linux'),
    ...(uid === 0 ? [] : [...unshare, '--keep-caps', '--']),
    ...[needProgram('setpriv', 'util-linux'), '--inh-caps=-all', '--ambient-caps=-all', '--bounding-set=-all'],
    ...['--no-new-privs', '--'],
    ...[needProgram('prlimit', 'util-linux'), ...limitOptions(spec.limits), '--'],
  ]
}

function outside(spec: JailSpec, owner: JailOwner, grants: Grants): string[] {
  const mounts = [...systemMounts(owner), ...memoryMounts(spec.limits.memoryBytes)]
  const granted = grants.mounts.filter((mount) => isOutside(mount, grants))
  return [
    ...mounts.flatMap(toSteps),
    ...['folder', JAIL_HOME],
    ...granted.flatMap(toSteps),
    ...(spec.proxySocket ? proxySteps(spec.proxySocket) : []),
  ]
}

function inside(owner: JailOwner, mounts: readonly Mount[]): string[] {
  const closed = closedInProc('namespaces', owner)
  return [
    ...closed.hidden.flatMap((path) => ['hideFile', path]),
    ...(closed.readOnly === '/proc' ? ['closeProc'] : ['close', closed.readOnly]),
    ...mounts.flatMap(toInnerSteps),
  ]
}

/** What hides is made inside as well: nothing outside is needed for it. */
function isOutside(mount: Mount, grants: Grants): boolean {
  return 'from' in mount && !grants.inside.has(mount)
}

function isHiding(mount: Mount): boolean {
  return mount.kind === 'hideFile' || mount.kind === 'hideFolder'
}

function toSteps(mount: Mount): string[] {
  switch (mount.kind) {
    case 'read':
      return ['bind', 'ro', mount.from, mount.to]
    case 'write':
      return ['bind', 'rw', mount.from, mount.to]
    case 'memory':
      return ['memory', String(mount.bytes), mount.mode, mount.to]
    case 'link':
      return ['link', mount.target, mount.to]
    default:
      return []
  }
}

function toInnerSteps(mount: Mount): string[] {
  switch (mount.kind) {
    case 'read':
      return ['close', mount.to]
    case 'write':
      return ['keep', mount.to]
    case 'hideFile':
    case 'hideFolder':
      return [mount.kind, mount.to]
    default:
      return []
  }
}

function proxySteps(socket: string): string[] {
  const binds = [{ from: socket, to: PROXY_SOCKET }, ...bridgeBinds()]
  return [
    ...['ip', findProgram('ip') ?? needProgram('ip', 'iproute2')],
    ...binds.flatMap(({ from, to }) => ['bind', 'ro', from, to]),
  ]
}

/** A folder of the system to build on; what lies below it is out of sight then, so it must hold nothing we need. */
function base(spec: JailSpec): string {
  const sources = [...spec.roots.map((root) => root.path), ...spec.readable, ...spec.writable]
  const free = ['/mnt', '/media', '/srv', '/opt'].find(
    (folder) => !sources.some((path) => path === folder || path.startsWith(`${folder}/`)),
  )
  return free ?? '/mnt'
}
