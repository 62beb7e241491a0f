import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rename, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { build } from 'vite'

/**
 * Bundles a TypeScript module, with all it imports, into one file that a child process can run or import; returns
 * its path. For tests that must kill a process or let several of them race. Built once for the whole run. `beside`:
 * further files that it starts or loads by their place, each as a path without its ending and its source.
 */
export async function bundleModule(
  entry: string,
  { beside = {} }: { readonly beside?: Readonly<Record<string, string>> } = {},
): Promise<string> {
  const run = process.env.TOOL_HUB_TEST_FOLDER!
  const names = [relative('.', entry), ...Object.keys(beside)]
  const folder = join(run, 'modules', names.join('+').replaceAll('/', '-'))
  const path = join(folder, 'module.mjs')
  if (existsSync(path)) return path
  const draft = await mkdtemp(join(run, 'module-'))
  await bundleInto(draft, resolve(entry), 'module.mjs')
  for (const [name, source] of Object.entries(beside)) await bundleInto(draft, resolve(source), `${name}.js`)
  await writeFile(join(draft, 'package.json'), '{"type":"module"}')
  // Some are run by other users.
  await chmod(draft, 0o755)
  await mkdir(dirname(folder), { recursive: true })
  await rename(draft, folder).catch((error) => {
    // Another worker was faster.
    if (!existsSync(path)) throw error
  })
  return path
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
