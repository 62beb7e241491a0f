import { applyEdits, findNodeAtLocation, modify, type Node, parseTree } from 'jsonc-parser'

/** How a file is laid out. */
interface Layout {
  readonly indent: string
  readonly eol: string
}

/**
 * The text of a JSON file with the value at a path changed, or without it. Nothing else is touched: a formatter would lay
 * out the neighbours anew.
 */
export function editJson(text: string, path: readonly string[], value: unknown): string {
  if (text.trim() === '') return value === undefined ? text : `${JSON.stringify(nested(path, value), undefined, 2)}\n`
  if (value === undefined) return applyEdits(text, modify(text, [...path], undefined, {}))
  const layout = layoutOf(text)
  const root = parseTree(text, [], { allowTrailingComma: true })!
  const present = findNodeAtLocation(root, [...path])
  if (present) return splice(text, present.offset, present.length, print(value, indentAt(text, present.offset), layout))
  // The innermost object that is there takes the rest of the path as one new key.
  const known = path.findIndex((_, index) => !findNodeAtLocation(root, path.slice(0, index + 1)))
  const parent = findNodeAtLocation(root, path.slice(0, known)) ?? root
  if (parent.type !== 'object') return editJson(text, path.slice(0, known), nested(path.slice(known), value))
  return insert(text, parent, { key: path[known]!, value: nested(path.slice(known + 1), value) }, layout)
}

interface Entry {
  readonly key: string
  readonly value: unknown
}

function insert(text: string, parent: Node, { key, value }: Entry, layout: Layout): string {
  const last = parent.children?.at(-1)
  const isOnOneLine = !text.slice(parent.offset, parent.offset + parent.length).includes('\n')
  const name = JSON.stringify(key)
  if (last && isOnOneLine) {
    const at = last.offset + last.length
    return splice(text, at, 0, `, ${name}: ${JSON.stringify(value)}`)
  }
  const outer = indentAt(text, parent.offset)
  const own = last ? indentAt(text, last.offset) : outer + layout.indent
  const line = `${layout.eol}${own}${name}: ${print(value, own, layout)}`
  if (last) return splice(text, last.offset + last.length, 0, `,${line}`)
  const inside = text.slice(parent.offset + 1, parent.offset + parent.length - 1)
  if (inside.trim() === '') return splice(text, parent.offset, parent.length, `{${line}${layout.eol}${outer}}`)
  // There is only a comment.
  return splice(text, parent.offset + 1, 0, line)
}

function print(value: unknown, indent: string, layout: Layout): string {
  return JSON.stringify(value, undefined, layout.indent).replaceAll('\n', `${layout.eol}${indent}`)
}

/** As the first line that is indented. */
function layoutOf(text: string): Layout {
  return { indent: /^([ \t]+)["}\]/]/m.exec(text)?.[1] ?? '  ', eol: text.includes('\r\n') ? '\r\n' : '\n' }
}

/** The blanks that the line of a place begins with. */
function indentAt(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset)
  return /^[ \t]*/.exec(line)![0]
}

function nested(path: readonly string[], value: unknown): unknown {
  return path.reduceRight<unknown>((inner, key) => Object.fromEntries([[key, inner]]), value)
}

function splice(text: string, offset: number, length: number, inserted: string): string {
  return text.slice(0, offset) + inserted + text.slice(offset + length)
}
