import { forEachChild, type SyntaxNode, type Word } from 'unbash'
import { reach } from './doubt.ts'
import type { Doubt } from './reading.ts'

/** What words of a loop or a `case` do besides being texts: `for x in $((PATH=5))` sets a variable. */
export function findEffect(words: readonly Word[]): Doubt | undefined {
  for (const word of words) {
    const found = findExpansion(word)
    if (found !== undefined) return reach(`what ${found} does is only known when it runs`)
  }
  return undefined
}

/** The first expansion that could evaluate or set something; commands in it are judged by themselves. */
function findExpansion(node: SyntaxNode): string | undefined {
  if (node.type === 'ArithmeticExpansion') return node.text
  if (node.type === 'CommandExpansion' || node.type === 'ProcessSubstitution') return undefined
  if (node.type === 'ParameterExpansion') {
    const { prefix, index, operation, text } = node
    return prefix === '!' || index !== undefined || operation !== undefined ? text : undefined
  }
  let found: string | undefined
  forEachChild(node, (child) => {
    found ??= findExpansion(child)
  })
  return found
}
