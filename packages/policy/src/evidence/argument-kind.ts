import type { Capability } from '@tool-hub/core'
import { actionOf, type NeededRequest, singular, type ToolAction, thingOf, wordsOfName } from './actions.ts'
import { momentOf } from './days.ts'
import type { SchemaField } from './schema-fields.ts'
import { wordSet } from './tokens.ts'

/**
 * What an argument is for: a text that people read, a target (whom or what the call acts on), a moment, or an option. The
 * user's words are evidence for targets and moments only. A target is declared if its tool or its format says so, not only
 * its name.
 */
export type ArgumentKind = 'text' | 'target' | 'declared' | 'moment' | 'option'

/** What is known about the arguments of a tool. */
export interface ArgumentFacts {
  readonly tool?: string
  readonly capabilities: readonly Capability[]
  /** The arguments that the tool says are texts for people. */
  readonly texts?: readonly string[] | undefined
  /** The arguments that the tool says are targets. */
  readonly targets?: readonly string[] | undefined
  /** The last words of the names next to the argument in question. */
  readonly given?: ReadonlySet<string>
}

/** Names of arguments that are texts for people. */
const TEXTS = wordSet(
  'body subject text message description title summary note notes comment comments caption detail details reason markdown html memo',
)
/** Names of texts for people if somebody is to get them: next to a file or an address they are what a program reads. */
const CONTENTS = wordSet('content contents')
const RECIPIENTS = listOf(
  'to cc bcc recipient recipients email emails channel channels room chat conversation thread user users username member members participant participants attendee attendees phone',
)
/** A `body` next to one of these is a request for a program. */
const REQUESTS = listOf('url uri endpoint method headers verb webhook query script file path filename')
/** What such an argument of these says is read by a program, so it decides as much as any other. */
const READ_BY_PROGRAMS: ReadonlySet<Capability> = new Set(['exec', 'send', 'browser', 'canvas'])

/** Last words of names that say whom or what a call acts on. */
const TARGETS = wordSet(
  `to cc bcc from recipient recipients sender receiver payee email emails mail address addresses account accounts iban phone handle
  id ids uuid guid path paths file files filename filenames folder folders directory dir document documents attachment attachments
  url urls uri uris link links href website site page host hosts hostname domain domains endpoint
  branch repo repos repository channel channels room rooms chat thread conversation source destination target targets
  user users username usernames member members participant participants attendee attendees guest guests invitee invitees
  contact contacts person people assignee assignees calendar board ticket issue`,
)
const NAMED = wordSet('name names id number')
const MOMENTS = wordSet(
  'date day days time start end begin until due deadline when from to at since checkin checkout arrival departure',
)
const TARGET_FORMATS = wordSet(
  'email idn-email uri uri-reference iri iri-reference hostname idn-hostname ipv4 ipv6 uuid',
)
const MOMENT_FORMATS = wordSet('date date-time time')
/** Verbs of tools whose name ends in what they change, not in what they act on: `set_status`. */
const SETTERS = wordSet('set update change edit modify adjust switch mark toggle enable disable configure')
/** Names of arguments that identify something: a short number there is an id, and occurs in any text by chance. */
const ID_NAMES = /(?:^|[_-])(?:ids?|key|token|code|number|no)$|I[dD]s?$/

const NONE: ReadonlySet<string> = new Set()
const MAX_NAMES = 1_000

function listOf(text: string): readonly string[] {
  return text.split(/\s+/)
}

/** Whether the argument at a path is a text for people: as its tool says, or else by its name. */
export function isTextArgument(path: readonly string[], { capabilities, texts, given = NONE }: ArgumentFacts): boolean {
  if (texts) return path.length === 1 && texts.includes(path[0]!)
  const name = path.at(-1)?.toLowerCase() ?? ''
  if (capabilities.some((capability) => READ_BY_PROGRAMS.has(capability))) return false
  const isRequest = () => REQUESTS.some((each) => given.has(each))
  if (CONTENTS.has(name)) return RECIPIENTS.some((each) => given.has(each)) && !isRequest()
  return TEXTS.has(name) && !(name === 'body' && isRequest())
}

/** The last words of names of arguments, to tell what stands next to one. */
export function lastWordsOf(names: readonly string[]): ReadonlySet<string> {
  return new Set(names.slice(0, MAX_NAMES).map((name) => wordsOfName(name).at(-1) ?? ''))
}

/** Whether an argument is called like something that identifies. */
export function isIdName(name: string): boolean {
  return ID_NAMES.test(name)
}

/** What the argument at a path is for. In doubt it is an option, for which the user's words are no evidence. */
export function kindOf(path: readonly string[], field: SchemaField, facts: ArgumentFacts): ArgumentKind {
  if (isTextArgument(path, facts)) return 'text'
  if (facts.targets) return path.length === 1 && facts.targets.includes(path[0]!) ? 'declared' : 'option'
  if (field.isOption) return 'option'
  if (field.formats.some((format) => TARGET_FORMATS.has(format))) return 'declared'
  if (field.formats.some((format) => MOMENT_FORMATS.has(format))) return 'moment'
  const name = wordsOfName(path.at(-1) ?? '')
  const last = name.at(-1) ?? ''
  if (TARGETS.has(last)) return 'target'
  if (name.length > 1 && NAMED.has(last) && TARGETS.has(name.at(-2)!)) return 'target'
  if (isObjectOfTool(name, facts.tool)) return 'target'
  return MOMENTS.has(last) ? 'moment' : 'option'
}

/** Whether an argument is called like what the tool acts on: `hotel`, or `hotel_name`, of `reserve_hotel`. */
function isObjectOfTool(name: readonly string[], tool: string | undefined): boolean {
  if (tool === undefined) return false
  const action = actionOf(tool)
  const own = action.words
  if (own.some((word) => SETTERS.has(word))) return false
  const noun = NAMED.has(name.at(-1)!) && name.length > 1 ? name.at(-2)! : name.at(-1)!
  return name.length > 0 && own.slice(1).some((word) => singular(word) === singular(noun))
}

/** What a value of an argument must mean in the user's words: by the name of the argument, or else by that of the tool. */
export function askedWith(action: ToolAction, argument: string): NeededRequest {
  const name = wordsOfName(argument)
  const isPerson = name.some((word) => PEOPLE.has(word) || MAILS.has(word))
  const own = name.map(thingOf).filter((thing) => thing !== undefined)
  const ofTool = isPerson || own.length > 0 ? [] : action.words.map(thingOf).filter((thing) => thing !== undefined)
  const last = name.at(-1)
  const role = last === 'source' || last === 'destination' ? last : undefined
  return { action, isPerson, role, things: new Set([...own, ...ofTool]) }
}

const MAIL = /^[^\s@/]+@[^\s@/]+\.[^\s@/.]+$/
const PEOPLE = wordSet(
  'recipient recipients sender receiver payee user users username usernames member members contact contacts person people assignee assignees',
)
/** Arguments that take mail addresses; a mere name there may be anybody's. */
const MAILS = wordSet(
  'email emails mail cc bcc participant participants attendee attendees guest guests invitee invitees',
)
const IDS = wordSet('id ids uuid guid number')
const PAGES = wordSet('url urls uri uris link links href website site page host hosts hostname domain domains endpoint')
const FREE = wordSet('to from source destination target targets address addresses')
/** A host or a file name, in a value without blanks. */
const DOTTED = /(?<=.)\.\p{L}[\p{L}\p{N}]{1,23}(?:[/?#]|$)/u

/** Whether a value looks like what an argument names: a date is not a recipient, and a file is not a channel. */
export function fitsTarget(argument: string, value: unknown, action: ToolAction): boolean {
  if (typeof value !== 'string') return true
  const name = wordsOfName(argument)
  const last = name.at(-1) ?? ''
  const isMail = MAIL.test(value)
  if (FREE.has(last) && !action.words.some((word) => MAILS.has(word))) return true
  if (momentOf(value)) return MOMENTS.has(last)
  if (/^\d{1,2}(?::\d\d|st|nd|rd|th)/.test(value)) return false
  if (name.some((word) => MAILS.has(word))) return isMail
  if (FREE.has(last) || PEOPLE.has(last)) {
    if (action.words.some((word) => MAILS.has(word))) return isMail
    return isMail || (/^(?:[\p{L}@+]|\d{6})/u.test(value) && !/[./:!?,;{}]/.test(value))
  }
  if (IDS.has(last)) return /\d/.test(value) && !/[\s@]/.test(value)
  if (PAGES.has(last)) return /[.:]/.test(value) && !/\s/.test(value) && !isMail
  if (FILES.has(last)) return !isMail && !/^[a-z][a-z0-9+-]*:\/\//i.test(value)
  if (last === 'phone') return /^\+?[\d ()/-]{6,24}$/.test(value)
  // A number alone is an amount or a year.
  if (!/\p{L}/u.test(value) && !BRANCHES.has(last)) return false
  return !isMail && (BRANCHES.has(last) || /\s/.test(value) || !DOTTED.test(value)) && !/[!?;:]/.test(value)
}
const FILES = wordSet(
  'path paths file files filename filenames folder folders directory dir document documents attachment attachments',
)
const BRANCHES = wordSet('branch repo repos repository account accounts iban')
