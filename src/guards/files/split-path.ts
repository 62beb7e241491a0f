import { ToolError } from '../../errors.ts'
import { LONE_SURROGATE } from '../../value/lone-surrogate.ts'
import { quotePath } from './quote-path.ts'

const MAX_PATH_BYTES = 4095
const MAX_NAME_BYTES = 255

/** A path taken apart: its names in order, `.` and empty ones dropped, `..` still there. */
interface SplitPath {
  readonly isAbsolute: boolean
  readonly names: readonly string[]
  /** The spelling can only mean a folder: `a/`, `a/.`, `a/..`. */
  readonly saysFolder: boolean
}

/** Takes a path apart by text alone: no tilde, variable, percent or URL decoding; what no file can be called is refused. */
export function splitPath(path: string): SplitPath {
  if (typeof path !== 'string') throw invalid(`A path is a string, not ${path === null ? 'null' : typeof path}.`)
  if (path === '') throw invalid('The path is empty.')
  if (path.includes('\0')) throw invalid(`The path ${quotePath(path)} has a NUL character.`)
  if (LONE_SURROGATE.test(path)) throw invalid(`The path ${quotePath(path)} has half a character (a lone surrogate).`)
  const bytes = Buffer.byteLength(path)
  if (bytes > MAX_PATH_BYTES) throw invalid(`The path has ${bytes} bytes, the limit is ${MAX_PATH_BYTES}.`)
  const parts = path.split('/')
  for (const part of parts) checkName(part)
  const last = parts.at(-1)
  return {
    isAbsolute: path.startsWith('/'),
    names: parts.filter((part) => part !== '' && part !== '.'),
    saysFolder: last === '' || last === '.' || last === '..',
  }
}

function checkName(name: string): void {
  // A character has at most three bytes a unit: short names need no counting.
  if (name.length * 3 <= MAX_NAME_BYTES) return
  const bytes = Buffer.byteLength(name)
  if (bytes <= MAX_NAME_BYTES) return
  throw invalid(`The name ${quotePath(name)} has ${bytes} bytes, the limit is ${MAX_NAME_BYTES}.`)
}

function invalid(message: string): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', message, { hint: 'Give the path of a file below a root.' })
}
