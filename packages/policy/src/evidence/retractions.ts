import { type Range, rangeAt } from './sentences.ts'

/** Verbs of what may be put off: "do not send it yet". */
const VERBS =
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
  `(?:do not|don['’]t|dont|never|not|stop|doch nicht|lieber nicht|mejor no)(?: (?:${VERBS}))?(?: (?:it|that|this|them|anything))?(?: (?:yet|now|today|please|anymore|though|either|after all|for now))*[ "'”’)]*(?:[.!]|$)`,
  String.raw`(?:ask|check with|consult|show|tell)\b[^.!?\n]{0,40}?\bme\b[^.!?\n]{0,40}?\b${FIRST}`,
  String.raw`let me (?:see|check|review|approve|read|confirm)\b[^.!?\n]{0,40}?\b${FIRST}`,
  String.raw`wait for (?:me|my)\b`,
  String.raw`(?:run|pass) (?:it|this|that|them) by me\b`,
].join('|')
const RETRACTION = new RegExp(String.raw`(?<![\p{L}\p{N}'’])(?:${TAKES_BACK}|${PUTS_OFF})(?![\p{L}\p{N}])`, 'gimu')
/** What may stand before it, so that it is about the sentence before. */
const BEFORE =
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
export function retractionsIn(text: string, sentences: readonly Range[]): readonly Range[] {
  const found: Range[] = []
  for (const { index } of text.matchAll(RETRACTION)) {
    const at = rangeAt(sentences, index)
    const { from, to } = sentences[at]!
    const isAlone = index - from <= MAX_BEFORE && BEFORE.test(text.slice(from, index))
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
