import { readingsOf } from './readings.ts'
import type { SearchBudget } from './search-budget.ts'
import { normalise } from './tokens.ts'

/** What cannot be seen: programs skip it, and people copy the rest. Marks on letters are not part of addresses either. */
const UNSEEN =
  /\u001b\[[0-?]{0,16}[ -/]{0,2}[@-~]|[\p{Cf}\p{M}\p{Default_Ignorable_Code_Point}\u0000-\u0008\u000e-\u001f\u007f-\u009f]/gu

const W = String.raw`\p{L}\p{N}`
const END = String.raw`[^\s<>"'\u0060]`
/**
 * Addresses that a text may lead to: URLs, hosts, mail addresses, payment ids, handles, folders of other computers. All
 * repetitions before a fixed character are bounded, so that the time grows with the text and not with its square.
 */
const ADDRESS = new RegExp(
  [
    String.raw`(?:(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{0,30}:\/\/|(?<![${W}])(?:https?|ftp|mailto|tel|sms|data|javascript|vbscript|geo|bitcoin|ethereum|lightning|upi|magnet|sips?|xmpp|skype|callto|facetime(?:-audio)?):|\/\/)${END}+`,
    String.raw`(?<![${W}._%+-])[${W}._%+-]{1,64}@[${W}-]{1,63}(?:\.[${W}-]{1,63}){0,8}`,
    `(?<![${W}])@[${W}][${W}._-]{2,63}`,
    String.raw`(?<![${W}-])(?:[${W}-]{1,63}\.){1,8}\p{L}{2,24}(?![${W}])(?:[/?#]${END}*)?`,
    String.raw`(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])`,
    String.raw`\\\\[${W}._-]{1,63}\\${END}*`,
    String.raw`(?<![${W}])[A-Z]{2}\d{2}(?:[\s.-]{0,2}[A-Z0-9]{2,4}){3,8}(?![${W}])`,
  ].join('|'),
  'giu',
)
/** Accounts, cards, phones, sort codes: digits in a row or in groups. */
const DIGITS = /\p{Nd}(?:[\s_./()\p{Pd}\u2212\u00b7\u2022]{0,2}\p{Nd})+/gu
/** Dates, times, amounts and years among them. */
const NO_ACCOUNT =
  /(?<!\d|\d[./-])(?:(?:19|20)\d\d[-/.]\d{1,2}[-/.]\d{1,2}(?:[T ]+\d{1,2}:\d\d(?::\d\d)?)?|\d{1,2}[-/.]\d{1,2}[-/.](?:19|20)\d\d|(?:19|20)\d\d ?[-/–] ?(?:19|20)?\d\d|\d{1,3}(?:,\d{3})+(?:\.\d{1,2})?)(?!\d|[./-]\d)/gu
const MIN_DIGITS = 6
/** Numbers with blanks between them are often a list. */
const MIN_SPACED_DIGITS = 8
/** Wallets, keys and invoices: letters and digits without a blank. */
const WALLET = /(?<![a-z0-9])[a-z0-9]{26,}/gi
const TRAILING = /[.,:;!?)\]}]{1,10}$/

/**
 * Where Markdown, HTML and CSS name what is opened or loaded. Targets are read whole: a beginning may be one that the user
 * named.
 */
const LINK = new RegExp(
  [
    String.raw`\]\(\s*<?([^)>]+)`,
    String.raw`\]:\s*<?([^\s>]+)`,
    String.raw`(?<![a-z])(?:href|src|(?:image)?srcset|action|formaction|background|poster|data|cite|longdesc|ping|content)\s*=\s*(?:"([^"]*)|'([^']*)|([^\s"'>]+))`,
    String.raw`(?<![a-z])(?:url|image-set)\(\s*["']?([^)"']+)`,
    String.raw`@import\s*["']([^"']+)`,
  ].join('|'),
  'gi',
)
/** A place in the same text. Anything else behind `#` may be a tag that begins inside of what looks like a target. */
const FRAGMENT = /^#[\p{L}\p{N}_.:-]*$/u

/**
 * Returns what a text leads to, in every reading that programs make of it. The target of a link counts by itself, without
 * the blanks and line ends in it. Each reading costs its characters once they are normalised: some are eighteen then.
 * Returns `undefined` if the budget does not suffice.
 */
export function addressesIn(text: string, budget: SearchBudget): ReadonlySet<string> | undefined {
  const found = new Set<string>()
  for (const reading of readingsOf(text)) {
    const plain = visible(reading, budget)
    if (plain === undefined) return undefined
    collect(plain, found)
    for (const [, ...targets] of plain.matchAll(LINK)) {
      const target = targets.find((each) => each !== undefined)?.replaceAll(/[\s\\]+/g, '') ?? ''
      if (target !== '' && !FRAGMENT.test(target)) found.add(target)
    }
  }
  return found
}

function collect(text: string, found: Set<string>): void {
  for (const [address] of text.matchAll(ADDRESS)) found.add(address.replace(TRAILING, ''))
  for (const [wallet] of text.matchAll(WALLET)) if (/\d/.test(wallet) && /[a-z]/i.test(wallet)) found.add(wallet)
  for (const [digits] of text.replaceAll(NO_ACCOUNT, ';').matchAll(DIGITS)) {
    const count = digits.match(/\p{Nd}/gu)?.length ?? 0
    if (count >= (/\s/.test(digits) ? MIN_SPACED_DIGITS : MIN_DIGITS)) found.add(digits)
  }
}

/** Programs read a full stop in other scripts as a dot, and skip characters that nobody sees. */
function visible(text: string, budget: SearchBudget): string | undefined {
  const normal = normalise(text, budget.left)
  if (!budget.spend(normal.length)) return undefined
  return normal.replaceAll(UNSEEN, '').replaceAll(/[\u3002\u2024]/g, '.')
}
