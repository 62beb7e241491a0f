import { type NeededRequest, namesWhatIsMade, type ToolAction } from './actions.ts'
import { addsDetail, asksForJoined, isRecipient, mayBeTarget, namesAnother, reaches, refersBack } from './governs.ts'
import { type Instructions, instructionsIn } from './instructions.ts'
import type { SearchBudget } from './search-budget.ts'
import { continuesText, firstAt, isInside, type Range, rangeAt } from './sentences.ts'
import { CJK_LETTER, PLAIN_WORDS, QUOTE_MARKS, type Token } from './tokens.ts'

/** How many sentences may stand between an instruction and a value. */
const MAX_DISTANCE = 2
/** How many words may stand between an instruction and its object; a list of recipients may be long. */
const MAX_REACH = 200
const MAX_REACH_CHARS = 4_000
/** How much of a sentence is read to understand it. */
const MAX_SENTENCE_CHARS = 1_000

/** The user's words, taken apart. */
interface ParsedWords {
  readonly text: string
  /** Where each text begins: instructions count for the values of their own text. */
  readonly texts: readonly Range[]
  readonly tokens: readonly Token[]
  readonly sentences: readonly Range[]
  readonly bans: readonly Range[]
  readonly quotations: readonly Range[]
}

/** What the user asks for: whether an instruction is about a value, and not only close to it. */
export class Consent {
  readonly #said: ParsedWords
  readonly #text: string
  #instructions: Instructions | undefined
  readonly #anywhere = new Map<ToolAction, boolean>()

  constructor(said: ParsedWords) {
    this.#said = said
    this.#text = said.text
  }

  /** Whether the user asks for an action anywhere. */
  asksFor(action: ToolAction): boolean {
    let isAsked = this.#anywhere.get(action)
    if (isAsked === undefined) {
      isAsked = this.#allAsked(action, 0, this.#text.length).next().done !== true || this.#asksJoined(action)
      this.#anywhere.set(action, isAsked)
    }
    return isAsked
  }

  /** Whether the user asks for an action on the value at a place. */
  isGiven(wanted: string, at: number, asked: NeededRequest, budget: SearchBudget): boolean {
    const { action, things, isPerson, role } = asked
    const place = { from: at, to: at + wanted.length }
    if (!budget.spend(50) || this.#isQuotedWithMore(place)) return false
    const isQuoted = QUOTE_MARKS.includes(this.#text[at - 1] ?? ' ')
    const isName = PLAIN_WORDS.test(wanted) && !CJK_LETTER.test(wanted)
    const around = [this.#text.slice(Math.max(0, at - 30), at), this.#text.slice(place.to, place.to + 30)] as const
    const named = {
      things,
      role,
      isName: isName && !isQuoted,
      isMail: wanted.includes('@'),
      isNumber: /^\d+$/.test(wanted),
      isRead: action.isRead,
      isCjk: CJK_LETTER.test(wanted) || CJK_LETTER.test(around.join('')),
    }
    if (!mayBeTarget(around, named)) return false
    if (this.#isGoverned(place, asked, budget) || this.#isAskedJoined(place, action, budget)) return true
    const distance = isName && (isPerson || !isQuoted) ? 0 : MAX_DISTANCE
    return this.#isMeant(place, asked, distance, budget)
  }

  /** Whether the last instruction before a value in its sentence asks for the action, and reaches as far as the value. */
  #isGoverned({ from: at, to }: Range, { action, isPerson }: NeededRequest, budget: SearchBudget): boolean {
    const { known } = this.#read()
    const { tokens, bans } = this.#said
    const last = known[firstAt(known, at, ({ at }) => at) - 1]
    const place = this.#lastAsked(action, at)
    if (place < this.#beginOf(at) || place < (last?.at ?? -1) || isInside(bans, place)) return false
    const [verb, end] = [firstAt(tokens, place, startOf), firstAt(tokens, at, startOf)]
    if (end - verb > MAX_REACH || at - place > MAX_REACH_CHARS || !budget.spend(200 + end - verb)) return false
    const lead = this.#text.slice(Math.min(at, tokens[verb]?.to ?? place), at)
    if ((isPerson || this.#text.slice(at, to).includes('@')) && !isRecipient(lead, action.verbs.has('send')))
      return false
    const isKnown = last?.at === place
    return reaches(isKnown ? last.verb : '', tokens.slice(verb + 1, end), lead) && this.#namesMade(action, place)
  }

  /** The same in Chinese, Japanese and Korean. */
  #isAskedJoined({ from, to }: Range, { kinds }: ToolAction, budget: SearchBudget): boolean {
    const sentence = this.#sentenceAt(from)
    const said = this.#slice(sentence)
    if (sentence.to - sentence.from > MAX_SENTENCE_CHARS || !CJK_LETTER.test(said) || !budget.spend(400)) return false
    return asksForJoined(said, { from: from - sentence.from, to: to - sentence.from }, kinds)
  }

  #asksJoined({ kinds }: ToolAction): boolean {
    const { sentences, bans } = this.#said
    return sentences.some((sentence) => {
      const said = this.#slice(sentence)
      return CJK_LETTER.test(said) && !isInside(bans, sentence.from) && asksForJoined(said, { from: 0, to: 0 }, kinds)
    })
  }

  /** Whether an instruction behind a value refers back to it, or the value adds what an instruction before it left open. */
  #isMeant({ from, to }: Range, { action, isPerson }: NeededRequest, distance: number, budget: SearchBudget): boolean {
    const { texts, sentences } = this.#said
    const value = this.#text.slice(from, to)
    const isSomebody = isPerson || value.includes('@')
    const text = texts[rangeAt(texts, from)]!
    const sentence = rangeAt(sentences, from)
    const own = sentences[sentence]!
    const isAdded = from - own.from < MAX_SENTENCE_CHARS && addsDetail(this.#text.slice(own.from, from))
    const begin = isAdded ? Math.max(text.from, sentences[Math.max(0, sentence - distance)]!.from) : to
    const end = Math.min(text.to, (sentences[sentence + distance] ?? sentences.at(-1)!).to)
    for (const place of this.#allAsked(action, begin, end)) {
      if (!budget.spend(500)) return false
      const asking = this.#sentenceAt(place)
      const isBehind = place > from
      if (isBehind && !refersBack(this.#slice({ ...asking, from: Math.max(to, asking.from) }), isSomebody)) continue
      if (!isBehind && place >= own.from) continue
      if (!namesAnother(value, this.#slice({ ...asking, from: place })) && this.#namesMade(action, place)) return true
    }
    return false
  }

  /** Whether a value stands in a text that the user quotes. */
  #isQuotedWithMore({ from: at, to: end }: Range): boolean {
    const { quotations } = this.#said
    const { from, to } = quotations[rangeAt(quotations, at)] ?? { from: 0, to: 0 }
    if (at >= to) return false
    const rest = `${this.#text.slice(Math.max(from, at - 40), at)} ${this.#text.slice(end, Math.min(to, end + 40))}`
    return /(?<![@.\p{L}])\p{L}{2,}(?![@.]\p{L})/u.test(rest)
  }

  /** The places between two others at which the user asks for an action. */
  *#allAsked({ verbs }: ToolAction, from: number, to: number): Generator<number> {
    const { byVerb } = this.#read()
    for (const verb of verbs) {
      const places = byVerb.get(verb) ?? []
      for (let index = firstAt(places, from, itself); index < places.length && places[index]! < to; index++)
        if (!isInside(this.#said.bans, places[index]!)) yield places[index]!
    }
  }

  /** The last place before another at which the user asks for an action; -1 if there is none. */
  #lastAsked({ verbs }: ToolAction, before: number): number {
    const { byVerb } = this.#read()
    let last = -1
    for (const verb of verbs) {
      const places = byVerb.get(verb) ?? []
      last = Math.max(last, places[firstAt(places, before, itself) - 1] ?? -1)
    }
    return last
  }

  #namesMade(action: ToolAction, place: number): boolean {
    return namesWhatIsMade(action, this.#slice({ ...this.#sentenceAt(place), from: place }))
  }

  /** Where the sentence of a place begins; "and to Bob" belongs to the one before. */
  #beginOf(at: number): number {
    const { texts, sentences } = this.#said
    const text = texts[rangeAt(texts, at)]!
    let sentence = rangeAt(sentences, at)
    const { from } = sentences[sentence]!
    if (from > text.from && continuesText(this.#text.slice(from, from + 40))) sentence--
    return Math.max(text.from, sentences[sentence]!.from)
  }

  #sentenceAt(place: number): Range {
    const { sentences } = this.#said
    return sentences[rangeAt(sentences, place)]!
  }

  /** A part of the text, or its beginning where it is too long for a sentence. */
  #slice({ from, to }: Range): string {
    return this.#text.slice(from, Math.min(to, from + MAX_SENTENCE_CHARS))
  }

  #read(): Instructions {
    const { text, tokens, sentences, quotations } = this.#said
    this.#instructions ??= instructionsIn(text, tokens, sentences, quotations)
    return this.#instructions
  }
}

const startOf = ({ from }: Range) => from
const itself = (place: number) => place
