/** How an attacker comes by a value, the easiest first: what stands out in the user's words, any word, earlier approvals. */
export const STRENGTHS = ['names, numbers and addresses', 'everyday words', 'approved values']

const MAX_NAMES = 40
const MAX_WORDS = 60
const QUOTED = /(?<!\p{L})'([^'\n]{1,80})'(?!\p{L})|"([^"\n]{1,80})"|“([^”\n]{1,80})”|`([^`\n]{1,80})`/gu
const MAIL = /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g
const PLACE =
  /(?:https?:\/\/|~?\.{0,2}\/)?[\w-]+(?:[./][\w-]+)*\.[a-z]{2,5}(?:[/?#][\w./?=&%-]*[\w/])?|(?:~|\.{1,2})?\/[\w./-]*\w/gi
const TAG = /[#@]([\w-]{2,})/g
const CODE = /[\p{L}\p{N}_-]*\p{N}[\p{L}\p{N}_-]*/gu
const NUMBER = /\d+(?:,\d{3})*(?:\.\d+)?/g
const TIME = /\b\d{1,2}:\d\d\b/g
const ISO_DAY = /\b\d{4}-\d\d-\d\d\b/g
const YEAR = /\b(?:19|20)\d\d\b/g
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const DATE = new RegExp(
  String.raw`\b(?<before>${MONTHS.join('|')})[a-z]*\.? (?<day>\d{1,2})|(?<first>\d{1,2})(?:st|nd|rd|th)? (?:of )?(?<after>${MONTHS.join('|')})`,
  'gi',
)
const NAME = /\p{Lu}[\p{L}\p{N}’'-]*(?: \p{Lu}[\p{L}\p{N}’'-]*)*/gu

/** The values in the user's words that an attacker can use: those that stand out, and everyday words. Always in the same order. */
export function readWords(prompt) {
  const days = daysIn(prompt)
  const times = matches(prompt, TIME)
  const moments = days.flatMap((day) => [day, ...times.flatMap((time) => [`${day} ${time}`, `${day}T${time}:00`])])
  const names = namesIn(prompt)
  const standOut = unique([
    ...matches(prompt, MAIL),
    ...matches(prompt, QUOTED),
    ...matches(prompt, PLACE),
    ...matches(prompt, TAG),
    ...moments,
    ...names,
    ...matches(prompt, CODE),
    ...times,
  ])
  const words = Array.from(new Intl.Segmenter(undefined, { granularity: 'word' }).segment(prompt))
    .filter(({ isWordLike }) => isWordLike)
    .map(({ segment }) => segment)
  const known = new Set(standOut)
  const pairs = words.slice(1).map((word, index) => `${words[index]} ${word}`)
  const everyday = unique([...words, ...pairs.filter((pair) => prompt.includes(pair))])
  return {
    names: standOut.slice(0, MAX_NAMES),
    everyday: everyday.filter((word) => !known.has(word)).slice(0, MAX_WORDS),
    numbers: unique(matches(prompt, NUMBER).map((text) => Number(text.replaceAll(',', '')))).slice(0, MAX_NAMES),
    prompt,
  }
}

/** Names of one or more words. A word with which a sentence begins is one only if it is also written so elsewhere. */
function namesIn(prompt) {
  const found = Array.from(prompt.matchAll(NAME), ({ 0: name, index }) => {
    const begins = /(?:^|[.!?:]\s*|\n\s*)$/.test(prompt.slice(0, index))
    return { name, begins, rest: begins ? name.split(' ').slice(1).join(' ') : name }
  })
  const inside = new Set(found.filter(({ begins }) => !begins).map(({ name }) => name))
  const whole = found
    .filter(({ name }) => !/^I\b/.test(name))
    .flatMap(({ name, begins, rest }) => (begins && !inside.has(name) ? (rest ? [name, rest] : []) : [name]))
  return whole.flatMap((name) => [name, ...(name.includes(' ') ? name.split(' ') : [])])
}

/** The days in a text as ISO 8601, with every year that it names. */
function daysIn(prompt) {
  const years = matches(prompt, YEAR)
  const days = Array.from(prompt.matchAll(DATE), ({ groups: { before, day, first, after } }) => {
    const month = MONTHS.indexOf((before ?? after).toLowerCase()) + 1
    return `${String(month).padStart(2, '0')}-${(day ?? first).padStart(2, '0')}`
  })
  return [...matches(prompt, ISO_DAY), ...years.flatMap((year) => days.map((day) => `${year}-${day}`))]
}

function matches(text, pattern) {
  return Array.from(text.matchAll(pattern), ([whole, ...groups]) => groups.find((group) => group) ?? whole)
}

function unique(values) {
  return [...new Set(values)]
}
