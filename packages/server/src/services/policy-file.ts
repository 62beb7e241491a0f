import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { open, readFile, realpath, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { configError, ToolError } from '@tool-hub/core'
import { parseYaml } from '@tool-hub/core/document'
import { errnoOf, sha256 } from '@tool-hub/core/lib'
import { isMap, type Pair, parseDocument, type Scalar, stringify } from 'yaml'

/** The current content of a config file. */
export interface PolicyFile {
  readonly file: string
  readonly text: string
  /** Changes with the text. */
  readonly version: string
}

const MAX_BYTES = 1_000_000

/** Reads a config file for editing. */
export async function readPolicyFile(file: string): Promise<PolicyFile> {
  try {
    const stats = await stat(file)
    if (!stats.isFile() || stats.size > MAX_BYTES)
      throw new ToolError('CONFIG_INVALID', `${file} is larger than ${MAX_BYTES} bytes or not a regular file.`)
    const text = await readFile(file, 'utf8')
    return { file, text, version: sha256(text) }
  } catch (error) {
    if (ToolError.is(error)) throw error
    throw new ToolError('CONFIG_INVALID', `${file} cannot be read (${errnoOf(error)}).`, { cause: error })
  }
}

/**
 * Replaces a config file atomically, through links and with its permissions: a crash leaves the old or the new file.
 */
export async function writePolicyFile(file: string, text: string): Promise<void> {
  const place = await realpath(file)
  const { mode } = await stat(place)
  const draft = path.join(path.dirname(place), `.${path.basename(place)}.${randomBytes(6).toString('hex')}`)
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
  try {
    const handle = await open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
    try {
      await handle.writeFile(text)
      await handle.chmod(mode & 0o777)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(draft, place)
  } catch (error) {
    await rm(draft, { force: true })
    throw new ToolError('CONFIG_INVALID', `${file} cannot be written (${errnoOf(error)}).`, {
      hint: 'Look whether the service may write the file and its folder, and whether the disk is full.',
      cause: error,
    })
  }
}

type Data = Readonly<Record<string, unknown>>

/** Returns the `policy:` section of a config as it is written, with its comments. */
export function readPolicyPart(text: string, label: string): string {
  const { policy } = dataOf(text, label)
  const place = findPart(text)
  const part = place && text.slice(place.start, place.end)
  if (part !== undefined && saysPolicy(part, policy)) return part
  return stringify({ policy: policy ?? [] }, { lineWidth: 0 })
}

/** Returns the text of a config with another `policy:` section; everything else stays unchanged where possible. */
export function replacePolicyPart(text: string, part: string, label: string): string {
  const before = dataOf(text, label)
  const wanted = { ...before, ...dataOf(part, 'rules') }
  const isWanted = (changed: string) => {
    const result = parseDocument(changed)
    return result.errors.length === 0 && isDeepStrictEqual(result.toJS(), wanted)
  }
  const spliced = splice(text, part)
  if (isWanted(spliced)) return spliced
  // A config in flow style, or with anchors in its rules: formatted anew, with its comments.
  const document = parseDocument(text)
  document.set('policy', document.createNode(wanted.policy))
  const changed = document.toString({ lineWidth: 0 })
  if (isWanted(changed)) return changed
  throw configError(label, [{ message: 'its rules cannot be changed without changing something else.' }], {
    hint: 'Edit the file by hand.',
  })
}

function dataOf(text: string, label: string): Data {
  const { value } = parseYaml(text, label)
  if (value === null || value === undefined) return {}
  if (typeof value === 'object' && !Array.isArray(value)) return value as Data
  throw configError(label, [{ message: 'is not a mapping.' }])
}

function saysPolicy(part: string, policy: unknown): boolean {
  const document = parseDocument(part)
  return document.errors.length === 0 && isDeepStrictEqual(document.toJS(), { policy })
}

function splice(text: string, part: string): string {
  const lines = part.endsWith('\n') ? part : `${part}\n`
  const place = findPart(text)
  if (place) return text.slice(0, place.start) + lines + text.slice(place.end)
  return `${text === '' || text.endsWith('\n') ? text : `${text}\n`}${lines}`
}

/** Finds the section from its key to the end of its last line; `undefined` if it has no lines of its own. */
function findPart(text: string): { readonly start: number; readonly end: number } | undefined {
  const { contents } = parseDocument(text)
  if (!isMap(contents) || contents.flow) return undefined
  const pairs = contents.items as Pair<Scalar, { readonly range?: readonly number[] | null } | null>[]
  const pair = pairs.find(({ key }) => String(key) === 'policy')
  const start = pair?.key.range?.[0]
  const valueEnd = pair?.value?.range?.[1]
  if (start === undefined || valueEnd === undefined) return undefined
  return { start, end: withComments(text, endOfLine(text, valueEnd)) }
}

function endOfLine(text: string, at: number): number {
  if (text[at - 1] === '\n') return at
  const newline = text.indexOf('\n', at)
  return newline === -1 ? text.length : newline + 1
}

/** Comments below the last rule with its indentation belong to the section. */
function withComments(text: string, end: number): number {
  const following = /^(?:[ \t]+#.*\n?)+/.exec(text.slice(end))
  return end + (following?.[0].length ?? 0)
}
