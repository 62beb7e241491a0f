import type { CompiledTable, Option } from './compile-table.ts'

/** An option as it was found in the words; without an entry when the table does not know it. */
export interface FoundOption {
  readonly entry?: Option
  /** As it was written, without its value: `--out`, `-o`. */
  readonly spelled: string
  /** Absent where it has none or only the run would tell. */
  readonly value?: string
  /** Index of the word that holds it. */
  readonly at: number
  /** Index of the word that holds its value. */
  readonly valueAt: number
}

/** The words of a command, told apart. */
export interface Arguments {
  readonly options: readonly FoundOption[]
  /** Indices of the operands. */
  readonly operands: readonly number[]
  /** Index of the first word that was not looked at. */
  readonly end: number
}

type Words = readonly (string | undefined)[]

/** More flags than any program has: the rest of such a word is not read. */
const LONGEST_CLUSTER = 64

/** Tells options, their values and operands apart, as the program would. */
export function readArguments(words: Words, from: number, compiled: CompiledTable, stopsAtOperand: boolean): Arguments {
  const options: FoundOption[] = []
  const operands: number[] = []
  let index = from
  if (compiled.table.hasBareCluster) index = readBareCluster(words, index, compiled, options)
  while (index < words.length) {
    const word = words[index]
    if (word === '--' && compiled.table.style !== 'none') {
      index++
      while (index < words.length && !(stopsAtOperand && operands.length > 0)) operands.push(index++)
      break
    }
    if (word === undefined || word.length < 2 || word[0] !== '-' || compiled.table.style === 'none') {
      operands.push(index++)
      if (stopsAtOperand) break
      continue
    }
    index = readOption(words, index, word, compiled, options)
  }
  return { options, operands, end: index }
}

/** Reads the word at an index, and its value from the next one; answers the index after both. */
function readOption(words: Words, at: number, word: string, compiled: CompiledTable, options: FoundOption[]): number {
  const isWord = compiled.table.style === 'words'
  if (!isWord && word[1] !== '-') return readCluster(words, at, word, compiled, options)
  const equals = word.indexOf('=')
  const spelled = equals === -1 ? word : word.slice(0, equals)
  const attached = equals === -1 ? undefined : word.slice(equals + 1)
  const entry = findOption(isWord && spelled.startsWith('--') ? spelled.slice(1) : spelled, compiled)
  const takesNext = entry?.value === 'required' && attached === undefined
  options.push({ entry, spelled, value: takesNext ? words[at + 1] : attached, at, valueAt: takesNext ? at + 1 : at })
  return at + (takesNext ? 2 : 1)
}

function readCluster(words: Words, at: number, word: string, compiled: CompiledTable, options: FoundOption[]): number {
  const end = Math.min(word.length, LONGEST_CLUSTER)
  let isKnown = true
  for (let letter = 1; letter < end; letter++) {
    const spelled = `-${word[letter]}`
    const entry = compiled.options.get(spelled)
    const rest = word.slice(letter + 1)
    if (entry === undefined) {
      // The rest may be the value of an option that the table lacks, or more options: it is read as both.
      options.push({ spelled, value: isKnown ? rest : undefined, at, valueAt: at })
      isKnown = false
      continue
    }
    if (entry.value === 'none') {
      options.push({ entry, spelled, at, valueAt: at })
      continue
    }
    const takesNext = entry.value === 'required' && rest === ''
    // `-o=x` is read as x by some programs and as =x by others; the first is what a path check needs.
    const attached = rest === '' ? undefined : rest.startsWith('=') ? rest.slice(1) : rest
    options.push({ entry, spelled, value: takesNext ? words[at + 1] : attached, at, valueAt: takesNext ? at + 1 : at })
    return at + (takesNext ? 2 : 1)
  }
  if (end < word.length) options.push({ spelled: `${word.slice(0, 12)}…`, at, valueAt: at })
  return at + 1
}

/** Letters without a dash take their values from the words that follow, in order. */
function readBareCluster(words: Words, at: number, compiled: CompiledTable, options: FoundOption[]): number {
  const word = words[at]
  if (word === undefined || word.startsWith('-')) return at
  let next = at + 1
  for (const letter of word.slice(0, LONGEST_CLUSTER)) {
    const entry = compiled.options.get(`-${letter}`)
    const valueAt = entry?.value === 'required' ? next++ : at
    options.push({ entry, spelled: `-${letter}`, value: valueAt === at ? undefined : words[valueAt], at, valueAt })
  }
  return next
}

function findOption(name: string, compiled: CompiledTable): Option | undefined {
  const { options, table } = compiled
  const exact = options.get(name) ?? (name.includes('_') ? options.get(name.replaceAll('_', '-')) : undefined)
  if (exact || name.length < 3 || (table.style ?? 'gnu') !== 'gnu') return exact
  return findShortened(name, compiled)
}

/** A program refuses what is short for two names, so the most dangerous reading is also never a wrong one. */
function findShortened(name: string, { options, longNames }: CompiledTable): Option | undefined {
  let low = 0
  for (let high = longNames.length; low < high; ) {
    const middle = (low + high) >> 1
    if (longNames[middle]! < name) low = middle + 1
    else high = middle
  }
  let meant: Option | undefined
  for (; longNames[low]?.startsWith(name); low++) {
    const option = options.get(longNames[low]!)!
    if (option.rows.length > 0) return option
    meant ??= option
  }
  return meant
}
