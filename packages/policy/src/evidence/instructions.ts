import { kinds } from './actions.ts'
import { isInside, type Range } from './sentences.ts'
import { type Token, wordSet } from './tokens.ts'

/** Where a text asks for something. */
export interface Instruction {
  readonly at: number
  readonly verb: string
  readonly isRead: boolean
}

/** All instructions of a text, in order, and the places of each word that stands like one. */
export interface Instructions {
  readonly known: readonly Instruction[]
  readonly byVerb: ReadonlyMap<string, readonly number[]>
}

/** A noun that asks like the verb: "make a reservation". */
const NOUNS: ReadonlyMap<string, string> = new Map([
  ['reservation', 'reserve'],
  ['reservations', 'reserve'],
  ['booking', 'book'],
])
/** Nouns of NOUNS ask only behind one of these. */
const MAKERS = wordSet('make a the my our another new')
const NEW = wordSet('a an another new')
const US = wordSet('me us mir uns moi nous')

/** Words before a verb that is an instruction; other verbs tell what happened, or are nouns. */
const OPENERS = wordSet(
  "please and or but so do lets let's kindly ahead either you'll bitte und oder dann et puis ou veuillez y luego favor",
)
/** These stand between a verb and the word that makes it an instruction. */
const ADVERBS = wordSet(
  'then also just now first again later simply immediately next finally quickly always kindly please directly bitte auch aussi ensuite también',
)
/** With "you" these ask; with anybody else they say what somebody else may do. */
const MODALS = wordSet(
  'can could would will should must may peux pouvez pourrais pourriez puedes podrías puede podría kannst könntest würdest können könnten würden',
)
const YOU = wordSet('you tu vous usted du sie ihr')
const QUESTIONS = wordSet('how why who what when where whether if that')
const NOUN_ENDS = wordSet('for of from by is are was were von de')
const NUMBERED = wordSet('email mail message post text note record log draft plan comment answer reply')
/** Before "to" and a verb, these ask; with any other word, somebody else is to do it. */
const BEFORE_TO = wordSet('sure remember forget order hesitate')
const WISHES = wordSet('want need like')
const WISHERS = wordSet("i we you i'd we'd would just also really")
const HAVE = wordSet('you first then now also')
/** "I want you to"; with any other subject, somebody else asks: "a letter may ask you to". */
const ASKS_YOU = wordSet('want need like ask asking task job request urge beg trust expect')
const ASKERS = wordSet("i i'd i'm am we we'd we're are would just also really my your now hereby")

/** What follows is what somebody says, or a text: "the letter says: send it". */
const SAYS =
  /(?<!\p{L})(?:tell|ask|answer|reply|remind|says?|said|states?|stated|reads|writes|wrote|told|asks|asked|subject|message|letter|policy|translate|proofread|rephrase|rewrite|explain|logs?|script|prompt|sentence|paragraph|snippet|transcript|todo|later|postponed?|defer(?:red)?|übersetze|traduis|traduce|dis|dit|sag|sagt|schreibt|steht|dice|dile|dijo)(?!\p{L})[^:;,]{0,40}:\W{0,3}$/iu

const READ = kinds.find(({ tools }) => tools.has('get'))!

const VERBS = new Set(kinds.flatMap(({ asks }) => [...asks]))

/** Whether a word is a verb of any kind of action. */
export function isVerb(word: string): boolean {
  return VERBS.has(word)
}

/** Finds the instructions in a text. What stands in a quotation is somebody's text, and asks for nothing. */
export function instructionsIn(
  text: string,
  tokens: readonly Token[],
  sentences: readonly Range[],
  quotations: readonly Range[],
): Instructions {
  const known: Instruction[] = []
  const byVerb = new Map<string, number[]>()
  const add = (verb: string, at: number) => {
    const places = byVerb.get(verb)
    if (places) places.push(at)
    else byVerb.set(verb, [at])
  }
  let sentence = -1
  // "Kannst du … schicken?", "Bitte … schicken": in German the verb of a request may stand at the end.
  let request = -1
  let isQuoted = false
  for (const [index, token] of tokens.entries()) {
    const { word, from, to } = token
    const isNext = from >= (sentences[sentence + 1]?.from ?? Number.POSITIVE_INFINITY)
    while (from >= (sentences[sentence + 1]?.from ?? Number.POSITIVE_INFINITY)) sentence++
    const start = sentences[sentence]?.from ?? 0
    const last = tokens[index - 1]
    if (isNext || isClause(text, last, token)) request = isNext && word === 'bitte' ? from : -1
    if (YOU.has(word) && MODALS.has(last?.word ?? '') && isFirst(text, tokens, index - 1, start)) request = last!.from
    if (isNext) isQuoted = false
    else
      isQuoted ||= text.slice(from - 3, from).includes(':') && SAYS.test(text.slice(Math.max(start, from - 60), from))
    const noun = MAKERS.has(last?.word ?? '') ? NOUNS.get(word) : undefined
    const isAtEnd = request !== -1 && request !== from && /\p{L}en$/u.test(word) && isVerb(word)
    const isAsked = noun !== undefined || isAtEnd || isNext || isInstruction(text, tokens, index, start)
    const at = isAtEnd ? request : from
    if (!isAsked || isQuoted || isInside(quotations, from)) continue
    const next = tokens[index + 1]
    if (!isAtEnd && noun === undefined && isNoun(text, token, next)) continue
    // "Add an event" makes a new one; "add Ann" does not.
    const isNew = (word === 'add' || word === 'open') && NEW.has(next?.word ?? '')
    const isSetUp = word === 'set' && next?.word === 'up'
    const verb = noun ?? (isNew || isSetUp ? 'create' : word.replace(/^d['’]/, ''))
    const isRead = READ.asks.has(verb)
    // What the user wants to get is not a request to write to others: "tell me", "send us".
    if (!isRead && US.has(next?.word ?? '') && next!.from === to + 1 && !'@._'.includes(text[next!.to] ?? ' ')) continue
    add(verb, at)
    if (isNew) add(`${word} ${tokens[index + 2]?.word}`, at)
    if (isVerb(verb)) known.push({ at, verb, isRead })
    if (isNew) known.push({ at, verb: `${word} ${tokens[index + 2]?.word}`, isRead: false })
  }
  return { known, byVerb }
}

/** Verbs that are nouns, or other words, where these follow: "log for", "close to", "comment 3". */
function isNoun(text: string, { word, to }: Token, next: Token | undefined): boolean {
  if (READ.asks.has(word)) return false
  if (word === 'close') return next?.word === 'to'
  return NOUN_ENDS.has(next?.word ?? '') || (/^ \d/.test(text.slice(to, to + 2)) && NUMBERED.has(word))
}

/** Whether the word is an instruction to the reader, by what stands before it in its sentence. */
function isInstruction(text: string, tokens: readonly Token[], index: number, from: number): boolean {
  if (isClause(text, tokens[index - 1], tokens[index]!)) return true
  let at = index - 1
  while (at >= 0 && index - at < 4 && ADVERBS.has(tokens[at]!.word) && tokens[at]!.from >= from) {
    if (isClause(text, tokens[at - 1], tokens[at]!)) return true
    at--
  }
  const [before, prior, first, earlier] = [0, 1, 2, 3].map((back) => {
    const token = tokens[at - back]
    return token && token.from >= from ? token.word : ''
  })
  // Nothing but adverbs stands before it.
  if (before === '') return true
  // "Check whether I need to" asks for a check.
  if (before === 'to') return !QUESTIONS.has(earlier!) && asksTo(prior!, first!, earlier!)
  if (/^d['’]/.test(tokens[index]!.word) || before === 'de') return (before === 'de' ? prior : before) === 'merci'
  if (MODALS.has(before!)) return prior === '' || (prior === 'you' && !QUESTIONS.has(first!))
  if (YOU.has(before!))
    return prior === '' || prior === 'and' || prior === 'then' || (MODALS.has(prior!) && !QUESTIONS.has(first!))
  return OPENERS.has(before!) || at < index - 1
}

/** Whether two words before "to" and a verb ask the reader: "I want you to", "make sure to", "your task is to". */
function asksTo(prior: string, first: string, earlier: string): boolean {
  if (prior === 'you') return ASKS_YOU.has(first) && (earlier === '' || ASKERS.has(earlier))
  if (prior === 'have') return HAVE.has(first)
  if (prior === 'is') return first === 'task' || first === 'job' || first === 'goal'
  return BEFORE_TO.has(prior) || (WISHES.has(prior) && WISHERS.has(first))
}

function isFirst(text: string, tokens: readonly Token[], index: number, from: number): boolean {
  const [token, last] = [tokens[index]!, tokens[index - 1]]
  return last === undefined || last.from < from || OPENERS.has(last.word) || isClause(text, last, token)
}

/** Whether a new clause begins between two words. */
function isClause(text: string, last: Token | undefined, { from }: Token): boolean {
  if (!last) return false
  for (let at = last.to; at < Math.min(from, last.to + 8); at++) if (',;:\n(–—'.includes(text[at]!)) return true
  return false
}
