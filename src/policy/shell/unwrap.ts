import { baseName } from './base-name.ts'
import { isCodeVariable } from './code-variables.ts'
import { type ShellWord, staticWord } from './read-word.ts'
import { joinWords, readWrapper } from './read-wrapper.ts'
import { SHELLS, WRAPPERS } from './wrappers.ts'

/** What a command runs besides itself. */
export interface Wrapped {
  /** Commands that stand among its words. */
  readonly commands: readonly (readonly ShellWord[])[]
  /** Texts that a shell reads. */
  readonly texts: readonly ShellWord[]
  /** Why more may run than these. */
  readonly hidden?: string
  /** What it changes for them. */
  readonly reach?: string
}

const NOTHING: Wrapped = { commands: [], texts: [] }

/** Finds the commands that a command only carries out; `input` is what it reads, where the line holds it. */
export function unwrap(words: readonly ShellWord[], input?: ShellWord): Wrapped {
  const name = words[0]?.value
  if (name === undefined) return NOTHING
  const base = baseName(name)
  const wrapper = WRAPPERS.get(base)
  if (wrapper) return readWrapper(words, wrapper)
  if (SHELLS.has(base)) return readShell(words, input)
  return OTHERS.get(base)?.(words) ?? NOTHING
}

const OTHERS: ReadonlyMap<string, (words: readonly ShellWord[]) => Wrapped> = new Map([
  ['eval', (words) => asText(operandsOf(words))],
  ['trap', readTrap],
  ['alias', (words) => asTexts(operandsOf(words).map(afterEquals))],
  ['find', readFind],
  // These evaluate subscripts: `unset 'a[$(id)]'` runs id.
  ...['let', 'test', '[', 'unset', 'printf', 'read', 'declare', 'typeset', 'local', 'export', 'readonly', 'wait'].map(
    (name): [string, typeof readTrap] => [name, readSubscripts],
  ),
])

function asText(words: readonly ShellWord[]): Wrapped {
  return words.length === 0 ? NOTHING : asTexts([joinWords(words)])
}

function asTexts(texts: readonly ShellWord[]): Wrapped {
  return { texts: texts.filter(({ source }) => source !== ''), commands: [] }
}

/** Without the options of a builtin. */
function operandsOf(words: readonly ShellWord[]): readonly ShellWord[] {
  const first = words.findIndex(({ value }, index) => index > 0 && !(value !== undefined && /^-[a-z-]/.test(value)))
  return first === -1 ? [] : words.slice(first)
}

/** `trap action signal…`; with one word alone, or `-`, it only resets. */
function readTrap(words: readonly ShellWord[]): Wrapped {
  const [action, ...signals] = operandsOf(words)
  return action === undefined || signals.length === 0 || action.value === '-' ? NOTHING : asTexts([action])
}

function afterEquals({ value, source }: ShellWord): ShellWord {
  const text = source.slice(source.indexOf('=') + 1)
  return value === undefined ? { value, source: text } : staticWord(text)
}

function readSubscripts(words: readonly ShellWord[]): Wrapped {
  const risky = words.filter(({ value }) => value !== undefined && /\[.*(\$\(|`)/s.test(value))
  const name = words.map(({ source }) => /^(\w+)\+?=/.exec(source)?.[1] ?? '').find(isCodeVariable)
  return {
    ...asTexts(risky.map(({ source }) => ({ value: undefined, source: `: ${source}` }))),
    hidden: name && `it sets ${name}`,
  }
}

const EXECUTE = /^-(exec|execdir|ok|okdir)$/

/** Each `-exec` up to its `;` or `+`; `{}` stands for names that only the run would tell. */
function readFind(words: readonly ShellWord[]): Wrapped {
  const commands: ShellWord[][] = []
  for (let at = 1; at < words.length; at++) {
    if (!EXECUTE.test(words[at]?.value ?? '')) continue
    const command: ShellWord[] = []
    for (at++; at < words.length; at++) {
      const { value, source } = words[at]!
      if (value === ';' || (value === '+' && command.at(-1)?.source === '{}')) break
      command.push(value?.includes('{}') ? { value: undefined, source } : words[at]!)
    }
    if (command.length > 0) commands.push(command)
  }
  return { commands, texts: [] }
}

/** Options of shells that take a word of their own. */
const SHELL_VALUES = /^--(rcfile|init-file|init-command)$/

function readShell(words: readonly ShellWord[], input: ShellWord | undefined): Wrapped {
  let isText = false
  let isInput = false
  let at = 1
  for (; at < words.length; at++) {
    const { value, source } = words[at]!
    if (value === undefined && isText) break
    if (value === undefined) return { ...NOTHING, hidden: `whether ${source} is an option or a script is not known` }
    if (value === '-' || value === '--') {
      at++
      break
    }
    if (SHELL_VALUES.test(value)) return { ...NOTHING, hidden: `${value} names a script that it runs` }
    if (!/^[-+]./.test(value)) break
    if (value.startsWith('--')) continue
    isText ||= value.startsWith('-') && value.includes('c')
    isInput ||= value.startsWith('-') && value.includes('s')
    if (/[oO]$/.test(value)) at++
  }
  const operand = words[at]
  if (isText) return operand ? { texts: [operand], commands: [] } : NOTHING
  if (operand && !isInput) return { ...NOTHING, hidden: 'it runs a script' }
  if (input) return { texts: [input], commands: [] }
  return { ...NOTHING, hidden: 'it runs what comes in on its standard input' }
}
