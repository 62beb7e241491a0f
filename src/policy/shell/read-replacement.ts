import { type Command, type ParameterExpansionPart, parse } from 'unbash'

/** A text with the words that stand in it. */
export interface Replacement {
  readonly source: string
  readonly words: Command['args']
}

/**
 * What stands after the operator of `${x/…}`, read as one word, when commands are in it: the parser ends the pattern at
 * the first slash even inside of a command, whose other words are then lost.
 */
export function readReplacement({ text, pos, operation }: ParameterExpansionPart): Replacement | undefined {
  if (operation?.type !== 'Replace') return undefined
  const rest = text.slice(operation.operatorEnd - pos, -1)
  if (!/\$(?:\\\n)*\(|`|[<>]\(/.test(rest)) return undefined
  const source = `: \${x:-${rest}}`
  const command = parse(source).commands[0]?.command
  return { source, words: command?.type === 'Command' ? command.args : [] }
}
