import { posix } from 'node:path'
import type { AndOr, Assignment, Command, Redirection, SyntaxNode, Word } from 'unbash'
import { baseName } from '../loose-words.ts'
import { type Doubt, reach } from '../reading.ts'
import { readWord, type ShellWord, staticWord } from './read-word.ts'

/** The name of a command and its arguments. */
export function readCommandWords({ name, args }: Command): readonly ShellWord[] {
  const written = name ? [name, ...args] : args
  return written.flatMap((word) => (word.type === 'Word' ? readWord(word) : readAssignment(word)))
}

/** `A=b` among the arguments of `export`. */
function readAssignment({ name, value, append, text }: Assignment): ShellWord {
  const word = value.type === 'Word' ? readWord(value) : []
  const only = word.length === 1 ? word[0]!.value : undefined
  return only === undefined ? { value: undefined, source: text } : staticWord(`${name}${append ? '+' : ''}=${only}`)
}

/** What a redirection does besides joining descriptors. */
interface ReadRedirection {
  readonly doubt?: Doubt
  /** A file that is opened for reading. */
  readonly reads?: ShellWord
  /** What the command reads, where the line holds it. */
  readonly input?: ShellWord
  readonly unread?: string
}

/** Only /dev/null and other descriptors are free to write to. */
export function readRedirection(redirection: Redirection): ReadRedirection {
  if (redirection.type === 'HereDoc') {
    const { body, delimiter, closing } = redirection
    const isStatic = delimiter?.quoted === true || body.parts?.every(({ type }) => type === 'Literal') !== false
    return {
      unread: closing === undefined || delimiter === undefined ? 'its here-document has no end' : undefined,
      input: isStatic ? staticWord(body.text) : { value: undefined, source: body.text },
      doubt: isStatic ? undefined : reach('what its here-document holds is only known when it runs'),
    }
  }
  const { target, operator, descriptor } = redirection
  if (target === undefined) return { unread: 'a redirection has no target' }
  const word = readTarget(target)
  if (redirection.type === 'HereString') {
    const isStatic = word.value !== undefined
    return { input: word, doubt: isStatic ? undefined : reach('what its here-string holds is only known when it runs') }
  }
  if (descriptor?.type === 'FileDescriptorVariable') return { doubt: reach(`it sets ${descriptor.name}`) }
  if (operator === '<') return { reads: word }
  if ((operator === '>&' || operator === '<&') && /^(\d+-?|-)$/.test(word.value ?? '')) return {}
  return word.value === '/dev/null' ? {} : { doubt: reach(`it writes to ${word.source}`) }
}

/** A target that expands to several words is unknown. */
function readTarget(target: Word): ShellWord {
  const words = readWord(target)
  return words.length === 1 ? words[0]! : { value: undefined, source: target.text }
}

/** What a command does to the folder that the shell is in. */
type Move = 'none' | 'unknown' | { readonly to: string }

/** Reads `cd`; home, back, along the directory stack, and what is only known at run time is unknown. */
export function readMove(words: readonly ShellWord[]): Move {
  const [name, ...rest] = words
  if (name?.value === undefined) return words.length === 0 ? 'none' : 'unknown'
  const base = baseName(name.value)
  if (base !== 'cd' && base !== 'pushd' && base !== 'popd') return 'none'
  const [target, ...more] = rest.filter(({ value }) => value !== '--')
  const to = target?.value
  if (base === 'popd' || more.length > 0 || to === undefined || /^[-+~]|^$/.test(to)) return 'unknown'
  return { to }
}

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

/** A pipe has shells of its own; what else is no simple command may move the shell in ways that are not followed. */
function moveOf(node: SyntaxNode) {
  if (node.type === 'Pipeline' && node.commands.length > 1) return 'none'
  return node.type === 'Command' ? readMove(readCommandWords(node)) : 'unknown'
}
