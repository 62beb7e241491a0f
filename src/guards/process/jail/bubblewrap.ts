import { ToolError } from '../../../errors.ts'
import { bridgeBinds, bridgeCompanion, PROXY_SOCKET, proxyEnvironment } from '../bridge/bridge.ts'
import { closedInProc } from './closed-in-proc.ts'
import { needProgram } from './find-program.ts'
import { grantedMounts } from './granted-mounts.ts'
import type { Jail, JailSpec } from './jail.ts'
import { JAIL_HOME } from './jail-home.ts'
import { jailKey } from './jail-key.ts'
import { jailOwner } from './jail-owner.ts'
import { limitOptions } from './limits.ts'
import type { Mount } from './mount.ts'
import { needsPrivateMounts } from './private-mounts.ts'
import { runAs } from './run-as.ts'
import { seccompProgram } from './seccomp.ts'
import { memoryMounts, systemMounts } from './system-mounts.ts'

/** Where bubblewrap reads the filter; the first descriptor after the standard ones. */
const SECCOMP_FD = 3

const ISOLATION = [
  ...['--unshare-user', '--disable-userns', '--unshare-all', '--die-with-parent', '--new-session'],
  ...['--cap-drop', 'ALL', '--hostname', 'sandbox'],
]

/** The strongest jail: bubblewrap, with a root of its own, a filter of system calls and limits. */
export function bubblewrapJail(spec: JailSpec): Jail {
  const program = seccompProgram()
  if (!program) throw noFilter()
  const owner = jailOwner(spec)
  const closed = closedInProc('full', owner)
  const grants = grantedMounts(spec, owner)
  const words = [
    needProgram('bwrap', 'bubblewrap'),
    ...ISOLATION,
    ...systemMounts(owner).flatMap(toOptions),
    ...['--dev', '/dev', '--proc', '/proc'],
    ...closed.hidden.flatMap((path) => toOptions({ kind: 'hideFile', to: path })),
    // Process 1 is bubblewrap: the links in its folder lead to files outside.
    ...toOptions({ kind: 'hideFolder', to: '/proc/1' }),
    ...['--remount-ro', closed.readOnly],
    ...memoryMounts(spec.limits.memoryBytes).flatMap(toOptions),
    ...['--dir', JAIL_HOME],
    ...grants.mounts.flatMap(toOptions),
    ...(spec.proxySocket ? proxyOptions(spec.proxySocket) : []),
    // These are memory without a bound, and nobody has to write there.
    ...['--remount-ro', '/dev', '--remount-ro', '/'],
    ...['--seccomp', String(SECCOMP_FD), '--'],
    // Inside, because there the number of processes is counted for this jail alone.
    ...[needProgram('prlimit', 'util-linux'), ...limitOptions(spec.limits), '--'],
  ]
  const [file, ...args] = runAs(owner, words)
  const jail = {
    level: 'full',
    file: file!,
    args,
    env: { ...spec.environment, ...(spec.proxySocket && proxyEnvironment()) },
    seccomp: { fd: SECCOMP_FD, program },
    ...(spec.proxySocket && { companion: bridgeCompanion() }),
    swappable: [...grants.inside].flatMap((mount) => ('from' in mount ? [mount.to] : [])),
    closed: grants.closed,
    hasPrivateMounts: needsPrivateMounts(owner),
    limits: spec.limits,
  } as const
  return { ...jail, key: jailKey(jail) }
}

function toOptions(mount: Mount): string[] {
  switch (mount.kind) {
    case 'read':
      return ['--ro-bind', mount.from, mount.to]
    case 'write':
      return ['--bind', mount.from, mount.to]
    case 'memory':
      return ['--perms', mount.mode, '--size', String(mount.bytes), '--tmpfs', mount.to]
    case 'link':
      return ['--symlink', mount.target, mount.to]
    case 'hideFolder':
      return ['--size', '4096', '--tmpfs', mount.to, '--remount-ro', mount.to]
    case 'hideFile':
      // A device that the mount does not let anybody open; programs that walk folders leave devices alone.
      return ['--ro-bind', '/dev/null', mount.to]
  }
}

function proxyOptions(socket: string): string[] {
  const binds = [{ from: socket, to: PROXY_SOCKET }, ...bridgeBinds()]
  return binds.flatMap(({ from, to }) => ['--ro-bind', from, to])
}

function noFilter(): ToolError {
  return new ToolError('SANDBOX_UNAVAILABLE', `There is no filter of system calls for ${process.arch} processors.`, {
    hint: 'Use a machine with an x64 or arm64 processor; here the sandbox is at most at level namespaces.',
  })
}
