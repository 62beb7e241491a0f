import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { build } from 'vite'
import { afterAll } from 'vitest'

const built = new Map<string, Promise<string>>()
const folders: string[] = []
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))))

/**
 * Bundles a TypeScript module, with all it imports, into one file that a child process can run or import; gives back
 * its path. For tests that must kill a process or let several of them race. `beside`: further files that it starts or
 * loads by their place, each as a path without its ending and its source.
 */
export function bundleModule(
  entry: string,
  { beside = {} }: { readonly beside?: Readonly<Record<string, string>> } = {},
): Promise<string> {
  const path = resolve(entry)
  const known = built.get(path) ?? bundle(path, beside)
  built.set(path, known)
  return known
}

async function bundle(entry: string, beside: Readonly<Record<string, string>>): Promise<string> {
  const outDir = await mkdtemp(join(tmpdir(), 'tool-hub-module-'))
  folders.push(outDir)
  await bundleInto(outDir, entry, 'module.mjs')
  for (const [name, source] of Object.entries(beside)) await bundleInto(outDir, resolve(source), `${name}.js`)
  await writeFile(join(outDir, 'package.json'), '{"type":"module"}')
  return join(outDir, 'module.mjs')
}

async function bundleInto(outDir: string, entry: string, name: string): Promise<void> {
  await build({
    configFile: false,
    logLevel: 'error',
    ssr: { noExternal: true },
    build: {
      ssr: entry,
      outDir,
      emptyOutDir: false,
      target: 'node20',
      minify: false,
      rolldownOptions: { output: { entryFileNames: name } },
    },
  })
}
