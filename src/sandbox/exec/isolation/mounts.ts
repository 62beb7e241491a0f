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
import { dirname, join } from 'node:path'
import { errnoOf } from '../../../lib/index.ts'
import { bridgeBinds, PROXY_SOCKET } from '../bridge/bridge.ts'
import { privateFolder } from '../host/host.ts'
import { GIT_SHIM, SHIM_FOLDER } from './environment.ts'
import { type GrantedMounts, grantedMounts } from './granted-mounts.ts'
import { type Mount, SANDBOX_HOME, type SandboxSpec, type SandboxUser, sandboxUser } from './sandbox.ts'

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
