import { isDeepStrictEqual } from 'node:util'
import { isMap, type Pair, parseDocument, type Scalar, stringify } from 'yaml'
import { configError, parseYaml } from '../../core/document/index.ts'

type Data = Readonly<Record<string, unknown>>

/** The `policy:` part of a config, as it is written there, with its comments. */
export function readPolicyPart(text: string, label: string): string {
  const { policy } = dataOf(text, label)
  const place = findPart(text)
  const part = place && text.slice(place.start, place.end)
  if (part !== undefined && saysPolicy(part, policy)) return part
  return stringify({ policy: policy ?? [] }, { lineWidth: 0 })
}

/** The text of a config with another `policy:` part; everything else stays, to the letter where that is possible. */
export function replacePolicyPart(text: string, part: string, label: string): string {
  const before = dataOf(text, label)
  const wanted = { ...before, ...dataOf(part, 'rules') }
  const isWanted = (changed: string) => {
    const result = parseDocument(changed)
    return result.errors.length === 0 && isDeepStrictEqual(result.toJS(), wanted)
  }
  const spliced = splice(text, part)
  if (isWanted(spliced)) return spliced
  // A config in braces, or one whose rules other parts refer to: laid out anew, comments stay.
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
  throw configError(label, [{ message: 'is no mapping.' }])
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

/** From the key to the end of the last line that belongs to it; nothing when it is not a part of its own. */
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

/** Comments below the last rule that are indented like it are about rules. */
function withComments(text: string, end: number): number {
  const following = /^(?:[ \t]+#.*\n?)+/.exec(text.slice(end))
  return end + (following?.[0].length ?? 0)
}
