import { readFile, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { type ConfigDocument, configError, lazyModule } from '@tool-hub/core'
import { errnoOf } from '@tool-hub/core/lib'
import { readWithoutWaiting, resolvePath } from '@tool-hub/sandbox/system'

const loadParseYaml = lazyModule(() => import('@tool-hub/core/document'))
const loadParseJson5 = lazyModule(() => import('@tool-hub/core/document'))

const MAX_BYTES = 1_000_000

/** Reads and parses a config or policy file by the extension of its name. */
export async function readDocument(file: string, cwd: string): Promise<ConfigDocument> {
  const label = labelOf(file, cwd)
  const parsed = await parseByKind(file, label)
  return { file, label, ...parsed }
}

/** Relative to the working folder when it is below, whole otherwise. */
function labelOf(file: string, cwd: string): string {
  const relative = path.relative(cwd, file)
  const isBelow = relative !== '' && relative.split(path.sep, 1)[0] !== '..' && !path.isAbsolute(relative)
  return isBelow ? relative : file
}

async function parseByKind(file: string, label: string): Promise<Pick<ConfigDocument, 'value' | 'locate'>> {
  switch (path.extname(file)) {
    case '.yaml':
    case '.yml':
      return (await loadParseYaml()).parseYaml(await readText(file, label), label)
    case '.json5':
    case '.jsonc':
    case '.json':
      return (await loadParseJson5()).parseJson5(await readText(file, label), label)
    case '.mjs':
      return { value: await runModule(file, label), locate: () => undefined }
    default:
      throw configError(label, [{ message: 'is not a kind of config tool-hub reads.' }], {
        hint: 'Name it .yaml, .yml, .json5, .jsonc, .json or .mjs.',
      })
  }
}

async function readText(file: string, label: string): Promise<string> {
  const bytes = await readBytes(file, label)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    const line = bytes.toString('utf8').split('\uFFFD', 1)[0]!.split('\n').length
    throw configError(label, [{ position: { line, column: 1 }, message: 'is not UTF-8 text.' }], { cause })
  }
}

async function readBytes(file: string, label: string): Promise<Buffer> {
  const { size } = await statFile(file, label)
  if (size > MAX_BYTES) throw configError(label, [{ message: `has ${size} bytes, a config has at most ${MAX_BYTES}.` }])
  try {
    return await readFile(file)
  } catch (cause) {
    throw unreadable(label, cause)
  }
}

async function statFile(file: string, label: string): Promise<{ size: number }> {
  const found = await stat(file).catch((cause) => {
    throw unreadable(label, cause)
  })
  // A pipe would be waited for, a device read without end.
  if (!found.isFile()) throw configError(label, [{ message: 'is not a file.' }])
  return found
}

async function runModule(file: string, label: string): Promise<unknown> {
  await statFile(file, label)
  try {
    const { default: exported } = (await import(pathToFileURL(file).href)) as { default?: unknown }
    const value = typeof exported === 'function' ? await exported() : exported
    if (value !== undefined) return value
  } catch (cause) {
    throw configError(label, [{ message: `fails: ${cause instanceof Error ? cause.message : String(cause)}` }], {
      hint: 'Run it with node to see the whole error.',
      cause,
    })
  }
  throw configError(label, [{ message: 'has no default export.' }], {
    hint: 'export default { … } or export default () => ({ … })',
  })
}

function unreadable(label: string, cause: unknown) {
  const code = errnoOf(cause)
  const why = code === 'ENOENT' ? 'does not exist.' : `cannot be read (${code}).`
  return configError(label, [{ message: why }], { hint: 'Check the path and that you may read it.', cause })
}

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
    const manifest = readWithoutWaiting(path.join(root, 'package.json'), MAX_BYTES)
    if (manifest === undefined) continue // not in this folder
    const target = pickImport((JSON.parse(manifest.toString('utf8')) as { exports?: unknown }).exports, inside)
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
