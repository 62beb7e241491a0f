import JSON5 from 'json5'
import { type ConfigDocument, configError } from '../config-document.ts'
import { readYamlTree, type YamlTree } from './yaml-tree.ts'

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
