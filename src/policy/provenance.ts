import type { Capability } from '../core/index.ts'
import { isPlainObject, revealLine, toPointer } from '../lib/index.ts'
import type { PolicyQuestion } from './question.ts'
import { dayOf } from './user-words.ts'
import type { CallArguments, ValueEvidence } from './where.ts'

/** A value of a call that says what the call does, and where it stands among the arguments. */
export interface ControlValue {
  /** The name of the argument, or a JSON pointer to a value inside it. */
  readonly argument: string
  readonly value: unknown
}

/** The values of a call, by what they are for. */
interface CallValues {
  readonly control: readonly ControlValue[]
  /** Texts that people read: they decide nothing, apart from the addresses in them. */
  readonly texts: readonly ControlValue[]
}

/** Names of arguments that are texts for people. */
const TEXT_NAMES =
  /^(?:body|subject|content|contents|text|message|description|title|summary|notes?|comments?|caption|details?|reason|markdown|html|memo)$/i
/** What such an argument of these says is read by a program, so it decides as much as any other. */
const READ_BY_PROGRAMS: ReadonlySet<Capability> = new Set(['exec', 'send', 'browser', 'canvas'])
/** Names of arguments that identify something: a short number there is an id, and occurs in any text by chance. */
const ID_NAMES = /(?:^|[_-])(?:ids?|key|token|code|number|no)$|I[dD]s?$/
const MIN_ID = 100
const MAX_VALUES = 1_000
const MAX_TEXT_CHARS = 262_144
/** How many names of arguments a decision shows, and how much of each. */
const MAX_NAMES = 20
const MAX_NAME_CHARS = 100

/**
 * Addresses that a text may lead to: URLs, hosts, mail addresses, account, card and wallet numbers. All repetitions before
 * the first fixed character are bounded, so that the time grows with the text and not with its square.
 */
const ADDRESS = new RegExp(
  [
    String.raw`(?:[a-z][a-z0-9+.-]{0,30}:\/\/|(?<![\p{L}\p{N}])(?:https?|ftp|mailto|tel|sms|data|javascript):|\/\/)[^\s<>"']+`,
    String.raw`[\p{L}\p{N}._%+-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63})+`,
    String.raw`(?<![\p{L}\p{N}-])(?:[\p{L}\p{N}-]{1,63}\.){1,10}\p{L}{2,24}(?:\/[^\s<>"']*)?`,
    String.raw`(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])`,
    String.raw`\\\\[\p{L}\p{N}._-]{1,63}\\[^\s<>"']*`,
    String.raw`\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{2,4}){3,8}\b`,
    String.raw`(?<![\d.])\d(?:[ _./-]?\d){12,18}(?![\d.])`,
    String.raw`(?<![\p{L}\p{N}])(?=[a-z]{0,62}\d)(?=\d{0,62}[a-z])[a-z0-9]{26,62}(?![\p{L}\p{N}])`,
  ].join('|'),
  'giu',
)

/** What is known about the texts of a tool. */
export interface TextFacts {
  readonly capabilities: readonly Capability[]
  /** The arguments that the tool says are texts for people. */
  readonly texts?: readonly string[] | undefined
}

/** Whether the argument at a path is a text for people: as its tool says, or else by its name. */
export function isTextArgument(path: readonly string[], { capabilities, texts }: TextFacts): boolean {
  if (texts) return path.length === 1 && texts.includes(path[0]!)
  return TEXT_NAMES.test(path.at(-1) ?? '') && !capabilities.some((capability) => READ_BY_PROGRAMS.has(capability))
}

/** Whether an argument is called like something that identifies. */
export function isIdName(name: string): boolean {
  return ID_NAMES.test(name)
}

/** Reads the values of a call. Returns `undefined` if there are too many, or a text is too long. */
function readValues({ arguments: given, capabilities }: Question): CallValues | undefined {
  const control: ControlValue[] = []
  const texts: ControlValue[] = []
  const facts = { capabilities, texts: given?.texts }
  const names = namesIn(given?.schema)
  let left = MAX_VALUES
  const visit = (value: unknown, path: readonly string[]): boolean => {
    if (left-- <= 0) return false
    if (Array.isArray(value)) return value.every((item) => visit(item, path))
    if (isPlainObject(value))
      return Object.entries(value).every(([key, field]) => {
        const at = [...path, key]
        // A name that the tool does not give its arguments is chosen by the caller.
        if (names && !names.has(key)) control.push({ argument: nameOf(at), value: key })
        return visit(field, at)
      })
    // Without a value nothing is chosen.
    if (value === null || value === undefined || value === '') return true
    const argument = nameOf(path)
    if (typeof value === 'string' && isTextArgument(path, facts)) {
      if (value.length > MAX_TEXT_CHARS) return false
      texts.push({ argument, value })
      for (const address of addressesIn(value)) control.push({ argument, value: address })
      return true
    }
    control.push({ argument, value })
    return true
  }
  return visit(given?.input, []) ? { control, texts } : undefined
}

function nameOf(path: readonly string[]): string {
  const [name = ''] = path
  return path.length === 1 && name !== '' && !name.startsWith('/') ? name : toPointer(path)
}

type Question = Pick<PolicyQuestion, 'arguments' | 'capabilities'>

/** Programs read a full stop in other scripts as a dot, and skip characters that nobody sees. */
function addressesIn(text: string): readonly string[] {
  const plain = text
    .normalize('NFKC')
    .replaceAll(/\p{Cf}/gu, '')
    .replaceAll('\u3002', '.')
  return Array.from(plain.matchAll(ADDRESS), ([address]) => address.replace(/[.,:;!?)\]]{1,10}$/, ''))
}

const knownNames = new WeakMap<object, ReadonlySet<string>>()

/** The names of arguments and their fields in a schema, at any level. `undefined` without a schema. */
function namesIn(schema: CallArguments['schema']): ReadonlySet<string> | undefined {
  if (schema === undefined) return undefined
  const known = knownNames.get(schema)
  if (known) return known
  const names = new Set<string>()
  const seen = new Set<unknown>()
  const left: unknown[] = [jsonSchemaOf(schema)]
  while (left.length > 0) {
    const at = left.pop()
    if (typeof at !== 'object' || at === null || seen.has(at)) continue
    seen.add(at)
    if (isPlainObject(at) && isPlainObject(at.properties))
      for (const name of Object.keys(at.properties)) names.add(name)
    left.push(...Object.values(at))
  }
  knownNames.set(schema, names)
  return names
}

/** A schema that cannot be shown names nothing: then every key is a value. */
function jsonSchemaOf(schema: NonNullable<CallArguments['schema']>): unknown {
  try {
    return schema.jsonSchema()
  } catch {
    return undefined
  }
}

/** A call that chooses nothing but texts needs them to be the user's: one word of the user proves nothing about the rest. */
const ITS_TEXT = 'its text'

/**
 * Returns the arguments of a call that nothing shows to come from the user; `undefined` if nobody knows what the user
 * said, or the arguments cannot be read.
 */
export function unprovenOf(question: Question): readonly string[] | undefined {
  const { tool, evidence } = question.arguments ?? {}
  const values = evidence?.hasUserText ? readValues(question) : undefined
  if (tool === undefined || evidence === undefined || values === undefined) return undefined
  if (values.control.length > 0) return shownNames(unproven(tool, values, evidence))
  const isFromUser = values.texts.every(({ value }) => evidence.isFromUser(value))
  return isFromUser && values.texts.length > 0 ? [] : [ITS_TEXT]
}

/** The names of arguments for people; a caller may have chosen some of them. */
function shownNames(values: readonly ControlValue[]): readonly string[] {
  const names = [...new Set(values.map(({ argument }) => revealLine(argument.slice(0, MAX_NAME_CHARS))))]
  const others = names.length - MAX_NAMES
  return others > 0 ? [...names.slice(0, MAX_NAMES), `${others} more`] : names
}

/** Returns the values of a call that nothing shows to come from the user, to be approved one by one. */
export function unprovenValues(question: Question): readonly ControlValue[] {
  const { arguments: given } = question
  const values = given?.evidence && readValues(question)
  return given?.evidence && values ? unproven(given.tool, values, given.evidence) : []
}

/**
 * Returns the control values that neither the user's words nor an earlier approval account for. A time needs no evidence
 * of its own on a day that another value of the call proves: "at ten, for one hour" gives the end as well.
 */
function unproven(tool: string, { control }: CallValues, evidence: ValueEvidence): readonly ControlValue[] {
  const isProven = (given: ControlValue) =>
    (evidence.isFromUser(given.value) && !isShortId(given)) || evidence.isApproved(tool, given.argument, given.value)
  const days = new Set(control.filter(isProven).map(({ value }) => dayOf(value)))
  return control.filter((given) => !isProven(given) && !(dayOf(given.value) && days.has(dayOf(given.value))))
}

/** Whether a number is an id rather than an amount; one that is short proves nothing. */
function isShortId({ argument, value }: ControlValue): boolean {
  return typeof value === 'number' && Math.abs(value) < MIN_ID && isIdName(argument)
}
