import { kinds } from './actions.ts'

/** What follows a Japanese verb that asks: the form in て, alone or with "please". */
const ASKS_JA =
  /^(?:し|を|って|[ぁ-ん]{0,3}?)?(?:[てで](?=$|[\s。、！!？?」]|くだ|下さ|くれ(?!た)|もら(?!った)|いただ(?!いた)|頂(?!いた)|ほし|欲し|おいて|おき)|ください|下さい|(?:を|の|で)?お願い)/u
const ENDS_JA =
  /(?:[てで]|ください|下さい|くれ\S{0,6}|もらえ\S{0,6}|いただけ\S{0,6}|頂け\S{0,6}|ほしい\S{0,4}|欲しい\S{0,4}|お願い\S{0,6})[\s。！!？?]*$/u
/** Between a value and its verb, these end a clause of its own: what somebody sent, says or is to do. */
const BREAKS_JA =
  /よう|という|と[言伝書思]|[たるだ](?=[\p{Script=Han}\p{Script=Katakana}、])|たら|れば|なら|ので|けど|とき|[てで]、/u
/** What follows a Korean verb that asks. */
const ASKS_KO =
  /^(?:해|하)?(?:\s?(?:줘요?(?![가-힣])|주세요|주십시오|주시|줄래|주실|줄 수)|(?:세요|십시오|라)(?![가-힣])|(?=[.!?\s]*$))/u
const BREAKS_KO = /[라다냐자]고(?=[\s,])|면(?=[\s,])|는지|니까|때(?=[\s,])|[보쓴온][낸냈]?\s|보낸|보냈|썼|받은|했던/u
/** How a Chinese clause that asks begins. */
const BEGINS_ZH =
  /^[\s“"'「『]*(?:请你?|請你?|麻烦你?|麻煩你?|帮我|幫我|帮忙|幫忙|然后|然後|接着|并且?|並且?|再|最后|最後|先|另外|同时|也|你?(?:能不能|能否|可否|可以|能)|明天|今天|现在|現在|马上|立刻|[\s:：])*(?:[把将將给給向]|$)/u
/** What a Chinese clause says that tells of others, of the past or of plans. */
const TELLS_ZH =
  /[谁誰哪]|是否|有没有|为什么|為什麼|提醒|要求|已经|已經|曾经|昨天|就得|(?:告诉|告訴|通知|让|讓|叫|请|請)[^把将給给，]{1,8}[把将去]/u
const CLAUSE_ZH = /[，,；;。！？!?\n]/u

/**
 * Whether a sentence in Chinese, Japanese or Korean asks for one of these kinds of actions on the value that stands in it.
 * In Japanese and Korean the next verb behind the value must ask; in Chinese the clause of the value must be a request.
 */
export function asksForJoined(
  sentence: string,
  { from, to }: { readonly from: number; readonly to: number },
  wanted: readonly number[],
): boolean {
  const around = `${sentence.slice(0, from)}${sentence.slice(to)}`
  const verbs = wanted.map((kind) => kinds[kind]!.joined)
  if (/[ぁ-ヶ]/u.test(around))
    return ENDS_JA.test(sentence) && asksBehind(sentence.slice(to), verbs, ASKS_JA, BREAKS_JA)
  if (/\p{Script=Hangul}/u.test(around)) return asksBehind(sentence.slice(to), verbs, ASKS_KO, BREAKS_KO)
  return /\p{Script=Han}/u.test(around) && asksInClause(sentence, { from, to }, verbs)
}

function asksBehind(rest: string, verbs: readonly RegExp[], asks: RegExp, breaks: RegExp): boolean {
  const end = breaks.exec(rest)
  const breaksAt = end ? end.index + end[0].length : Number.POSITIVE_INFINITY
  return verbs.some((verb) => {
    for (const { 0: found, index } of rest.matchAll(verb)) {
      if (breaksAt <= index) return false
      if (asks.test(rest.slice(index + found.length, index + found.length + 20))) return true
    }
    return false
  })
}

function asksInClause(
  sentence: string,
  { from, to }: { readonly from: number; readonly to: number },
  verbs: readonly RegExp[],
): boolean {
  let start = from
  while (start > 0 && !CLAUSE_ZH.test(sentence[start - 1]!)) start--
  let end = to
  while (end < sentence.length && !CLAUSE_ZH.test(sentence[end]!)) end++
  const clause = sentence.slice(start, end)
  if (TELLS_ZH.test(clause)) return false
  // A question asks for nothing, unless it asks whether the reader can do it.
  if (/[吗嗎呢?？]/u.test(sentence.slice(to)) && !/[能可请請]/u.test(clause)) return false
  return verbs.some((verb) => {
    const isOpening = (index: number) => index < from - start && BEGINS_ZH.test(clause.slice(0, index))
    for (const { 0: found, index } of clause.matchAll(verb)) {
      const isDone = /^[给給到]?[了过過]/u.test(clause.slice(index + found.length))
      // What somebody has, made or got: 把张伟上传的文件发给我.
      const isPart = index >= to - start && clause.slice(to - start, index).includes('的')
      if (!isDone && !isPart && (isOpening(index) || beginsBefore(clause, index))) return true
    }
    return false
  })
}

/** Whether the clause begins with what stands before the object of a Chinese request, before this place. */
function beginsBefore(clause: string, place: number): boolean {
  const begin = /[把将將给給向]/u.exec(clause.slice(0, place))
  return begin !== null && BEGINS_ZH.test(clause.slice(0, begin.index + 1))
}
