import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { errnoOf } from '../lib/index.ts'
import { resolvePath } from './resolve-path.ts'

/** The file of a plugin, found as if the config file imported it: a path, or a package installed beside or above. */
export async function resolvePlugin(configFile: string, name: string): Promise<string> {
  if (isPluginPath(name)) return resolvePath(path.dirname(configFile), name)
  const { resolve } = createRequire(configFile)
  try {
    return resolve(name)
  } catch (error) {
    const code = errnoOf(error)
    if (code === 'MODULE_NOT_FOUND') throw new Error('it is not installed.', { cause: error })
    if (code !== 'ERR_PACKAGE_PATH_NOT_EXPORTED') throw error
    // The package exports to `import` only, which `require.resolve` does not see.
    const file = await importTarget(resolve.paths(name) ?? [], name)
    if (file === undefined) throw error
    return file
  }
}

/** Whether a plugin is named by a path, not as a package. */
export function isPluginPath(name: string): boolean {
  return /^(?:\.{0,2}|~)\//.test(name) || path.isAbsolute(name)
}

async function importTarget(folders: readonly string[], name: string): Promise<string | undefined> {
  const [packageName, inside] = splitName(name)
  for (const folder of folders) {
    const root = path.join(folder, packageName)
    const manifest = await readFile(path.join(root, 'package.json'), 'utf8').catch(() => undefined) // not in this folder
    if (manifest === undefined) continue
    const target = pickImport((JSON.parse(manifest) as { exports?: unknown }).exports, inside)
    return target === undefined ? undefined : path.join(root, target)
  }
  return undefined
}

function splitName(name: string): [packageName: string, inside: string] {
  const parts = name.split('/')
  const length = name.startsWith('@') ? 2 : 1
  return [parts.slice(0, length).join('/'), ['.', ...parts.slice(length)].join('/')]
}

function pickImport(exported: unknown, inside: string): string | undefined {
  if (typeof exported === 'string') return exported
  if (typeof exported !== 'object' || exported === null) return undefined
  for (const [key, value] of Object.entries(exported)) {
    const found = [inside, 'import', 'node', 'default'].includes(key) ? pickImport(value, inside) : undefined
    if (found !== undefined) return found
  }
  return undefined
}
