import { kinds, type NeededRequest, thingOf } from './actions.ts'
import { isVerb } from './instructions.ts'
import { QUOTE_MARKS, type Token, wordSet } from './tokens.ts'

/** Whom these speak to is to do something: "tell Bob to email Ann". */
const DELEGATES = wordSet('tell ask remind inform notify message text write email mail dm ping contact')
/** Nouns that are verbs, too: "reply to message 7". */
const NOUNS = wordSet('email mail message post text note record log draft plan book contact answer reply')
/** Somebody else is to do what the verb behind these says, or did it. */
const SUBJECTS = wordSet(
  'should must will would can could may might shall has have had he she they we i who not anyone anybody someone somebody everyone',
)
/** Where a clause begins that tells something. */
const TELLS = wordSet('that whether who whom which what how why because where since if when dass ob que qui quien')
const ABOUT = wordSet('about of on')
const PRONOUNS = wordSet('you he she they we i')
const JOINS = wordSet('and then or but')
const OBJECTS = wordSet('a an the my our your his her their its this that these those all any some both them it')
/** Who gets it stands right behind the verb already: "send Bob the letter to Ann". */
const HAS_RECIPIENT =
  /^\s*(?:\S{1,200}@\S{1,200}|(?!Sie |Ihr |Ihnen )\p{Lu}[\p{L}-]{1,40}) (?:an?|the|my|our|his|her|their|this|that|all|any|some|die|den|das|eine?n?|le|la|les|un|une|mon|ma|el|los|las|una|mi)\s/u
/** A text that was for somebody, which is what the request is about: "a summary of the letters to Ann". */
const ABOUT_LETTERS =
  /\b(?:of|on|about|with|from|in|for)\b[^,;]*?\b(?:e?-?mails?|messages?|letters?|repl(?:y|ies)|answers?|invitations?|notes?|texts?|posts?) to\W*$/iu
const PAST = /^(?:did|sent|wrote|written|told|gave|given|\p{L}{2,}ed)$/u
/** What the user says about themselves. */
const OF_USER =
  /(?:\b(?:my|our|mein|meine|unser|unsere|mon|ma|notre|mi|nuestro|nuestra)\b[^,;:.]{0,40}?(?:\b(?:is|are|ist|lautet|est|es)\b|:)|\b(?:i am|i'm|we are|ich bin|je suis|soy))[\s"'(<]*$/iu
/** How letters end. */
const SIGNED =
  /\b(?:cheers|thanks|thank you|regards|sincerely|yours|signed|grüße|gruß|danke|merci|cordialement|gracias|saludos)\b/iu
/** Between the verb and somebody who gets it, these may stand last. */
const LINKS = wordSet(
  'to at an à a al zu aux para cc bcc address addresses recipient recipients email mail participants attendees people following you tu vous du sie usted',
)
/** The same for what is not sent: "a meeting with Ann". */
const OTHER_LINKS = wordSet('with for as mit für avec pour con')
const OF_SOMEBODY =
  /(?<!\p{L})(?:to|an|à|a|al) (?:my|our|the|her|his|their|meine[nrm]?|unsere[nrm]?|mon|ma|notre|mi|nuestr[oa]) \p{L}+ (?:\p{L}+ )?\W*$/iu
/** Words between the people of a list. */
const FILLERS = wordSet('and or und oder et ou y both also too then just please bitte aussi auch también & - * •')
const SEPARATORS = new Set(` \n\t,;:<>()${QUOTE_MARKS}`)
const MAX_LEAD = 2_000
/** People who were named before, and things. */
const BACK_PEOPLE =
  /\b(?:them|him)\b|\bher\b(?=[.,;!?]|$| (?:a|an|the|this|my|our|that|all|some|about|to|at|on|in|with|for|by|and|if|when|as|once|today|tomorrow|please)\b)|(?<!\p{L})(?:ihm|ihr|ihnen|lui|leur|mándale|envíale|escríbele)(?!\p{L})/iu
const BACK_THINGS = /\b(?:it|them|this|these|those|there|both|her|him|ihn|dort|es)\b/iu
/** A sentence that adds what was left open: "Her address is". */
const ADDS =
  /^\W*(?:(?:her|his|their|its|ihre?|seine?|son|sa|leur|su)\b[^,;.]{0,60}?|(?:the|die|der|l'|la|el) ?(?:recipient|address|e-?mail|mail|account|iban|number|phone|id|url|link|path|file|channel|room|adresse|empfänger|destinataire|correo|dirección)\b[^,;.]{0,30}?)(?:\b(?:is|are|ist|lautet|est|es)\b|:)[\s"'(<]*$/iu

/** Whether the object of an instruction may still stand behind these words: no other clause has begun. */
export function reaches(verb: string, between: readonly Token[], text: string): boolean {
  if (OF_USER.test(text) || SIGNED.test(text) || endsWithVerb(text)) return false
  for (const [index, { word }] of between.entries()) {
    const last = between[index - 1]?.word ?? ''
    if (TELLS.has(word) && !(word === 'what' && ABOUT.has(last))) return false
    if (PRONOUNS.has(last) && PAST.test(word)) return false
    // "And delete the mail": whatever it asks for, it is another request.
    if (JOINS.has(last) && !OBJECTS.has(word) && OBJECTS.has(between[index + 1]?.word ?? '')) return false
    if (!isVerb(word)) continue
    if (SUBJECTS.has(last) || (last === 'to' && (!NOUNS.has(word) || DELEGATES.has(verb)))) return false
  }
  return true
}

function endsWithVerb(text: string): boolean {
  const word = OTHER_VERB.exec(text.slice(-60))?.[1]
  if (word === undefined || thingOf(word) !== undefined) return false
  return ![OBJECTS, LINKS, OTHER_LINKS, FILLERS, NO_VERBS, JOINS].some((known) => known.has(word))
}

/**
 * Whether somebody is the object of an instruction: right behind the verb, behind "to" or the like, or in a list that
 * stands there. `lead` is what stands between the verb and the value.
 */
export function isRecipient(lead: string, isSent: boolean): boolean {
  if (lead.length > MAX_LEAD || ABOUT_LETTERS.test(lead.slice(-200))) return false
  const rest = withoutList(lead)
  const last = rest
    .slice(rest.search(/\P{L}?\p{L}*$/u))
    .replace(/^\P{L}/u, '')
    .toLowerCase()
  if (rest !== '' && isSent && HAS_RECIPIENT.test(rest)) return false
  return rest === '' || LINKS.has(last) || (!isSent && OTHER_LINKS.has(last)) || OF_SOMEBODY.test(`${rest} `)
}

/** A text without the list of people at its end: their names and addresses, and what stands between them. */
function withoutList(text: string): string {
  let end = text.length
  for (;;) {
    while (end > 0 && SEPARATORS.has(text[end - 1]!)) end--
    let from = end
    while (from > 0 && !SEPARATORS.has(text[from - 1]!)) from--
    const word = text.slice(from, end)
    if (word === '' || !(word.includes('@') || /^\p{Lu}/u.test(word) || FILLERS.has(word))) return text.slice(0, end)
    end = from
  }
}

/** Whether a sentence refers to somebody, or to something, that was named before it. */
export function refersBack(sentence: string, isPerson: boolean): boolean {
  return (isPerson ? BACK_PEOPLE : BACK_THINGS).test(sentence)
}

/** Whether a sentence begins by adding what an instruction before it left open. */
export function addsDetail(beginning: string): boolean {
  return ADDS.test(beginning)
}

/** Whether a text names something of the kind of this value, so that the value of another sentence is not what it means. */
export function namesAnother(value: string, text: string): boolean {
  if (value.includes('@')) return text.includes('@')
  if (/[/.\\]/.test(value)) return /[/\\.]\p{L}/u.test(text)
  return /\d/.test(value) ? /\p{L}+[-_#]?\d|\d{3}/u.test(text) : /["“„«「'‘](?=\p{L})/u.test(text)
}

/** What somebody did, said behind a name. */
const DID =
  /^(?:\p{Ll}{2,}ed|sent|wrote|said|told|gave|made|got|left|quit|went|came|took|kept|lost|found|knew|paid|bought|forgot|used|has|had|is|was|will|wants?|needs?|gets?|can|must|should|may|might|would|could|does|did)$/u
/** What stands before a place, a source or a subject, which is not whom or what a call acts on. */
const ELSEWHERE = /^(?:in|at|near|from|about|by|regarding|since|until|than)$/i
/** The same before an address or an id, which has no place and may be an object. */
const FROM = /^(?:from|by|about|regarding|since|than|von|über|de|par|por|sobre)$/i
/** Prepositions that end with "to", and what was done to somebody: none of them says who gets something. */
const OTHER_TO =
  /\b(?:contrast|contrary|similar|next|due|close|regards?|respect|prior|according|related|compared|thanks|married|promised|said|up|links?|linked|pointers?|references?|refers?|addition|alternatives?|successor|sequel|access) to\W*$/iu
/** What stands before what is compared or left out, or says when. */
const BESIDES = /^(?:after|before|until|like|unlike|but|behind|besides|versus|vs)$/i
/** "And mute #general": a word that nothing is known of asks for something else. */
const OTHER_VERB = /(?:^|[\s,;])(?:and|then|or|but) (\p{Ll}+)\W{0,3}$/u
const NO_VERBS = wordSet('in into on onto of by from als auf von vom zum zur in den dem der im dans sur chez en sobre')
/** Whose something is. */
const POSSESSIVE = /^['’]s(?!\p{L})/u
/** What stands before where something goes. */
const INTO = /^(?:to|into|onto|in|as|at|nach|à|vers|dans|a|en)$/i
const INTO_BEFORE = /[到至往]\s?$/u
const INTO_AFTER = /^\s?["'」』]?(?:に|へ|으?로(?!부터))/u
/** Who has, did or sent something: particles of Japanese and Korean, and the Chinese verb or 的 behind a name. */
const SOURCE_BEFORE = /(?:来自|來自|[由从從]|关于|關於)\s?$/u
const SOURCE_AFTER =
  /^(?:さん|様|氏|님|씨|팀장님|부장님|선생님)?(?:が|は(?!に)|から|の|께서|에게서|한테서|[이가은는의](?![가-힣])|으로부터|로부터)/u
const DOES_AFTER = /^(?:[刚剛昨今]\p{Script=Han})?(?:[发發寄写寫说說提的送回问問]|告[诉訴])/u
const TOWARDS = /[给給向对對为為替跟]\s?$/u
/** What stands before a part of a name, a title or a text, which names nothing that there is. */
const PART =
  /\b(?:(?:start|begin|end)(?:s|ing)? with|contain(?:s|ing)?|like|(?:en)?titled|called|title|subject|description|saying|words?|text|format) ?["'“‘«`]?$/i

/** What follows a number that is not an id. */
const AMOUNT =
  /^\s?(?:[%€$£¥]|(?:eur|usd|gbp|chf|jpy|euros?|dollars?|pounds?|percent|prozent|items?|pieces?|days?|hours?|minutes?|times|kg|km|[kmg]b)(?!\p{L}))/iu

/** What is known about a value in the user's words. */
interface Named extends Pick<NeededRequest, 'things' | 'role'> {
  /** Whether it is a name in letters, without quotes. */
  readonly isName: boolean
  /** Whether it is a mail address. */
  readonly isMail: boolean
  /** Whether it consists of digits. */
  readonly isNumber: boolean
  /** Whether the call reads from it. */
  readonly isRead: boolean
  /** Whether it stands among Chinese, Japanese or Korean words. */
  readonly isCjk: boolean
}

/** Whether a value may be whom or what a call acts on, by the words before and after it. */
export function mayBeTarget(
  [before, after]: readonly [string, string],
  { things, role, isName, isMail, isNumber, isRead, isCjk }: Named,
): boolean {
  const last = /(\p{L}+)\W{1,2}$/u.exec(before)?.[1] ?? ''
  const next = /^\W{1,2}(\p{L}+)/u.exec(after)?.[1] ?? ''
  for (const thing of [thingOf(last), thingOf(next)]) if (thing !== undefined && !things.has(thing)) return false
  if (PART.test(before) || OTHER_TO.test(before) || POSSESSIVE.test(after)) return false
  if (isNumber && (AMOUNT.test(after) || /[€$£¥]$/.test(before))) return false
  if ((isName || isMail || isNumber) && BESIDES.test(last)) return false
  // "The numbers of #finance": whose they are, not where they go.
  if (!isRead && before.endsWith('#') && (FROM.test(last) || last === 'of')) return false
  // Who did something is not whom to do it to.
  if (isName && (DID.test(next) || ELSEWHERE.test(last))) return false
  if (/^(?:is|was|are|were|has|had|will|looks|seems|got|gets|became|becomes|contains|belongs)$/.test(next)) return false
  if (isMail && (DID.test(next) || FROM.test(last) || last === 'of')) return false
  if (isCjk && isSource(before, after.trimStart())) return false
  const isInto = INTO.test(last) || INTO_BEFORE.test(before) || INTO_AFTER.test(after)
  if (role === 'source') return !isInto
  return role !== 'destination' || isInto || thingOf(last) !== undefined
}

/** Whether Chinese, Japanese or Korean words say that something comes from somebody, or is theirs. */
function isSource(before: string, after: string): boolean {
  if (SOURCE_BEFORE.test(before) || SOURCE_AFTER.test(after) || after.startsWith('的')) return true
  return DOES_AFTER.test(after) && !TOWARDS.test(before)
}

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
