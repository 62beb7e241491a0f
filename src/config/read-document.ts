import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { type ConfigDocument, configError, lazyModule } from '../core/index.ts'
import { errnoOf } from '../lib/index.ts'

const loadParseYaml = lazyModule(() => import('../core/document/index.ts'))
const loadParseJson5 = lazyModule(() => import('../core/document/index.ts'))

const MAX_BYTES = 1_000_000

/** Reads and parses a config or policy file by the kind its name tells. */
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
