import type { Redirection, Word } from 'unbash'
import type { Doubt } from '../reading.ts'
import { reach } from './doubt.ts'
import { readWord, type ShellWord, staticWord } from './read-word.ts'

/** What a redirection does besides joining descriptors. */
export interface ReadRedirection {
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

/** Of a target that becomes several words nobody knows what becomes. */
function readTarget(target: Word): ShellWord {
  const words = readWord(target)
  return words.length === 1 ? words[0]! : { value: undefined, source: target.text }
}
