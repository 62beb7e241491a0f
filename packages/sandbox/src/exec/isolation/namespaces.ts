import { limitOptions, needProgram } from '../host/host.ts'
import type { GrantedMounts, MountPlan } from './mounts.ts'
import { type Mount, SANDBOX_HOME, type SandboxSpec, type SandboxUser } from './sandbox.ts'

/**
 * The complete command that builds a sandbox with the programs of util-linux; the words of the sandboxed command follow
 * it. The sandbox has a root of its own as with bubblewrap, but no filter of system calls.
 */
export function namespacesWords(spec: SandboxSpec, plan: MountPlan): string[] {
  return [
    ...unshareWords(),
    ...['/bin/sh', '-c', NAMESPACES_SCRIPT, 'sandbox', baseFolder(spec)],
    ...outerSteps(plan),
    ...['enter', plan.user.uid === 0 ? '0' : '1'],
    ...innerSteps(plan),
    '--',
    ...commandPrefix(spec, plan.user),
  ]
}

/** Everything dies with the process that started it: first `unshare`, by its death signal, then its only child. */
function unshareWords(): string[] {
  return [
    ...[needProgram('setpriv', 'util-linux'), '--pdeathsig', 'KILL', '--'],
    ...[needProgram('unshare', 'util-linux'), '--user', '--map-root-user', '--mount', '--propagation', 'private'],
    ...['--pid', '--fork', '--kill-child=KILL', '--net', '--ipc', '--uts', '--cgroup'],
    '--',
  ]
}

/** The command runs as its own user again, in another user namespace unless that user is root, with no capability in either. */
function commandPrefix(spec: SandboxSpec, { uid, gid }: SandboxUser): string[] {
  const unshare = [needProgram('unshare', 'util-linux'), '--user', `--map-user=${uid}`, `--map-group=${gid}`]
  return [
    // A process group crosses the borders of process namespaces: `kill 0` would end the hub.
    needProgram('setsid', 'util-linux'),
    ...(uid === 0 ? [] : [...unshare, '--keep-caps', '--']),
    ...[needProgram('setpriv', 'util-linux'), '--inh-caps=-all', '--ambient-caps=-all', '--bounding-set=-all'],
    ...['--no-new-privs', '--'],
    ...[needProgram('prlimit', 'util-linux'), ...limitOptions(spec.limits), '--'],
  ]
}

/** The steps before the new root is entered, for which files outside are needed. */
function outerSteps({ system, memory, granted, proxy }: MountPlan): string[] {
  return [
    ...[...system, ...memory].flatMap(outerStep),
    ...['folder', SANDBOX_HOME],
    ...granted.mounts.filter((mount) => isOuter(mount, granted)).flatMap(outerStep),
    ...(proxy.length > 0 ? ['ip', needProgram('ip', 'iproute2')] : []),
    ...proxy.flatMap(outerStep),
  ]
}

/** The steps after the new root is entered. */
function innerSteps({ system, proc, granted }: MountPlan): string[] {
  const mounts = [
    ...system.filter(({ kind }) => kind === 'hideFile' || kind === 'hideFolder'),
    ...granted.mounts.filter((mount) => !isOuter(mount, granted)),
  ]
  return [
    ...proc.hiddenFiles.flatMap((path) => ['hideFile', path]),
    ...(proc.readOnly === '/proc' ? ['closeProc'] : ['close', proc.readOnly]),
    ...mounts.flatMap(innerStep),
  ]
}

/** Mounts that hide something are made inside as well: they need nothing from outside. */
function isOuter(mount: Mount, granted: GrantedMounts): boolean {
  return 'from' in mount && !granted.inside.has(mount)
}

function outerStep(mount: Mount): string[] {
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

function innerStep(mount: Mount): string[] {
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

/** A system folder to build the root on. Whatever lies below it is covered then, so it must not contain anything needed. */
function baseFolder(spec: SandboxSpec): string {
  const sources = [...spec.roots.map((root) => root.path), ...spec.readable, ...spec.writable]
  const free = ['/mnt', '/media', '/srv', '/opt'].find(
    (folder) => !sources.some((path) => path === folder || path.startsWith(`${folder}/`)),
  )
  return free ?? '/mnt'
}

/**
 * Builds the root of a sandbox with the programs of util-linux, then becomes the command. It runs as root of its own
 * user, mount, process and network namespaces. A constant: paths and words are parameters, never text of the script.
 *
 * BASE, then steps, then `--` and the words that follow: `ip PATH` | `folder TO` | `link TARGET TO` |
 * `memory BYTES MODE TO` | `bind ro|rw FROM TO` | `enter NAMESPACES` | `closeProc` | `close TO` | `keep TO` |
 * `hideFile TO` | `hideFolder TO`.
 * Before `enter`, TO is below BASE. After it, only what the sandbox shows is left, so a link that a command created
 * leads to nothing that it could not see anyway.
 */
const NAMESPACES_SCRIPT = `
set -eu
umask 022
path=$PATH
PATH=/usr/sbin:/usr/bin:/sbin:/bin
here=$PWD
base=$1
shift

# Sets the flags of a mount and of all below it; FLAGS is "ro," or "".
seal() {
  while read -r _ _ _ _ point options _; do
    case $point in *\\\\*) point=$(printf '%b.' "$point"); point=\${point%.} ;; esac
    case $point in "$1" | "$1"/*) ;; *) continue ;; esac
    flags=$2
    case ,$options, in *,ro,*) flags=ro, ;; esac
    case ,$options, in *,noexec,*) flags=\${flags}noexec, ;; esac
    mount -n -i -c -o "remount,bind,\${flags}nosuid,nodev" none "$point"
  done </proc/self/mountinfo
}
place() {
  [ -e "$2" ] && return
  if [ -d "$1" ]; then mkdir -p "$2"; else mkdir -p "\${2%/*}"; : >"$2"; fi
}
bind() { mount -n -i -c --rbind "$1" "$2"; }
# The fast way is for what has no other mounts in it and no flags of its own.
bind_sealed() {
  mount -n -i -c --bind -o "$3nosuid,nodev" "$1" "$2" 2>/dev/null && return
  umount -n "$2" 2>/dev/null || :
  bind "$1" "$2"
  seal "$2" "$3"
}
memory() { mount -n -i -c -t tmpfs -o "size=$1,mode=$2,nosuid,nodev" tmpfs "$3"; }

memory 1m 0755 "$base"
mkdir "$base/dev" "$base/proc"
mount -n -i -c -t tmpfs -o size=64k,mode=0755,nosuid,noexec tmpfs "$base/dev"
for device in null zero full random urandom tty; do
  : >"$base/dev/$device"
  bind "/dev/$device" "$base/dev/$device"
done
mkdir "$base/dev/pts" "$base/dev/shm"
mount -n -i -c -t devpts -o newinstance,ptmxmode=0666,mode=620,nosuid,noexec devpts "$base/dev/pts"
ln -s pts/ptmx "$base/dev/ptmx"
cp -P /dev/fd /dev/stdin /dev/stdout /dev/stderr "$base/dev/"
mount -n -i -c -t proc -o nosuid,nodev,noexec proc "$base/proc"
hostname sandbox 2>/dev/null || echo sandbox >/proc/sys/kernel/hostname || :

while [ "$1" != -- ]; do
  case $1 in
  ip) "$2" link set lo up; shift 2 ;;
  folder) mkdir -p "$base$2"; shift 2 ;;
  link) mkdir -p "$base\${3%/*}"; ln -s "$2" "$base$3"; shift 3 ;;
  memory) mkdir -p "$base$4"; memory "$2" "$3" "$base$4"; shift 4 ;;
  bind)
    place "$3" "$base$4"
    if [ "$2" = ro ]; then bind_sealed "$3" "$base$4" ro,; else bind_sealed "$3" "$base$4" ''; fi
    shift 4
    ;;
  enter)
    mkdir "$base/.old"
    cd "$base"
    pivot_root . .old
    cd /
    umount -n -l /.old
    rmdir /.old
    base=
    # How many user namespaces the command itself is made with, and none after it.
    echo "$2" >/proc/sys/user/max_user_namespaces
    shift 2
    ;;
  closeProc) mount -n -i -c -o remount,bind,ro,nosuid,nodev,noexec none /proc; shift ;;
  close) bind_sealed "$2" "$2" ro,; shift 2 ;;
  keep) bind "$2" "$2"; shift 2 ;;
  hideFile) bind_sealed /dev/null "$2" ro,; shift 2 ;;
  hideFolder) [ -e "$2" ] || mkdir "$2"; memory 4k 0755 "$2"; seal "$2" ro,; shift 2 ;;
  *) exit 64 ;;
  esac
done
shift
mount -n -i -c -o remount,bind,ro,nosuid,noexec none /dev
mount -n -i -c -o remount,bind,ro,nosuid,nodev none /
cd "$here" 2>/dev/null || cd /
PATH=$path
exec "$@"
`
