import { ToolError } from '../../../core/errors.ts'
import { bridgeCommand, proxyEnvironment } from '../bridge/bridge.ts'
import { limitOptions } from '../host/limits.ts'
import { needProgram } from '../host/system-programs.ts'
import { type MountPlan, planMounts } from './mounts.ts'
import { type Mount, SANDBOX_HOME, type SandboxLaunch, type SandboxSpec, sandboxKey } from './sandbox.ts'
import { needsPrivateMounts, runAs } from './sandbox-user.ts'
import { seccompProgram } from './seccomp.ts'

/** The descriptor from which bubblewrap reads the filter: the first one after the standard streams. */
const SECCOMP_FD = 3

const ISOLATION = [
  ...['--unshare-user', '--disable-userns', '--unshare-all', '--die-with-parent', '--new-session'],
  ...['--cap-drop', 'ALL', '--hostname', 'sandbox'],
]

/** The strongest sandbox: bubblewrap, with a root of its own, a filter of system calls and limits. */
export function bubblewrapSandbox(spec: SandboxSpec): SandboxLaunch {
  const program = seccompProgram()
  if (!program) throw noFilter()
  const plan = planMounts(spec)
  const [file, ...args] = runAs(plan.user, bubblewrapWords(spec, plan))
  const sandbox = {
    level: 'full',
    file: file!,
    args,
    env: { ...spec.environment, ...(spec.proxySocket && proxyEnvironment()) },
    seccomp: { fd: SECCOMP_FD, program },
    ...(spec.proxySocket && { helper: bridgeCommand() }),
    swappable: [...plan.granted.inside].flatMap((mount) => ('from' in mount ? [mount.to] : [])),
    closed: plan.granted.closed,
    hasPrivateMounts: needsPrivateMounts(plan.user),
    limits: spec.limits,
  } as const
  return { ...sandbox, key: sandboxKey(sandbox) }
}

/** The complete bubblewrap command; the words of the sandboxed command follow it. Later mounts cover earlier ones. */
function bubblewrapWords(spec: SandboxSpec, { system, proc, memory, granted, proxy }: MountPlan): string[] {
  return [
    needProgram('bwrap', 'bubblewrap'),
    ...ISOLATION,
    ...system.flatMap(mountOptions),
    ...['--dev', '/dev', '--proc', '/proc'],
    ...proc.hiddenFiles.flatMap((path) => mountOptions({ kind: 'hideFile', to: path })),
    // Process 1 is bubblewrap itself: the links in its folder lead to files outside.
    ...mountOptions({ kind: 'hideFolder', to: '/proc/1' }),
    ...['--remount-ro', proc.readOnly],
    ...memory.flatMap(mountOptions),
    ...['--dir', SANDBOX_HOME],
    ...granted.mounts.flatMap(mountOptions),
    ...proxy.flatMap(mountOptions),
    // Both are memory without a limit, and nobody has to write there.
    ...['--remount-ro', '/dev', '--remount-ro', '/'],
    ...['--seccomp', String(SECCOMP_FD), '--'],
    // Runs inside, where processes are counted for this sandbox alone.
    ...[needProgram('prlimit', 'util-linux'), ...limitOptions(spec.limits), '--'],
  ]
}

function mountOptions(mount: Mount): string[] {
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
      // A device that the mount does not let anybody open; programs that walk folders skip devices.
      return ['--ro-bind', '/dev/null', mount.to]
  }
}

function noFilter(): ToolError {
  return new ToolError('SANDBOX_UNAVAILABLE', `There is no filter of system calls for ${process.arch} processors.`, {
    hint: 'Use a machine with an x64 or arm64 processor; here the sandbox is at most at level namespaces.',
  })
}
