import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { build } from 'vite'
import { afterAll } from 'vitest'

const built = new Map<string, Promise<string>>()
const folders: string[] = []
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))))

/**
 * Bundles a TypeScript module, with all it imports, into one file that a child process can run or import; gives back
 * its path. For tests that must kill a process or let several of them race.
 */
export function bundleModule(entry: string): Promise<string> {
  const path = resolve(entry)
  const known = built.get(path) ?? bundle(path)
  built.set(path, known)
  return known
}

async function bundle(entry: string): Promise<string> {
  const outDir = await mkdtemp(join(tmpdir(), 'tool-hub-module-'))
  folders.push(outDir)
  await build({
    configFile: false,
    logLevel: 'error',
    ssr: { noExternal: true },
    build: {
      ssr: entry,
      outDir,
      target: 'node20',
      minify: false,
      rolldownOptions: { output: { entryFileNames: 'module.mjs' } },
    },
  })
  return join(outDir, 'module.mjs')
}
