import { sha256 } from './hash.ts'
import { isPlainObject } from './is-plain-object.ts'

/** Texts from here on stand as their hash. */
const LONG_TEXT = 1_000

/** What a result's hash is made of, and how large the result is. */
export interface Outline {
  /** The JSON in which `sha256:<hex>` stands for every long text. */
  readonly json: string
  /** Bytes of the whole JSON, but that escapes in long texts are not counted. */
  readonly bytes: number
}

/** The JSON of plain data without its long texts, which would be written only to be hashed and thrown away. */
export function outlineJson(data: unknown): Outline {
  const longTexts: string[] = []
  const json = JSON.stringify(outline(data, longTexts))
  let bytes = Buffer.byteLength(json)
  for (const text of longTexts) bytes += Buffer.byteLength(text) - HASH_CHARS
  return { json, bytes }
}

const HASH_CHARS = 'sha256:'.length + 64

/** The same value where nothing has to be replaced. */
function outline(value: unknown, longTexts: string[]): unknown {
  if (typeof value === 'string') {
    if (value.length < LONG_TEXT) return value
    longTexts.push(value)
    return `sha256:${sha256(value)}`
  }
  if (Array.isArray(value)) return outlineList(value, longTexts)
  return isPlainObject(value) ? outlineRecord(value, longTexts) : value
}

function outlineList(list: readonly unknown[], longTexts: string[]): readonly unknown[] {
  let copy: unknown[] | undefined
  for (let index = 0; index < list.length; index++) {
    const item = outline(list[index], longTexts)
    if (item === list[index]) continue
    copy ??= [...list]
    copy[index] = item
  }
  return copy ?? list
}

function outlineRecord(record: Readonly<Record<string, unknown>>, longTexts: string[]): object {
  let copy: Record<string, unknown> | undefined
  for (const key of Object.keys(record)) {
    const part = outline(record[key], longTexts)
    if (part === record[key]) continue
    copy ??= { ...record }
    copy[key] = part
  }
  return copy ?? record
}
