import JSON5 from 'json5'
import {
  Composer,
  type Document,
  isAlias,
  isMap,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  type Pair,
  Parser,
  visit,
} from 'yaml'
import {
  type ConfigDocument,
  configError,
  type KeyPath,
  type Locate,
  type Position,
  type Problem,
} from './config-document.ts'

/** Parses YAML 1.2 data: no tags, one document, no key twice, no alias bombs. */
export function parseYaml(text: string, label: string): Pick<ConfigDocument, 'value' | 'locate'> {
  const tree = readYamlTree(text)
  const problems = [...tree.problems, ...tree.duplicateKeys]
  if (problems.length > 0) throw configError(label, problems)
  return { value: expand(tree, label), locate: tree.locate }
}

function expand(tree: YamlTree, label: string): unknown {
  try {
    return tree.value()
  } catch (cause) {
    const message = `${(cause as Error).message}.`
    throw configError(label, [{ position: tree.locateAlias(), message }], { hint: 'Write the values out.', cause })
  }
}

// Only used on text that is JSON5, so every string and comment is known to end.
const STRING_COMMENT_OR_TAB = /"(?:\\[\s\S]|[^"\\])*"|'(?:\\[\s\S]|[^'\\])*'|\/\/.*|\/\*[\s\S]*?\*\/|\t/g

/** Parses JSON5, and so JSON and JSONC: comments, trailing commas, bare keys. */
export function parseJson5(text: string, label: string): Pick<ConfigDocument, 'value' | 'locate'> {
  const value = text.trim() === '' ? null : parse(text, label)
  // JSON5 tells no places and overlooks a key that is there twice. Without its comments it is YAML nearly always,
  // which does both; where it is not, problems are placed by their path.
  const tree = readYamlTree(text.replace(STRING_COMMENT_OR_TAB, blankUnlessString))
  if (tree.problems.length > 0) return { value, locate: () => undefined }
  if (tree.duplicateKeys.length > 0) throw configError(label, tree.duplicateKeys)
  return { value, locate: tree.locate }
}

function parse(text: string, label: string): unknown {
  try {
    return JSON5.parse(text)
  } catch (cause) {
    const {
      message,
      lineNumber: line,
      columnNumber: column = 1,
    } = cause as Error & { lineNumber?: number; columnNumber?: number }
    const what = message.replace(/^JSON5: /, '').replace(/ at \d+:\d+$/, '')
    throw configError(label, [{ position: line === undefined ? undefined : { line, column }, message: `${what}.` }], {
      cause,
    })
  }
}

function blankUnlessString(part: string): string {
  return part.startsWith('"') || part.startsWith("'") ? part : part.replace(/[^\n]/g, ' ')
}

/** A YAML text with its places. `value` and `locate` mean something only while `problems` is empty. */
interface YamlTree {
  readonly problems: readonly Problem[]
  readonly duplicateKeys: readonly Problem[]
  /** The plain data; throws when aliases would blow it up. */
  value(): unknown
  readonly locate: Locate
  /** The first alias that nothing stands behind, or else the first of all. */
  readonly locateAlias: () => Position | undefined
}

const MAX_ALIASES = 100
// The composer recurses, and a stack overflow in there can take the whole process down: the depth is watched before.
const MAX_DEPTH = 100
const OPTIONS = {
  schema: 'core',
  version: '1.2',
  merge: false,
  stringKeys: true,
  uniqueKeys: false, // quadratic: a minute for a file of 1 MB; `duplicateKeys` is linear
  prettyErrors: false,
  logLevel: 'silent',
} as const

/** Reads YAML 1.2 as data: an unknown tag, a second document or deep nesting is a problem. */
function readYamlTree(text: string): YamlTree {
  const lines = new LineCounter()
  const place = (offset: number): Position => {
    const { line, col } = lines.linePos(offset)
    return { line, column: col }
  }
  const { tokens, tooDeepAt } = tokenize(text, lines)
  if (tooDeepAt !== undefined)
    return refusedTree({ position: place(tooDeepAt), message: `nested deeper than ${MAX_DEPTH} levels.` })

  const [document, second] = new Composer(OPTIONS).compose(tokens, true, text.length)
  if (second)
    return refusedTree({ position: place(second.range[0]), message: 'here begins a second document; a config is one.' })
  return {
    problems: [...document!.errors, ...document!.warnings].map(({ pos, message }) => ({
      position: place(pos[0]),
      message: `${message}.`,
    })),
    duplicateKeys: findDuplicateKeys(document!).map(({ name, offset }) => ({
      position: place(offset),
      message: `the key ${name} is there twice.`,
    })),
    value: () => document!.toJS({ maxAliasCount: MAX_ALIASES }),
    locate: (path, part = 'value') => {
      const node = nodeAt(document!, path, part)
      return node?.range ? place(node.range[0]) : undefined
    },
    locateAlias: () => {
      const offset = findAlias(document!)
      return offset === undefined ? undefined : place(offset)
    },
  }
}

function tokenize(text: string, lines: LineCounter) {
  const parser = new Parser(lines.addNewLine)
  const tokens = []
  lines.addNewLine(0)
  for (const lexeme of new Lexer().lex(text)) {
    tokens.push(...parser.next(lexeme))
    if (parser.stack.length > MAX_DEPTH) return { tokens, tooDeepAt: parser.offset }
  }
  tokens.push(...parser.end())
  return { tokens, tooDeepAt: undefined }
}

function refusedTree(problem: Problem): YamlTree {
  return {
    problems: [problem],
    duplicateKeys: [],
    value: () => undefined,
    locate: () => undefined,
    locateAlias: () => undefined,
  }
}

function findDuplicateKeys(document: Document.Parsed): { name: string; offset: number }[] {
  const found: { name: string; offset: number }[] = []
  visit(document, {
    Map(_, map) {
      const seen = new Set<string>()
      for (const { key } of map.items as Pair<Node | null>[]) {
        const name = String(key)
        if (seen.has(name)) found.push({ name, offset: key?.range?.[0] ?? 0 })
        seen.add(name)
      }
    },
  })
  return found
}

function findAlias(document: Document.Parsed): number | undefined {
  const anchors = new Set<string>()
  let first: number | undefined
  let dangling: number | undefined
  visit(document, {
    Node(_, node) {
      if (!isAlias(node)) {
        if (node.anchor !== undefined) anchors.add(node.anchor)
        return undefined
      }
      first ??= node.range?.[0]
      if (anchors.has(node.source)) return undefined
      dangling = node.range?.[0]
      return visit.BREAK
    },
  })
  return dangling ?? first
}

function nodeAt(document: Document.Parsed, path: KeyPath, part: 'key' | 'value'): Node | undefined {
  let node: Node | null | undefined = document.contents
  let key: Node | undefined
  for (const step of path) {
    if (isAlias(node)) node = node.resolve(document)
    const pair: Pair<Node, Node | null> | undefined = pairAt(node, step)
    key = pair?.key
    node = isSeq(node) ? (node.items[Number(step)] as Node | undefined) : pair?.value
    if (!node && !key) return undefined
  }
  // An empty value (`policy:`) has no place of its own.
  const hasPlace = node?.range && node.range[0] < node.range[1]
  return (part === 'value' && hasPlace ? node : key) ?? node ?? undefined
}

function pairAt(node: unknown, step: string | number): Pair<Node, Node | null> | undefined {
  if (!isMap(node)) return undefined
  return (node.items as Pair<Node, Node | null>[]).find(({ key }) => String(key) === String(step))
}
