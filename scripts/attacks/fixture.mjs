// The folders of one case of paths.jsonl, and what is to be found in them afterwards.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'

const MAX_BYTES_TO_HASH = 10_000_000
const SPARSE_BYTES = 1024 ** 4

/** Builds {ROOT}, {OUT} and the look-alikes of {ROOT} in a new folder, with what the case sets up. */
export async function buildFixture({ setup = [], race = false }) {
  // A race in memory where there is such a disk: 10,000 tries are not to wait for fsync.
  const disk = race && existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
  const base = realpathSync(mkdtempSync(path.join(disk, 'tool-hub-attack-')))
  const root = path.join(base, 'ws')
  const out = path.join(base, 'out')
  const closers = []
  const fill = (text) => text.replaceAll('{ROOT}', root).replaceAll('{OUT}', out)
  for (const folder of [`${root}/a/b`, `${root}/empty`, `${out}/dir`, `${root}-evil`, `${root}evil`]) {
    mkdirSync(folder, { recursive: true })
  }
  for (const file of [`${root}/f.txt`, `${root}/a/b/c.txt`]) writeFileSync(file, 'in')
  for (const file of ['out/secret.txt', 'out/dir/x.txt', 'ws-evil/secret.txt', 'wsevil/secret.txt']) {
    writeFileSync(path.join(base, file), 'SECRET')
  }
  for (const entry of setup) await addEntry(root, deepFill(entry, fill), closers)

  return {
    base,
    root,
    out,
    /** Puts the real folders where a case says {ROOT} and {OUT}. */
    fill: (value) => deepFill(value, fill),
    remove() {
      for (const close of closers) close()
      rmSync(base, { recursive: true, force: true })
    },
  }
}

async function addEntry(root, entry, closers) {
  const at = (name) => {
    const place = path.resolve(root, name)
    mkdirSync(path.dirname(place), { recursive: true })
    return place
  }
  if ('mkdir' in entry) mkdirSync(at(entry.mkdir), { recursive: true })
  else if ('file' in entry) addFile(at(entry.file), entry)
  else if ('symlink' in entry) symlinkSync(entry.to, at(entry.symlink))
  else if ('hardlink' in entry) linkSync(path.resolve(root, entry.to), at(entry.hardlink))
  else if ('fifo' in entry) execFileSync('mkfifo', ['--', at(entry.fifo)])
  else if ('socket' in entry) closers.push(await addSocket(at(entry.socket)))
  else throw new Error(`An entry that the runner does not know: ${JSON.stringify(entry)}`)
}

function addFile(file, { text, size, sparse, mode }) {
  writeFileSync(file, text ?? '')
  const bytes = typeof sparse === 'number' ? sparse : (size ?? (sparse ? SPARSE_BYTES : undefined))
  if (bytes !== undefined && (sparse || bytes > MAX_BYTES_TO_HASH)) truncateSync(file, bytes)
  else if (bytes !== undefined) writeFileSync(file, 'x'.repeat(bytes))
  if (mode !== undefined) chmodSync(file, typeof mode === 'string' ? Number.parseInt(mode, 8) : mode)
}

async function addSocket(place) {
  const server = createServer((socket) => socket.destroy())
  await new Promise((resolve, reject) => server.once('error', reject).listen(place, resolve))
  return () => server.close()
}

/**
 * Everything below a folder but some parts of it: names, kinds, modes, inodes, content. Equal lines, untouched files.
 * With `times` a folder also shows what came and went meanwhile.
 */
export function snapshot(folder, { except = [], times = false } = {}) {
  if (except.includes(folder)) return []
  const stats = lstatSync(folder, { throwIfNoEntry: false })
  if (!stats) return [`${folder} missing`]
  const line = `${folder} ${stats.mode.toString(8)} ${stats.ino} ${contentOf(folder, stats)}`
  if (!stats.isDirectory()) return [line]
  const below = readdirSync(folder).flatMap((name) => snapshot(path.join(folder, name), { except, times }))
  return [times ? `${line}${stats.mtimeMs}` : line, ...below]
}

/** What is different now, in a few words. */
export function differences(before, after) {
  const [old, now] = [new Set(before), new Set(after)]
  return [
    ...before.filter((line) => !now.has(line)).map((line) => `was ${line}`),
    ...after.filter((line) => !old.has(line)).map((line) => `is ${line}`),
  ]
}

function contentOf(file, stats) {
  if (stats.isSymbolicLink()) return readlinkSync(file)
  if (!stats.isFile()) return ''
  if (stats.size > MAX_BYTES_TO_HASH) return `${stats.size} ${stats.mtimeMs}`
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}

function deepFill(value, fill) {
  if (typeof value === 'string') return fill(value)
  if (Array.isArray(value)) return value.map((item) => deepFill(item, fill))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, deepFill(item, fill)]))
}
