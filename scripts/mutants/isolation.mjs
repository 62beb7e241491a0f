import { spawnSync } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** The checkout that these scripts belong to, which is not always the tree whose tests run. */
const CHECKOUT = resolve(import.meta.dirname, '../..')

/**
 * Runs `"$@"` in the copy `$1` of the tree `$2`, with the installed packages `$3` and the checkout `$4`, any of which
 * may lie below `/tmp`, `/run` or `/dev/shm`. Every file system is read-only, also the copy, except its `t` (which is `/tmp` too) and its
 * `node_modules`, into which a run puts modules of its own. `/run` and `/dev/shm` are private. Cgroups stay: commands
 * get some.
 */
const READ_ONLY = `
set -euf
copy=$1 tree=$2 packages=$3 checkout=$4
shift 4
# What is below /tmp, /run or /dev/shm is hidden soon.
exec 6< "$checkout" 7< "$packages" 8< "$copy" 9< "$tree"
mount -t tmpfs -o mode=1777 tmpfs /dev/shm
mount -t tmpfs -o mode=755 tmpfs /run
for point in $(cut -d ' ' -f 5 /proc/self/mountinfo); do
  point=$(printf %b "$point")
  case $point in /proc | /proc/* | /run | /dev/shm | /dev/pts | /sys/fs/cgroup*) continue ;; esac
  # One below another cannot be reached, neither by this nor by a test.
  mount -o remount,bind,ro "$point" 2> /dev/null || true
  if [ -d "$point" ] || [ -f "$point" ]; then
    [ ! -w "$point" ] || { echo "$point stays writable" >&2; exit 1; }
  fi
done
# Without -c, mount takes the name that a descriptor had.
writable() { mount -c --bind "$1" "$2" && mount -o remount,bind,rw "$2"; }
shown() {
  case $2 in /tmp/* | /run/* | /dev/shm/*) ;; *) return 0 ;; esac
  mkdir -p "$2" && mount -c --bind "$1" "$2" && mount -o remount,bind,ro "$2"
}
writable /proc/self/fd/8/t /tmp
shown /proc/self/fd/6 "$checkout"
shown /proc/self/fd/9 "$tree"
shown /proc/self/fd/7 "$packages"
shown /proc/self/fd/8 "$copy"
exec 6<&- 7<&- 8<&- 9<&-
cd "$copy"
writable t "$copy/t"
writable node_modules "$copy/node_modules"
# Not exec: the first process of a namespace must collect what others leave behind, and Node does not.
"$@" || exit $?
`

/**
 * How a test run is started in the copy of the tree. A mutant may do anything, so as root it gets processes and mounts of
 * its own and can change nothing but the copy.
 */
export function isolatedCommand(copy, command, tree = process.cwd()) {
  if (!isRoot()) return { command, temporary: `${copy}/t` }
  const folders = [copy, tree, realpathSync(join(tree, 'node_modules')), CHECKOUT]
  const namespaces = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child']
  return { command: [...namespaces, 'sh', '-c', READ_ONLY, 'sh', ...folders, ...command], temporary: '/tmp' }
}

/** Why test runs must not be started here; `undefined` if they may. */
export function whyNotIsolated(copy) {
  if (!isRoot()) return undefined
  const [file, ...args] = isolatedCommand(copy, ['sh', '-c', '[ ! -w / ] && [ -w /tmp ] && [ -w t ]']).command
  const { status, error, stderr } = spawnSync(file, args, { encoding: 'utf8' })
  if (status === 0) return undefined
  return error?.message ?? (stderr.trim() || `${file} ends with ${status}`)
}

function isRoot() {
  return process.getuid?.() === 0
}
