import type { Capability } from '@tool-hub/core'
import { isPlainObject, revealLine, toPointer } from '@tool-hub/core/lib'
import { actionOf, type NeededRequest, type ToolAction } from './actions.ts'
import { addressesIn } from './addresses.ts'
import {
  type ArgumentFacts,
  type ArgumentKind,
  askedWith,
  fitsTarget,
  isIdName,
  kindOf,
  lastWordsOf,
} from './argument-kind.ts'
import { momentOf } from './days.ts'
import { namesIn, SchemaField } from './schema-fields.ts'
import { budgetOf, SearchBudget } from './search-budget.ts'

/** What is known about where the values of a call come from. */
export interface ValueEvidence {
  /** Whether the user's words are known at all. */
  readonly hasUserText: boolean
  /** Whether the user named the value, and asked for the action close to it if there is one. */
  readonly isFromUser: (value: unknown, budget: SearchBudget, asked?: NeededRequest) => boolean
  /**
   * Whether one answer of a person covers all these values of arguments of this tool together. With a call, it must also
   * choose everything that the answer was about: without a limit, the same call may do more.
   */
  readonly isApproved: (values: readonly ControlValue[], of?: ChosenValues) => boolean
}

/** The arguments of a call, and what is known about their values. */
export interface CallArguments {
  readonly tool: string
  /** The title of the tool, for people. */
  readonly title?: string | undefined
  readonly input: unknown
  /** The schema of its arguments: keys that it does not name are values, too. */
  readonly schema?: { jsonSchema(): unknown }
  /** The arguments that the tool says are texts for people; absent: those that are called so. */
  readonly texts?: readonly string[] | undefined
  /** The arguments that the tool says are targets, for which the user's words are evidence; absent: by name and format. */
  readonly targets?: readonly string[] | undefined
  readonly evidence?: ValueEvidence
}

/** What a call chooses. */
export interface ChosenValues {
  readonly values: readonly ControlValue[]
  /** The arguments that are texts for people: addresses in them may be left out. */
  readonly texts: ReadonlySet<string>
}

/** A value of a call that says what the call does, and where it stands among the arguments. */
export interface ControlValue {
  /** The name of the argument, or a JSON pointer to a value inside it. */
  readonly argument: string
  readonly value: unknown
}

/** The same with what it is for. An address stands in a text, and a key is a name that the caller chose. */
interface FoundValue extends ControlValue {
  readonly kind: Exclude<ArgumentKind, 'text'> | 'address' | 'empty'
}

interface FoundValues extends ChosenValues {
  readonly values: readonly FoundValue[]
}

/** Why a call needs approval after content from outside. */
export interface Unproven {
  /** The arguments that nothing shows to come from the user, for people. */
  readonly names: readonly string[]
  /** Why, in one or more sentences. */
  readonly why: string
  readonly values: readonly ControlValue[]
}

const MIN_ID = 100
const MAX_VALUES = 1_000
/** A deeper value cannot be read. */
const MAX_DEPTH = 32
/** Characters of the names that lead to a value: each value is noted with them. */
const MAX_PATH_CHARS = 2_048
/** Characters of all texts of a call together. */
const MAX_TEXT_CHARS = 32_768
/** The same in all their readings, in which one character may become eighteen: about 30 ms. */
const MAX_READ_CHARS = 49_152
/** To a Set, all longer texts of one length are alike, so that it compares each with all others. */
const MAX_HASHED_CHARS = 16_383
/** How many names of arguments a decision shows, and how much of each. */
const MAX_NAMES = 20
const MAX_NAME_CHARS = 100
const ITS_TEXT = 'its text'
const MAIL_OR_URL = /^(?:https?:\/\/\S+|[^\s@]+@(?=[^\s@]+\.[^\s@])[^\s@]+)$/i

interface Question {
  readonly capabilities: readonly Capability[]
  readonly arguments?: CallArguments
}

const answers = new WeakMap<object, Unproven | 'unreadable'>()

/**
 * Returns what nothing shows to come from the user in a call; `undefined` if nobody knows what the user said, or the
 * arguments cannot be read within the budget of the call. All demands of a call share one answer.
 */
export function findUnproven(question: Question): Unproven | undefined {
  const { arguments: given } = question
  if (!given?.evidence?.hasUserText) return undefined
  let answer = answers.get(given)
  if (answer === undefined) {
    answer = judgeValues(question, actionOf(given.tool, given.title), given.evidence, budgetOf(given)) ?? 'unreadable'
    answers.set(given, answer)
  }
  return answer === 'unreadable' ? undefined : answer
}

/** Returns the values of a call that nothing shows to come from the user, to be approved together. */
export function unprovenValues(question: Question): readonly ControlValue[] {
  return findUnproven(question)?.values ?? []
}

function judgeValues(
  question: Question,
  action: ToolAction,
  evidence: ValueEvidence,
  budget: SearchBudget,
): Unproven | undefined {
  const chosen = readValues(question)
  if (chosen === undefined) return undefined
  const { values } = chosen
  const unproven = unprovenAmong(values, evidence, action, budget)
  if (budget.isSpent) return undefined
  if (unproven.length > 0)
    return evidence.isApproved(unproven, chosen)
      ? { names: [], why: '', values: [] }
      : { names: shownNames(unproven), why: reasonsOf(unproven, action), values: unproven }
  // A call that acts on nothing that the user named says nothing but texts and times: words of the user prove neither.
  const hasTarget = values.some(({ kind }) => kind === 'target' || kind === 'declared')
  return { names: hasTarget ? [] : [ITS_TEXT], why: hasTarget ? '' : 'It names nobody and nothing.', values: [] }
}

/**
 * Returns the control values that the user's words do not account for. A time needs no evidence of its own on a day that
 * another value of the call proves: "at ten, for one hour" gives the end as well.
 */
function unprovenAmong(
  control: readonly FoundValue[],
  evidence: ValueEvidence,
  action: ToolAction,
  budget: SearchBudget,
): readonly FoundValue[] {
  const used = new Map<unknown, string>()
  const isProven = (found: FoundValue): boolean => {
    const { kind, value, argument } = found
    if (kind === 'address') return evidence.isFromUser(value, budget)
    if (action.grave !== undefined || kind === 'option' || kind === 'empty' || isShortId(found)) return false
    if (kind === 'moment' && momentOf(value) === undefined) return false
    // One name is one thing: it does not stand for the user and for the channel, too.
    if (kind !== 'moment' && (used.get(value) ?? argument) !== argument) return false
    // What the user said is short, so the rest looks at no more than that.
    if (!evidence.isFromUser(value, budget, askedWith(action, argument))) return false
    if (kind === 'target' && !fitsTarget(argument, value, action)) return false
    used.set(value, argument)
    return true
  }
  const open = control.filter((found) => !isProven(found))
  if (!open.some(({ kind, value }) => kind === 'moment' && momentOf(value)) || action.grave !== undefined) return open
  const missing = new Set(open)
  const days = new Set(control.filter((found) => !missing.has(found)).map(({ value }) => momentOf(value)?.day))
  return open.filter(({ kind, value }) => kind !== 'moment' || !days.has(momentOf(value)?.day ?? ''))
}

/** Whether a number is too short for an id; words prove no other numbers of targets. */
function isShortId({ argument, value }: ControlValue): boolean {
  return typeof value === 'number' && (Math.abs(value) < MIN_ID || !isIdName(argument))
}

/**
 * Reads the values of a call that say what it does, each once. Texts for people do not, apart from the addresses in them.
 * Returns `undefined` if there are too many, or its texts or names are too long.
 */
function readValues({ arguments: given, capabilities }: Question): FoundValues | undefined {
  const control: FoundValue[] = []
  const texts = new Set<string>()
  const seen = new Map<string, Set<unknown>>()
  const names = namesIn(given?.schema)
  const facts: ArgumentFacts = { tool: given?.tool, capabilities, texts: given?.texts, targets: given?.targets }
  let left = MAX_VALUES
  let chars = MAX_TEXT_CHARS
  const reading = new SearchBudget(MAX_READ_CHARS)
  const add = (argument: string, value: unknown, kind: FoundValue['kind']): boolean => {
    if (typeof value !== 'string' || value.length <= MAX_HASHED_CHARS) {
      const key = `${kind} ${argument}`
      const known = seen.get(key) ?? new Set()
      if (known.has(value)) return true
      seen.set(key, known.add(value))
    }
    return control.push({ argument, value, kind }) <= MAX_VALUES
  }
  const visit = (value: unknown, path: readonly string[], field: SchemaField, given?: ReadonlySet<string>): boolean => {
    if (left-- <= 0 || path.length > MAX_DEPTH) return false
    // What is not chosen is not looked at: nothing, or what the tool takes anyway.
    if (value === undefined || field.isDefault(value)) return true
    const argument = nameOf(path)
    if (isEmpty(value)) return path.length === 0 || add(argument, value, 'empty')
    if (Array.isArray(value))
      return value.length <= left && value.every((item) => visit(item, path, field.items(), given))
    if (isPlainObject(value)) {
      const keys = Object.keys(value)
      if (keys.length > left) return false
      const together = lastWordsOf(keys)
      return keys.every((key) => {
        const at = [...path, key]
        if (at.reduce((length, name) => length + name.length, 0) > MAX_PATH_CHARS) return false
        // A name that the tool does not give its arguments is chosen by the caller.
        const isNew = names !== undefined && !names.has(key)
        if (isNew && !add(nameOf(at), key, MAIL_OR_URL.test(key) ? 'declared' : 'option')) return false
        return visit(value[key], at, field.field(key), together)
      })
    }
    const kind = kindOf(path, field, { ...facts, given })
    if (typeof value !== 'string' || kind !== 'text') return add(argument, value, kind === 'text' ? 'option' : kind)
    texts.add(argument)
    chars -= value.length
    const addresses = chars < 0 ? undefined : addressesIn(value, reading)
    if (addresses === undefined) return false
    for (const address of addresses) if (!add(argument, address, 'address')) return false
    return true
  }
  return visit(given?.input, [], SchemaField.of(given?.schema)) ? { values: control, texts } : undefined
}

/** Whether a value chooses nothing, which may clear what is there. */
function isEmpty(value: unknown): boolean {
  if (value === null || value === '') return true
  return Array.isArray(value) ? value.length === 0 : isPlainObject(value) && Object.keys(value).length === 0
}

function nameOf(path: readonly string[]): string {
  const [name = ''] = path
  return path.length === 1 && name !== '' && !name.startsWith('/') ? name : toPointer(path)
}

/** The names of arguments for people; a caller may have chosen some of them. */
function shownNames(values: readonly ControlValue[]): readonly string[] {
  const names = [...new Set(values.map(({ argument }) => revealLine(argument.slice(0, MAX_NAME_CHARS))))]
  const others = names.length - MAX_NAMES
  return others > 0 ? [...names.slice(0, MAX_NAMES), `${others} more`] : names
}

/** Why the user's words do not account for these values. */
function reasonsOf(values: readonly FoundValue[], { grave, words }: ToolAction): string {
  if (grave !== undefined)
    return `The name or title of this tool says "${grave}": such a tool needs a rule or an approval, whatever the user said.`
  const named = (kinds: readonly FoundValue['kind'][]) =>
    shownNames(values.filter(({ kind }) => kinds.includes(kind))).join(', ')
  const [options, empty, addresses, others] = [
    ['option'],
    ['empty'],
    ['address'],
    ['target', 'declared', 'moment'],
  ].map((kinds) => named(kinds as FoundValue['kind'][]))
  return [
    others && `${others}: the user did not name this value in a request to ${words[0] ?? 'do this'}.`,
    options && `${options}: is an option, and only a rule or an approval can choose it.`,
    empty && `${empty}: is empty, which may clear something.`,
    addresses && `${addresses}: contains an address or number that the user did not name.`,
  ]
    .filter((reason) => reason)
    .join(' ')
}
