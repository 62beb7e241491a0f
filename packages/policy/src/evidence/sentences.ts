import { type Token, wordSet } from './tokens.ts'

/** A part of a text, from its first character to the one after its last. */
export interface Range {
  readonly from: number
  readonly to: number
}

/** A full stop behind one of these ends no sentence. */
const ABBREVIATION =
  /(?:^|[\s("'])(?:mr|mrs|ms|dr|prof|st|e\.g|i\.e|etc|vs|no|nr|inc|ltd|co|jr|sr|approx|dept|\p{Lu})$/iu
const LIST_ITEM = /^[ \t]*(?:[-*•–]|\d{1,3}[.)])[ \t]/
const LOWER = /^ ?\p{Ll}/u
const MARK_OR_LINE = /[.!?](?=["'”’»)\]]{0,3}(?:\s|$))|[。！？｡]|\n/gu
/** Words that forbid what follows them, in English, German, French and Spanish. */
const BANS = wordSet(
  `not cannot dont never no none nobody nothing neither nor except excepting exclude excludes excluding avoid avoiding without unless
  excluded exempt hypothetically suppose supposing banned blocked stop skip ignore ignoring refuse reject block forbid forbidden prohibit prohibited beware myself ourselves
  nicht nichts niemand niemandem kein keine keinem keinen keiner keines nie niemals weder außer ausser ausgenommen ohne statt anstatt anstelle
  ne pas rien personne aucun aucune jamais sauf hormis excepté excluant sans évite évitez nunca nada nadie ningún ninguna excepto excluyendo menos salvo sin evita`,
)
/** The same of two words. */
const BAN_PAIRS = new Set(
  [
    'instead of,rather than,other than,apart from,aside from,anything but,all but,everyone but,everybody but,anyone but,anybody but',
    'opposed to,place of',
    'leave out,keep from,away from,off limits,bis auf,außen vor',
    // A reservation: what follows waits for the user.
    'before you,before sending,ask me,me first,with me,my approval,my ok,my okay,my permission,my consent,my confirmation,my go',
    // A condition that nobody has checked yet.
    'only if,only when,only once,only after,nur wenn,nur falls,erst wenn,seulement si,solo si,sólo si',
    'bevor du,bevor sie,meiner freigabe,meine freigabe,mich bevor',
  ].flatMap((line) => line.split(',')),
)
/** Words that forbid with what stands between them: "leave Ann out of it". */
const AROUND: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['leave', wordSet('out off')],
  ['keep', wordSet('out off away where')],
  ['lass', wordSet('weg aus raus')],
  ['laisse', wordSet('dehors')],
  ['deja', wordSet('fuera')],
])
/** Only then, not now: "once I confirm", "if Bob agrees", "pending review". */
const WAITS = wordSet('once after when until till if soon provided assuming pending subject')
const CONSENTS = wordSet(
  'confirm confirmed approve approved agree agreed say said ok tell told decide decided sign signed review reviewed check checked',
)
const CONSENT_OF_OTHERS =
  /(?<!\p{L})(?:(?:confirm|approve|agree|accept|consent|sign|authori[sz]e|okay)s|(?:has|have|is|are|been|gets?) (?:confirmed|approved|agreed|accepted|signed|authori[sz]ed|cleared)|approval|consent|permission|confirmation|review|go-ahead)(?!\p{L})/u
/** How many characters of its clause are read. */
const MAX_CONDITION_CHARS = 60
/** Behind a word that forbids, these ask or say when: "do not forget", "no later than", "not only". */
const NO_BANS = wordSet(
  'only just forget hesitate worry fail mind miss neglect later earlier more less fewer matter problem worries need nur vergessen',
)
/** These forbid what stands before them in the same clause, too, in most languages by their place: "soll es nicht bekommen". */
const BACKWARDS = wordSet(
  'cannot off nothing none myself ourselves nicht nichts nie niemals niemand kein keine keinen keinem keiner ne pas jamais nunca excluded exempt hypothetically suppose supposing banned blocked forbidden prohibited once after when until till if soon provided assuming pending subject my me before meiner meine außen only nur erst seulement solo sólo',
)
/** With "not", these forbid what stands before them in the same clause, too: "eve@example.com must not get it". */
const AUXILIARIES = wordSet('must should may can shall will would could is are do does did was were')
const CLAUSES = wordSet('and but or then while though')
/** A reservation waits for the user, so that it holds for all of its sentence: "send it to Ann, subject to my approval". */
const RESERVES = wordSet(
  'before ask me with my once after when until till if soon provided assuming pending subject meiner meine mich bevor',
)
/** How many words back the beginning of a clause is looked for. */
const MAX_CLAUSE_WORDS = 40
/** Chinese forbids before the verb, Japanese and Korean behind it: the whole sentence counts. */
const BAN_CJK =
  /不[要得能可许許应應该該准必想用发發寄给給需须須]|[无無毋][需须須]|跳过|跳過|忽略|排除|(?<![特分级級类類区區性识識判个個])[别別](?![人的处處墅名致])|[勿莫]|禁止|切勿|避免|除了|除外|以外|(?<![删刪解清免移扣去消开開])除[^，,。]{1,40}[之以]?外|を除|抜きで|ない(?!か|と|け)|いけ(?:ない|ません)|なりません|しません|らないで|するな|ずに|禁じ|지\s?(?:마|말|않|못)|(?<!\p{L})안\s?(?:보내|돼)|금지|제외|말고|빼고|[经經]我|我(?:同意|确认|確認|批准|认可)|私が[^、。]{0,8}(?:たら|てから|た後)|내가 [^,.]{0,8}(?:하면|한 (?:뒤|후|다음))/gu

const CONTINUES = /^\s*(?:and|also|plus|or|und|auch|et|aussi|y|también)\s/i

/** Whether a text continues what was said before: "And to bob@example.org". */
export function continuesText(text: string): boolean {
  return CONTINUES.test(text.slice(0, 40))
}

/** The sentences of a text, without gaps. A ban lasts to the end of one, so in doubt a sentence continues. */
export function sentencesOf(text: string): readonly Range[] {
  const sentences: Range[] = []
  let from = 0
  let isList = false
  const end = (to: number) => {
    // An empty line is not a sentence.
    if (to < text.length && to - from < 4 && text.slice(from, to).trim() === '') return
    if (to > from) sentences.push({ from, to })
    from = to
  }
  for (const { 0: mark, index } of text.matchAll(MARK_OR_LINE)) {
    const to = index + mark.length
    if (mark === '\n') {
      const before = lastVisible(text, index)
      const line = text.slice(to, to + 12)
      isList = (isList || before === ':') && LIST_ITEM.test(line)
      if (!isList && before !== ':' && before !== ',' && !LOWER.test(line)) end(to)
    } else if (mark !== '.') end(to)
    else if (
      !/^["'”’»)\]]{0,3}\s+(?=\p{Ll})(?!\S{1,100}@)/u.test(text.slice(to, to + 120)) &&
      !isShortForm(text, index)
    )
      end(to)
  }
  end(text.length)
  return sentences
}

function lastVisible(text: string, end: number): string {
  return text[text[end - 1] === ' ' ? end - 2 : end - 1] ?? ''
}

function isShortForm(text: string, dot: number): boolean {
  return ABBREVIATION.test(text.slice(Math.max(0, dot - 8), dot))
}

const CLOSES: ReadonlyMap<string, string> = new Map([
  ...['""', "''", '“”', '„“', '«»', '‘’', '「」', '『』'].map(([open, close]) => [open!, close!] as const),
])

/**
 * The quotations in a text, in order, without their marks: what somebody said, or what a call is to say. Lines that begin
 * with `>` are some, too, and so are blocks between lines that begin with three backticks. A text that is a quotation as a whole is what the user says.
 */
export function quotationsIn(text: string): readonly Range[] {
  const found: Range[] = []
  let from = -1
  let close = ''
  for (let at = 0; at < text.length; at++) {
    const mark = text[at]!
    if (mark === '\n' && (text[at + 1] === '\n' || close === "'")) from = -1
    if (from === -1) {
      if (mark === '`' && text.startsWith('```', at) && isLineStart(text, at)) {
        const end = text.indexOf('```', at + 3)
        const to = end === -1 ? text.length : end + 3
        found.push({ from: at, to })
        at = to - 1
        continue
      }
      if (mark === '>' && (at === 0 || text[at - 1] === '\n')) {
        const end = text.indexOf('\n', at)
        const to = end === -1 ? text.length : end
        found.push({ from: at, to })
        at = to - 1
        continue
      }
      const closing = CLOSES.get(mark)
      if (closing === undefined || (mark === "'" && isWordAt(text, at - 1))) continue
      from = at + 1
      close = closing
    } else if (mark === close && !(mark === "'" && isWordAt(text, at + 1))) {
      if (from > 1 || at < text.length - 2) found.push({ from, to: at })
      from = -1
    }
  }
  return found
}

/** A line may be indented. */
function isLineStart(text: string, at: number): boolean {
  const before = text[at - 1] === ' ' ? at - 2 : at - 1
  return before < 0 || text[before] === '\n'
}

function isWordAt(text: string, at: number): boolean {
  return /[\p{L}\p{N}]/u.test(text[at] ?? ' ')
}

/** The parts of a text that forbid something, in order and without overlaps. */
export function bansIn(text: string, tokens: readonly Token[], sentences: readonly Range[]): readonly Range[] {
  const found: Range[] = []
  let done = 0
  for (const [index, { word, from, to }] of tokens.entries()) {
    // The rest of the sentence is part of a ban already.
    if (from < done) continue
    const next = tokens[index + 1]?.word ?? ''
    const isShort = isShortNot(word)
    const isBan =
      (BANS.has(word) && !NO_BANS.has(next)) ||
      (isShort && !NO_BANS.has(next)) ||
      BAN_PAIRS.has(`${word} ${next}`) ||
      /^n['’]/.test(word) ||
      isAround(tokens, index) ||
      (WAITS.has(word) && ((next === 'i' && isConsent(tokens, index + 2)) || waitsForOthers(text, to)))
    if (!isBan || (word === 'no' && text[to] === '.')) continue
    const sentence = sentences[rangeAt(sentences, from)]!
    done = sentence.to
    const isBackwards =
      isShort ||
      BACKWARDS.has(word) ||
      ((word === 'not' || word === 'never') && AUXILIARIES.has(tokens[index - 1]?.word ?? ''))
    const start = isShort || !RESERVES.has(word) ? clauseStart : sentenceStart
    found.push({ from: isBackwards ? start(text, tokens, index, sentence) : from, to: sentence.to })
  }
  for (const { index } of text.matchAll(BAN_CJK)) found.push(sentences[rangeAt(sentences, index)]!)
  found.push(...retractionsIn(text, sentences))
  found.sort((one, other) => one.from - other.from)
  const bans: { from: number; to: number }[] = []
  for (const { from, to } of found) {
    const last = bans.at(-1)
    if (last && from <= last.to) last.to = Math.max(last.to, to)
    else bans.push({ from, to })
  }
  return bans
}

/** Verbs of what may be put off: "do not send it yet". */
const PUT_OFF_VERBS =
  'send|e?mail|message|write|reply|respond|answer|post|forward|notify|submit|announce|do|book|reserve|create|make|schedule|save|upload|update|change|edit|move|close|add|invite|assign|run|start|deploy|restart|copy|open|share|publish|pay'
/** Takes back what was said, wherever it stands in a sentence. */
const TAKES_BACK =
  "(?:scratch|scrap|strike|undo|cancel|disregard|retract|forget) (?:all )?that|(?<!not |n['’]t |never )forget (?:it|about)|never ?mind|changed my mind|i meant?(?! to| it\\b)|(?:just|only) kidding|on (?:second thoughts?|reflection)|correction|(?<=,\\s?)(?:no|sorry|wait|oops|or rather|rather)(?=,? (?:\\S{1,100}@|[#\"'“‘]))|no way|vergiss (?:es|das)|laisse tomber|olvídalo"
/** An answer to the sentence before it that is nothing but a no: "Certainly not!", "Hell no." */
const ANSWERS_NO =
  /^\W*(?:\p{L}+[ ,]+){0,2}(?:no+|nope|nah|not|never|nein|niemals|nicht|non|pas|jamais|nunca|いいえ|いや|不|否|아니요?|아뇨)(?: (?:thanks|thank you|danke|merci|gracias|please|today|yet|now|ever))?\W*$/iu
const MAX_ANSWER = 40
/** Before the call, and not "the first one" or "what she wrote before". */
const FIRST = String.raw`(?:first(?=["'”’)]?\s*(?:[.,;!?]|$))|before (?:you|it|they|this|that|anything|doing|send))`
/** Forbids, or reserves, what was said, and names nothing itself. */
const PUTS_OFF = [
  `(?:do not|don['’]t|dont|never|not|stop|doch nicht|lieber nicht|mejor no)(?: (?:${PUT_OFF_VERBS}))?(?: (?:it|that|this|them|anything))?(?: (?:yet|now|today|please|anymore|though|either|after all|for now))*[ "'”’)]*(?:[.!]|$)`,
  String.raw`(?:ask|check with|consult|show|tell)\b[^.!?\n]{0,40}?\bme\b[^.!?\n]{0,40}?\b${FIRST}`,
  String.raw`let me (?:see|check|review|approve|read|confirm)\b[^.!?\n]{0,40}?\b${FIRST}`,
  String.raw`wait for (?:me|my)\b`,
  String.raw`(?:run|pass) (?:it|this|that|them) by me\b`,
].join('|')
const RETRACTION = new RegExp(String.raw`(?<![\p{L}\p{N}'’])(?:${TAKES_BACK}|${PUTS_OFF})(?![\p{L}\p{N}])`, 'gimu')
/** What may stand before it, so that it is about the sentence before. */
const BEFORE_RETRACTION =
  /^(?:\W|\b(?:actually|oh|sorry|wait|no|ok|okay|please|hmm|well|but|and|stop|then|just|i|i've|i’ve|have)\b)*$/iu
const MAX_BEFORE = 40
/** The same in Chinese, Japanese and Korean: a short sentence. */
const JOINED =
  /^\s*(?:还是|還是|那|やっぱり?|아니)?\s?[,，、]?\s?(?:算了|不用了|取消|作罢|別發|别发|先[别別不]|やめ|なし|取り消|キャンセル|送らない|취소|그만|됐어|보내지|하지 마)/u
const MAX_JOINED = 14

/**
 * The parts of a text that the user takes back or puts off, each with the sentence that is meant: its own, or the one before
 * if nothing else stands before it ("Write to Ann. Do not send it yet.").
 */
function retractionsIn(text: string, sentences: readonly Range[]): readonly Range[] {
  const found: Range[] = []
  for (const { index } of text.matchAll(RETRACTION)) {
    const at = rangeAt(sentences, index)
    const { from, to } = sentences[at]!
    const isAlone = index - from <= MAX_BEFORE && BEFORE_RETRACTION.test(text.slice(from, index))
    found.push({ from: isAlone ? (sentences[at - 1]?.from ?? from) : from, to })
  }
  for (const [at, { from, to }] of sentences.entries()) {
    if (to - from > MAX_ANSWER) continue
    const said = text.slice(from, to)
    if (ANSWERS_NO.test(said) || (said.length <= MAX_JOINED && JOINED.test(said)))
      found.push({ from: sentences[at - 1]?.from ?? from, to })
  }
  return found
}

/** Whether a word forbids with one that follows it in its clause. */
function isAround(tokens: readonly Token[], index: number): boolean {
  const ends = AROUND.get(tokens[index]!.word)
  return ends !== undefined && tokens.slice(index + 1, index + 16).some(({ word }) => ends.has(word))
}

/** Whether the user consents here, with or without "have". */
function isConsent(tokens: readonly Token[], at: number): boolean {
  return [at, at + 1].some((index) => CONSENTS.has(tokens[index]?.word ?? ''))
}

/** Whether the clause that continues here speaks of somebody's consent. */
function waitsForOthers(text: string, from: number): boolean {
  const [clause = ''] = /^[^,;:.!?\n]*/.exec(text.slice(from, from + MAX_CONDITION_CHARS)) ?? []
  return CONSENT_OF_OTHERS.test(clause)
}

/** Whether a word ends in "n't". */
function isShortNot(word: string): boolean {
  return word.length > 3 && (word.endsWith("n't") || word.endsWith('n’t'))
}

function sentenceStart(_text: string, _tokens: readonly Token[], _ban: number, { from }: Range): number {
  return from
}

function clauseStart(text: string, tokens: readonly Token[], ban: number, { from }: Range): number {
  let start = tokens[ban]!.from
  for (let index = ban - 1; index >= Math.max(0, ban - MAX_CLAUSE_WORDS); index--) {
    const token = tokens[index]!
    if (token.from < from) return from
    if (CLAUSES.has(token.word) || /[,;:\n]\s/.test(text.slice(token.to, token.to + 3))) return start
    start = token.from
  }
  return start
}

/** Returns which of these ranges, in order, begins last at or before a place; -1 if none does. */
export function rangeAt(ranges: readonly Range[], place: number): number {
  return firstAt(ranges, place + 1, ({ from }) => from) - 1
}

/** Whether a place is in one of these ranges, which are in order and do not overlap. */
export function isInside(ranges: readonly Range[], place: number): boolean {
  const range = ranges[rangeAt(ranges, place)]
  return range !== undefined && place < range.to
}

/** Returns the first of some things, in order, that stands at or behind a place. */
export function firstAt<T>(things: readonly T[], place: number, placeOf: (thing: T) => number): number {
  let low = 0
  let high = things.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (placeOf(things[middle]!) < place) low = middle + 1
    else high = middle
  }
  return low
}
