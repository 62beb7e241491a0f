import { isPlainObject, toPointer } from '../lib/index.ts'
import type { PolicyQuestion } from './question.ts'
import { dayOf } from './user-words.ts'
import type { ValueEvidence } from './where.ts'

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
  /^(?:body|subject|content|contents|text|message|description|title|summary|notes?|comments?|caption|details?|reason|markdown|html|prompt|memo)$/i
/** Names of arguments that identify something: a short number there is an id, and occurs in any text by chance. */
const ID_NAMES = /(?:^|[_-])(?:ids?|key|token|code|number|no)$|I[dD]s?$/
const MIN_ID = 100
const MAX_VALUES = 1_000
const MAX_TEXT_CHARS = 262_144

/** Addresses that a text may lead to: URLs, hosts, mail addresses, account and card numbers. */
const ADDRESS =
  /[a-z][a-z0-9+.-]*:\/\/[^\s<>"']+|[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+|(?<![\p{L}\p{N}.@-])(?:[\p{L}\p{N}-]+\.)+\p{L}{2,24}(?:\/[^\s<>"']*)?|\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{2,4}){3,8}\b|(?<![\d.])\d(?:[ _./-]?\d){12,18}(?![\d.])/giu

/** Whether an argument is called like a text for people. */
export function isTextName(name: string): boolean {
  return TEXT_NAMES.test(name)
}

/** Whether an argument is called like something that identifies. */
export function isIdName(name: string): boolean {
  return ID_NAMES.test(name)
}

/** Reads the values of a call. Returns `undefined` if there are too many, or a text is too long. */
function readValues(input: unknown): CallValues | undefined {
  const control: ControlValue[] = []
  const texts: ControlValue[] = []
  let left = MAX_VALUES
  const visit = (value: unknown, path: readonly string[], isFreeText: boolean): boolean => {
    if (left-- <= 0) return false
    if (Array.isArray(value)) return value.every((item) => visit(item, path, isFreeText))
    if (isPlainObject(value))
      return Object.entries(value).every(([key, field]) => visit(field, [...path, key], isFreeText || isTextName(key)))
    // Without a value nothing is chosen.
    if (value === null || value === undefined || value === '') return true
    const argument = path.length === 1 ? path[0]! : toPointer(path)
    if (typeof value === 'string' && isFreeText) {
      if (value.length > MAX_TEXT_CHARS) return false
      texts.push({ argument, value })
      for (const [address] of value.normalize('NFKC').matchAll(ADDRESS))
        control.push({ argument, value: address.replace(/[.,:;!?)\]]+$/, '') })
      return true
    }
    control.push({ argument, value })
    return true
  }
  return visit(input, [], false) ? { control, texts } : undefined
}

/** A call that chooses nothing but texts needs one of them to be the user's. */
const ITS_TEXT = 'its text'

/**
 * Returns the arguments of a call that nothing shows to come from the user; `undefined` if nobody knows what the user
 * said, or the arguments cannot be read.
 */
export function unprovenOf(question: Pick<PolicyQuestion, 'arguments'>): readonly string[] | undefined {
  const { tool, input, evidence } = question.arguments ?? {}
  const values = evidence?.hasUserText ? readValues(input) : undefined
  if (tool === undefined || evidence === undefined || values === undefined) return undefined
  if (values.control.length > 0) return [...new Set(unproven(tool, values, evidence).map(({ argument }) => argument))]
  return values.texts.some(({ value }) => evidence.isFromUser(value)) ? [] : [ITS_TEXT]
}

/** Returns the values of a call that nothing shows to come from the user, to be approved one by one. */
export function unprovenValues({ arguments: given }: Pick<PolicyQuestion, 'arguments'>): readonly ControlValue[] {
  const values = given?.evidence && readValues(given.input)
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
