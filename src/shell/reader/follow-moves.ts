import { posix } from 'node:path'
import type { AndOr, SyntaxNode } from 'unbash'
import { readCommandWords } from './read-command-words.ts'
import { readMove } from './read-move.ts'

/**
 * For each member of a list the folder that it runs in, relative to where the list begins: behind `cd x &&` a command runs
 * in x or not at all. Undefined where nothing moved it for certain.
 */
export function followMoves({ commands, operators }: AndOr): readonly (string | undefined)[] {
  let folder: string | undefined
  let isCertain = true
  return commands.map((command, index) => {
    isCertain &&= index === 0 || operators[index - 1] === '&&'
    const here = isCertain ? folder : undefined
    const move = moveOf(command)
    isCertain &&= move !== 'unknown'
    if (typeof move === 'object') folder = posix.isAbsolute(move.to) ? move.to : posix.join(folder ?? '', move.to)
    return here
  })
}

/** A pipe has shells of its own; what else is no simple command may move the shell in ways nobody follows. */
function moveOf(node: SyntaxNode) {
  if (node.type === 'Pipeline' && node.commands.length > 1) return 'none'
  return node.type === 'Command' ? readMove(readCommandWords(node)) : 'unknown'
}
