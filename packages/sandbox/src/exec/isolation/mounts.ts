import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { ToolError } from '@tool-hub/core'
import { errnoOf } from '@tool-hub/core/lib'
import { privateFolder, statsIfThere } from '../../system/index.ts'
import { bridgeBinds, PROXY_SOCKET } from '../bridge/bridge.ts'
import { nodeFolder } from '../host/host.ts'
import { GIT_SHIM, SHIM_FOLDER } from './environment.ts'
import { canEnter, type Mount, SANDBOX_HOME, type SandboxSpec, type SandboxUser, sandboxUser } from './sandbox.ts'

/** Everything that is mounted in a sandbox, in the order in which it is mounted. */
export interface MountPlan {
  readonly user: SandboxUser
  /** Programs and libraries, read-only, and the few files of /etc that they need. */
  readonly system: readonly Mount[]
  readonly proc: ClosedProc
  /** Memory that a command can write to. */
  readonly memory: ReadonlyArray<Extract<Mount, { kind: 'memory' }>>
  readonly granted: GrantedMounts
  /** The proxy's socket, and what the bridge to it needs; empty without a network. */
  readonly proxy: ReadonlyArray<Extract<Mount, { kind: 'read' | 'write' }>>
}

/** The parts of /proc that are closed in a sandbox. */
export interface ClosedProc {
  /** The folder that is mounted read-only. */
  readonly readOnly: '/proc' | '/proc/sys'
  readonly hiddenFiles: readonly string[]
}

/** Decides what a sandbox shows, hides and protects. */
export function planMounts(spec: SandboxSpec): MountPlan {
  const user = sandboxUser(spec)
  return {
    user,
    proc: closedProc(spec.level, user),
    granted: grantedMounts(spec, user),
    system: systemMounts(user),
    memory: memoryMounts(spec.limits.memoryBytes),
    proxy: spec.proxySocket ? proxyMounts(spec.proxySocket) : [],
  }
}

const TOP_FOLDERS = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32']

/** Machine-wide settings, among them npm's, with its tokens. */
const SETTINGS_IN_USR = ['/usr/etc', '/usr/local/etc']

/** The system as every sandbox sees it. */
export function systemMounts(user: SandboxUser): Mount[] {
  // Looked up once: an installed system stays where it is.
  programs ??= findPrograms()
  const etc = etcFolder(user)
  return [
    ...programs,
    { kind: 'read', from: etc.path, to: '/etc' },
    ...etc.bound.map((path) => ({ kind: 'read', from: path, to: path }) as const),
  ]
}

let programs: readonly Mount[] | undefined

function findPrograms(): Mount[] {
  const mounts: Mount[] = [{ kind: 'read', from: '/usr', to: '/usr' }]
  for (const name of TOP_FOLDERS) {
    const mount = sameInSandbox(`/${name}`)
    if (mount) mounts.push(mount)
  }
  for (const path of SETTINGS_IN_USR) {
    const isFolder = lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true
    if (isFolder && readdirSync(path).length > 0) mounts.push({ kind: 'hideFolder', to: path })
  }
  return mounts
}

/** A link into /usr stays the same link; for any other link, its target is mounted in its place. */
function sameInSandbox(path: string): Mount | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (!stats) return undefined
  if (!stats.isSymbolicLink()) return { kind: 'read', from: path, to: path }
  if (!existsSync(path)) return undefined
  const real = realpathSync.native(path)
  return real.startsWith('/usr/')
    ? { kind: 'link', target: readlinkSync(path), to: path }
    : { kind: 'read', from: real, to: path }
}

/** Files that reveal something: `keys` lists the keys of the user, the timers name processes of others. */
const REVEALING_FILES = ['keys', 'timer_list', 'sched_debug', 'latency_stats', 'sysrq-trigger']

/** Looked up once: every mount costs each command some time. */
const revealing = new Map<boolean, readonly string[]>()

/**
 * Most of /proc outside the folders of processes belongs to the whole machine. Root may change it without any
 * capability: the mode of each file, and switches such as the program that the machine runs after a crash.
 * At level namespaces, a sandbox of another user writes its user map when it is complete: only /proc/sys is closed.
 */
function closedProc(level: SandboxSpec['level'], user: SandboxUser): ClosedProc {
  const isRoot = user.uid === 0
  const hiddenFiles = revealing.get(isRoot) ?? findRevealing(isRoot)
  revealing.set(isRoot, hiddenFiles)
  return { readOnly: level === 'full' || isRoot ? '/proc' : '/proc/sys', hiddenFiles }
}

function findRevealing(isRoot: boolean): string[] {
  const names = new Set(readdirSync('/proc'))
  const bit = isRoot ? 0o600 : 0o006
  const found = REVEALING_FILES.filter((name) => names.has(name) && (statSync(`/proc/${name}`).mode & bit) !== 0)
  return found.map((name) => `/proc/${name}`)
}

const SHARED_MEMORY_BYTES = 64 * 1024 ** 2

/** For temporary files, the home in /run, and memory that programs share. */
export function memoryMounts(memoryBytes: number): Array<Extract<Mount, { kind: 'memory' }>> {
  const bytes = Math.min(512 * 1024 ** 2, Math.max(1024 ** 2, Math.floor(memoryBytes / 4)))
  return [
    { kind: 'memory', to: '/tmp', bytes, mode: '1777' },
    { kind: 'memory', to: '/run', bytes, mode: '0755' },
    { kind: 'memory', to: '/dev/shm', bytes: Math.min(bytes, SHARED_MEMORY_BYTES), mode: '1777' },
  ]
}

function proxyMounts(socket: string): MountPlan['proxy'] {
  return [{ from: socket, to: PROXY_SOCKET }, ...bridgeBinds()].map((bind) => ({ kind: 'read', ...bind }))
}

/** The files of /etc that programs need and that contain neither secrets nor names of hosts and users. */
const WANTED =
  /^(ld\.so\.cache|ld\.so\.conf|ld\.so\.conf\.d|localtime|timezone|mime\.types|magic|magic\.mime|protocols|services|terminfo|fonts|xml|perl|os-release|debian_version|lsb-release|alpine-release|redhat-release|fedora-release|crypto-policies|java[-.\w]*|python[.\d]*)$/
const WANTED_BELOW = ['ssl/cert.pem', 'ssl/openssl.cnf', 'pki/tls/cert.pem', 'pki/tls/openssl.cnf']

/** Too large to copy: mounted as they are, into folders that are prepared for them. */
const BOUND = ['alternatives', 'ssl/certs', 'ca-certificates/extracted', 'pki/ca-trust/extracted', 'pki/tls/certs']

/**
 * The /etc of a sandbox: a folder with copies, created once, because one mount is much faster than one for every file;
 * and the folders that are mounted into it. It knows one user and no host except localhost.
 */
export function etcFolder(user: SandboxUser): { readonly path: string; readonly bound: readonly string[] } {
  const path = join(privateFolder(), `etc.${user.uid}.${user.gid}`)
  const bound = BOUND.map((name) => join('/etc', name)).filter((folder) => existsSync(folder))
  if (!existsSync(path)) fill(path, user, bound)
  return { path, bound }
}

function fill(path: string, user: SandboxUser, bound: readonly string[]): void {
  const draft = `${path}.draft`
  rmSync(draft, { recursive: true, force: true })
  makeFolder(draft)
  const names = readdirSync('/etc').filter((name) => WANTED.test(name))
  for (const name of [...names, ...WANTED_BELOW]) copy(join('/etc', name), join(draft, name))
  for (const [name, text] of Object.entries(ownFiles(user))) {
    writeFileSync(join(draft, name), text)
    chmodSync(join(draft, name), 0o444)
  }
  makeFolder(join(draft, SHIM_FOLDER.slice('/etc'.length)))
  writeFileSync(join(draft, SHIM_FOLDER.slice('/etc'.length), 'git'), GIT_SHIM)
  chmodSync(join(draft, SHIM_FOLDER.slice('/etc'.length), 'git'), 0o555)
  for (const folder of bound) makeFolder(join(draft, folder.slice('/etc'.length)))
  renameSync(draft, path)
}

/** Links stay links: they lead into /usr, or nowhere. */
function copy(from: string, to: string): void {
  if (!existsSync(from)) return
  makeFolder(dirname(to))
  try {
    cpSync(from, to, { recursive: true, verbatimSymlinks: true })
  } catch (error) {
    // What this user may not read, its commands may not read either; a partial copy is fine.
    if (errnoOf(error) !== 'EACCES') throw error
  }
}

/** Open to everybody regardless of the umask: a sandbox may run as another user than the hub. */
function makeFolder(path: string): void {
  if (existsSync(path)) return
  makeFolder(dirname(path))
  mkdirSync(path)
  chmodSync(path, 0o755)
}

function ownFiles({ uid, gid }: SandboxUser): Record<string, string> {
  const name = uid === 0 ? 'root' : 'user'
  const group = gid === 0 ? 'root' : 'user'
  const nobody = uid === 65534 ? '' : 'nobody:x:65534:65534::/nonexistent:/usr/sbin/nologin\n'
  return {
    passwd: `${name}:x:${uid}:${gid}::${SANDBOX_HOME}:/bin/bash\n${nobody}`,
    group: `${group}:x:${gid}:\n${gid === 65534 ? '' : 'nogroup:x:65534:\n'}`,
    'nsswitch.conf': 'passwd: files\ngroup: files\nshadow: files\nhosts: files\nservices: files\nprotocols: files\n',
    hosts: '127.0.0.1 localhost\n::1 localhost\n',
  }
}

/** The mounts that follow from what the owner grants. */
export interface GrantedMounts {
  /** Outermost first: a later mount covers an earlier one. */
  readonly mounts: readonly Mount[]
  /** Those inside a writable folder, where a running command could replace the source. */
  readonly inside: ReadonlySet<Mount>
  /** Paths of the mounts that hide or protect something. */
  readonly closed: readonly string[]
  /** Named, but not granted or closed: missing, a link, or out of reach for the sandbox's user. */
  readonly leftOut: ReadonlyArray<{ readonly path: string; readonly why: string }>
}

type Access = 'write' | 'read' | 'protect' | 'hide'

/** Computes the mounts. The deepest path decides; for the same path, the stricter access. */
export function grantedMounts(spec: SandboxSpec, user: SandboxUser): GrantedMounts {
  const accesses = accessByPath(spec)
  const leftOut: { path: string; why: string }[] = []
  const mounts = new Map<string, Mount>()
  const inside = new Set<Mount>()
  const closed: string[] = []
  const add = (mount: Mount, isInside: boolean) => {
    mounts.set(mount.to, mount)
    if (isInside) inside.add(mount)
  }
  for (const path of [...accesses.keys()].toSorted(byDepth)) {
    const access = accesses.get(path)!
    const parent = enclosingMount(mounts, path)
    const isClosing = access === 'protect' || access === 'hide'
    // Outside of every grant there is nothing to close, and in a read-only or hidden folder nothing to protect.
    if (isClosing && (!parent || parent.kind === 'hideFolder')) continue
    if (access === 'protect' && parent?.kind === 'read') continue
    const found = inspectOrRefuse(path, access, user)
    if ('why' in found) {
      leftOut.push({ path, why: found.why })
      continue
    }
    const isInside = parent?.kind === 'write'
    if (isInside) for (const pin of pinnedFolders(parent.to, path, mounts)) add(pin, true)
    add(mountFor(path, access, found.kind), isInside)
    if (isClosing) closed.push(path)
  }
  // A folder that was pinned late must still come before the paths that are closed in it.
  return { mounts: [...mounts.values()].toSorted((a, b) => byDepth(a.to, b.to)), inside, closed, leftOut }
}

function accessByPath(spec: SandboxSpec): Map<string, Access> {
  const accesses = new Map<string, Access>()
  const set = (paths: readonly string[], access: Access) => {
    for (const path of paths) accesses.set(path, access)
  }
  const rootsOf = (mode: 'read' | 'write') => spec.roots.filter((root) => root.mode === mode).map(({ path }) => path)
  const node = nodeFolder()
  if (node) {
    set([node], 'read')
    set([`${node}/etc`], 'hide')
  }
  set(spec.readable, 'read')
  set(rootsOf('read'), 'read')
  set(rootsOf('write'), 'write')
  set(spec.writable, 'write')
  for (const path of accesses.keys()) refuseSystemFolder(path)
  set(spec.protect, 'protect')
  set(spec.hide, 'hide')
  return accesses
}

const SYSTEM_FOLDERS = new Set('/ /usr /bin /sbin /lib /lib64 /etc /run /dev /proc /sys'.split(' '))
const KERNEL_FOLDER = /^\/(proc|sys|dev)\//

/** A workspace that is the system itself would undo the sandbox. */
function refuseSystemFolder(path: string): void {
  if (!SYSTEM_FOLDERS.has(path) && !KERNEL_FOLDER.test(path)) return
  throw new ToolError(
    'CONFIG_INVALID',
    `${path} is part of the system and cannot be granted to a sandbox as a whole.`,
    {
      hint: 'Name a folder below it in sandbox.roots, sandbox.commands.readable or sandbox.commands.writable.',
    },
  )
}

function byDepth(a: string, b: string): number {
  return a.split('/').length - b.split('/').length || (a < b ? -1 : 1)
}

function enclosingMount(mounts: ReadonlyMap<string, Mount>, path: string): Mount | undefined {
  for (let folder = dirname(path); folder !== '/'; folder = dirname(folder)) {
    const mount = mounts.get(folder)
    if (mount) return mount
  }
  return undefined
}

type Kind = 'folder' | 'file' | 'noHooks'
type Inspection = { readonly kind: Kind } | { readonly why: string }

/** A running command may have closed a folder along the path, and can open it again: then the content is unknown. */
function inspectOrRefuse(path: string, access: Access, user: SandboxUser): Inspection {
  try {
    return inspect(path, access, user)
  } catch (error) {
    if (errnoOf(error) !== 'EACCES') throw error
    throw new ToolError('SANDBOX_UNAVAILABLE', `${path} cannot be inspected: a folder above it is closed.`, {
      hint: 'End background commands that change its mode, or make it readable for the user of the hub.',
      cause: error,
    })
  }
}

/** What the path is, or why it is left out. */
function inspect(path: string, access: Access, user: SandboxUser): Inspection {
  const stats = statsIfThere(path)
  if (!stats) return isMissingHooks(path, access) ? { kind: 'noHooks' } : { why: 'does not exist' }
  if (stats.isSymbolicLink()) return { why: 'is a link' }
  // A folder along the path may be a link that a command created: its target was never granted.
  if (access !== 'hide' && realpathSync.native(path) !== path) return { why: 'leads through a link' }
  if (user.isOther && !canEnter(dirname(path), user)) return { why: `is out of reach for user ${user.uid}` }
  return { kind: stats.isDirectory() ? 'folder' : 'file' }
}

/** Git would run what a command puts there. An empty folder in its place does no harm; elsewhere it would be litter. */
function isMissingHooks(path: string, access: Access): boolean {
  if (access !== 'protect' || basename(path) !== 'hooks') return false
  const folder = dirname(path)
  return basename(folder) === '.git' && lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === true
}

function mountFor(path: string, access: Access, kind: Kind): Mount {
  if (kind === 'noHooks') return { kind: 'hideFolder', to: path }
  if (access === 'hide') return { kind: kind === 'folder' ? 'hideFolder' : 'hideFile', to: path }
  return { kind: access === 'write' ? 'write' : 'read', from: path, to: path }
}

/**
 * A mounted folder cannot be renamed, but the folders above it can, and another be put in their place: so they are
 * mounted over themselves. A mount that hides a file moves along with its folder in this sandbox, but the next sandbox
 * would look for the file under its old name, hide nothing there and show it under its new one.
 */
function pinnedFolders(writable: string, path: string, mounts: ReadonlyMap<string, Mount>): Mount[] {
  const found: Mount[] = []
  for (let folder = dirname(path); folder !== writable; folder = dirname(folder)) {
    if (!mounts.has(folder)) found.unshift({ kind: 'write', from: folder, to: folder })
  }
  return found
}
