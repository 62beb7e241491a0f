import { existsSync, readFileSync } from 'node:fs'

/** Reads a switch of the kernel; undefined where there is none of that name. */
export type ReadSwitch = (name: string) => string | undefined

/** What to do about a jail that does not start, from what it said and what the machine is set to. */
export function explainFailure(
  why: string,
  { readSwitch = fromProc, isContainer = inContainer() }: { readSwitch?: ReadSwitch; isContainer?: boolean } = {},
): string {
  const advice = adviceFor(why, readSwitch, isContainer)
  return advice ? `${why} ${advice}` : why
}

const NO_NAMESPACE = /uid map|new namespace|user namespace|unshare failed|clone\(\) failed|Operation not permitted/i
const NO_PROC = /mount proc|proc on|special device proc|wrong fs type.*proc/i

function adviceFor(why: string, readSwitch: ReadSwitch, isContainer: boolean): string | undefined {
  if (/Unknown option.*--disable-userns/.test(why)) return 'bubblewrap is older than 0.8: install a newer one.'
  if (isContainer && NO_PROC.test(why))
    return 'The container hides parts of /proc: start it with --security-opt systempaths=unconfined.'
  if (!NO_NAMESPACE.test(why)) return undefined
  if (readSwitch('kernel/unprivileged_userns_clone') === '0')
    return 'User namespaces are off: sysctl kernel.unprivileged_userns_clone=1.'
  if (readSwitch('user/max_user_namespaces') === '0')
    return 'User namespaces are off: sysctl user.max_user_namespaces=10000.'
  if (readSwitch('kernel/apparmor_restrict_unprivileged_userns') === '1')
    return 'AppArmor keeps programs from user namespaces: give bwrap a profile that allows userns, or sysctl kernel.apparmor_restrict_unprivileged_userns=0.'
  if (isContainer)
    return 'The container does not allow user namespaces: start it with --security-opt seccomp=unconfined --security-opt apparmor=unconfined, or a profile that allows unshare and mount.'
  return 'The kernel or a security module refuses user namespaces here.'
}

function fromProc(name: string): string | undefined {
  try {
    return readFileSync(`/proc/sys/${name}`, 'utf8').trim()
  } catch {
    // Not on this kernel.
    return undefined
  }
}

function inContainer(): boolean {
  return existsSync('/.dockerenv') || existsSync('/run/.containerenv') || process.env.container !== undefined
}
