import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startFlipping } from '../../scripts/attacks/flip.mjs'

/** A root whose folder `d` another process keeps exchanging with a link to a folder outside. */
export interface RaceFolders {
  readonly root: string
  readonly data: string
  /** The path of a name inside the real folder, whatever that is called at this moment. */
  inside(name: string): string
  /** What is outside: every name, inode, mode and content. */
  outside(): readonly string[]
  /** When the folder outside last got or lost a name. */
  touched(): string
  stop(): Promise<void>
}

/** Makes the folders, with the same names inside and outside, and starts the exchange. */
export async function startRace(
  names: readonly string[],
  options?: { readonly pauseMs: number },
): Promise<RaceFolders> {
  // In memory where there is such a disk: 100,000 calls are to race, not to wait for fsync.
  const disk = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
  const base = realpathSync(mkdtempSync(join(disk, 'tool-hub-race-')))
  const [root, out, data] = ['ws', 'out', 'data'].map((name) => join(base, name)) as [string, string, string]
  const [folder, link] = [join(root, 'd'), join(root, 'd.other')]
  for (const path of [folder, out]) mkdirSync(path, { recursive: true })
  symlinkSync(out, link)
  for (const name of names) writeFileSync(join(out, name), 'SECRET')
  for (const name of names) writeFileSync(join(folder, name), 'in')
  const descriptor = openSync(folder, 'r')
  const flipping = await startFlipping(folder, link, options)
  return {
    root,
    data,
    inside: (name) => `/proc/self/fd/${descriptor}/${name}`,
    outside: () => describe(out),
    touched: () => String(lstatSync(out, { bigint: true }).mtimeNs),
    async stop() {
      await flipping.stop()
      closeSync(descriptor)
      rmSync(base, { recursive: true, force: true })
    },
  }
}

function describe(folder: string): string[] {
  const { mode } = lstatSync(folder)
  const files = readdirSync(folder).map((name) => {
    const stats = lstatSync(join(folder, name))
    return `${name} ${stats.ino} ${stats.mode} ${stats.nlink} ${stats.isFile() && readFileSync(join(folder, name), 'utf8')}`
  })
  return [String(mode), ...files]
}
