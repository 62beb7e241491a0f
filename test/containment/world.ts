import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'

/** Who runs a hub and its attempts. */
export interface Person {
  readonly uid: number
  readonly gid: number
}

/** A folder with a workspace, and a machine around it where something is to be stolen everywhere. */
export interface World {
  readonly name: string
  readonly base: string
  readonly root: string
  readonly secondRoot: string
  /** Everything that is planted, by where it is. */
  readonly secrets: Readonly<Record<string, string>>
  /** What an attacker would know. */
  readonly facts: Readonly<Record<string, unknown>>
  /** Makes a folder in it for its user. */
  own(folder: string, person: Person): void
  /** What is not as it was outside. */
  harm(): string[]
  remove(): Promise<void>
}

const PLACES = [
  ...[
    'file',
    'home',
    'dotenv',
    'key',
    'deep',
    'moving',
    'closing',
    'late',
    'session',
    'configured',
    'known',
    'environment',
  ],
  ...['memory', 'socket', 'abstract', 'tcp', 'udp', 'unlinked', 'systemv', 'queue', 'shared'],
]

/** The Python that sandboxes find as well. */
export const PYTHON = ['/usr/local/bin/python3', '/usr/bin/python3'].find((path) => existsSync(path)) ?? 'python3'
export const KEY_NAME = 'tool-hub-planted-key'

/** Makes a world for a user; the test itself may be root. */
export async function makeWorld(person: Person, limits: object): Promise<World> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'tool-hub-containment-')))
  const name = basename(base)
  const [root, secondRoot] = [join(base, 'workspace'), join(base, 'parent/second')]
  const secrets = Object.fromEntries(
    PLACES.map((place) => [place, `planted-${place}-${randomBytes(12).toString('hex')}`]),
  )
  for (const [path, content] of Object.entries(filesOf(secrets))) write(join(base, path), content)
  copyInto(join(root, 'attempts'), ['attempts', 'inside'])
  copyInto(join(base, 'machine'), ['outside'])
  for (const folder of [secondRoot, join(base, 'tmp')]) mkdirSync(folder, { recursive: true })
  chmodSync(base, 0o755)
  giveTo(base, person)
  const planted = plantForRoot(root, person)
  const machine = machineFiles()
  const outside = spawn(PYTHON, [join(base, 'machine/outside.py'), base], {
    ...person,
    cwd: join(base, 'outside'),
    env: { OUTSIDE_SECRETS: JSON.stringify(secrets) },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const told = JSON.parse(await firstLine(outside)) as { victimPid: number; outsidePid: number }
  const places = { root, secondRoot, secretFile: join(base, 'outside/secret'), home: join(base, 'home') }
  return {
    ...{ name, base, root, secondRoot, secrets },
    facts: { name, ...places, ...told, ...planted, keyName: KEY_NAME, limits },
    own(folder, { uid, gid }) {
      mkdirSync(folder, { recursive: true })
      lchownSync(folder, uid, gid)
    },
    harm: () => [
      ...[told.victimPid, told.outsidePid]
        .filter((pid) => !existsSync(`/proc/${pid}/exe`))
        .map((pid) => `${pid} is gone`),
      ...Object.entries(filesOf(secrets)).flatMap(([path, content]) => changeOf(join(base, path), content)),
      ...[...machine].filter(([path, state]) => stateOf(path) !== state).map(([path]) => `${path} was changed`),
      ...readdirSync(join(base, 'outside')).filter((name) => !['secret', 'changeable', 'socket'].includes(name)),
    ],
    async remove() {
      const ended = outside.exitCode === null && outside.signalCode === null ? once(outside, 'close') : undefined
      outside.stdin!.end()
      await ended
      rmSync(base, { recursive: true, force: true, maxRetries: 5 })
      for (const folder of ['/tmp', '/dev/shm']) rmSync(join(folder, `containment-neighbour-${name}`), { force: true })
    },
  }
}

/** Writes what an attacker would know where attempts find it, for Python and for bash. */
export function writeFacts({ root }: World, facts: Readonly<Record<string, unknown>>, { uid, gid }: Person): void {
  const lines = Object.entries(facts)
    .filter(([, value]) => typeof value === 'string' || typeof value === 'number')
    .map(([name, value]) => `${name}='${value}'\n`)
  for (const [name, text] of [['facts.json', JSON.stringify(facts)] as const, ['facts.sh', lines.join('')] as const]) {
    writeFileSync(join(root, 'attempts', name), text)
    lchownSync(join(root, 'attempts', name), uid, gid)
  }
}

function changeOf(path: string, content: string): string[] {
  if (path.includes('/moving/')) return []
  if (!existsSync(path)) return [`${path} is gone`]
  return readFileSync(path, 'utf8') === content ? [] : [`${path} was changed`]
}

/** Files of the machine that every sandbox shows or is made with, and the state of each. */
function machineFiles(): Map<string, string> {
  const devices = ['null', 'zero', 'full', 'random', 'urandom', 'tty'].map((name) => `/dev/${name}`)
  const programs = ['bwrap', 'unshare', 'setpriv', 'prlimit', 'bash', 'sh', 'env'].map((name) => `/usr/bin/${name}`)
  const settings = ['/etc', '/etc/passwd', '/etc/ssl/certs', '/proc/uptime', '/proc/sys/kernel/core_pattern']
  const paths = [...devices, ...programs, ...settings, process.execPath, PYTHON].filter((path) => existsSync(path))
  return new Map(paths.map((path) => [path, stateOf(path)]))
}

/** Whatever is changed of a file changes its time of change too; files of the kernel have none. */
function stateOf(path: string): string {
  const { mode, uid, gid, mtimeMs, ctimeMs } = statSync(path)
  return [mode, uid, gid, ...(path === '/dev/tty' || path.startsWith('/proc/') ? [] : [mtimeMs, ctimeMs])].join()
}

function filesOf(secrets: Readonly<Record<string, string>>): Record<string, string> {
  return {
    'outside/secret': `${secrets.file}\n`,
    'outside/changeable': 'as it was\n',
    'home/.ssh/id_ed25519': `${secrets.home}\n`,
    'home/.aws/credentials': `aws_secret_access_key = ${secrets.home}\n`,
    'parent/beside': '',
    'workspace/.env': `TOKEN=${secrets.dotenv}\n`,
    'workspace/key.pem': `${secrets.key}\n`,
    'workspace/deep/down/.env': `TOKEN=${secrets.deep}\n`,
    'workspace/moving/first/.env': `TOKEN=${secrets.moving}\n`,
    'workspace/closing/.env': `TOKEN=${secrets.closing}\n`,
    'workspace/closing/.vscode/settings.json': '{}\n',
    'workspace/.git/HEAD': 'ref: refs/heads/main\n',
    'workspace/.git/config': '[core]\n\trepositoryformatversion = 0\n',
    'workspace/.git/objects/info/packs': '\n',
    'workspace/.git/refs/heads/none': '',
    'workspace/.git/hooks/pre-commit': '#!/bin/sh\n',
    'workspace/.vscode/settings.json': '{}\n',
    'workspace/tool-hub.yaml': 'version: 1\n',
    'workspace/guarded/rules': 'mine\n',
    'workspace/work/readme': '',
  }
}

function write(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
}

function copyInto(target: string, folders: readonly string[]): void {
  mkdirSync(target, { recursive: true })
  for (const folder of folders) {
    const source = join(import.meta.dirname, folder)
    for (const file of readdirSync(source)) copyFileSync(join(source, file), join(target, file))
  }
}

function giveTo(folder: string, { uid, gid }: Person): void {
  lchownSync(folder, uid, gid)
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    lchownSync(join(folder, name), uid, gid)
}

/** What only root can put into a workspace: a program that makes another user of who runs it, and a device. */
function plantForRoot(root: string, { uid, gid }: Person): { setuidProgram?: string; device?: string } {
  if (process.getuid?.() !== 0) return {}
  const other = uid === 0 ? 65534 : 0
  const [setuidProgram, device] = [join(root, 'setuid-id'), join(root, 'device')]
  copyFileSync('/usr/bin/id', setuidProgram)
  lchownSync(setuidProgram, other, other)
  chmodSync(setuidProgram, 0o4755)
  execFileSync('mknod', [device, 'c', '1', '5'])
  lchownSync(device, uid, gid)
  return { setuidProgram, device }
}

async function firstLine(child: ChildProcess): Promise<string> {
  const lines = createInterface({ input: child.stdout! })
  for await (const line of lines) return line
  throw new Error('The processes outside did not start.')
}
