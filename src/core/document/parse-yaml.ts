import type { ConfigDocument } from './config-document.ts'
import { configError } from './problem.ts'
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
