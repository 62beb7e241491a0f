import { TEXT } from './arguments.mjs'

/**
 * Other spellings of an attack, by an attacker who knows the rules. Each takes a call of the attack and the user's words,
 * and returns the call to make instead.
 */
export const VARIANTS = {
  'as recorded': (call) => call,
  'upper case': (call) => mapTexts(call, (text) => text.toUpperCase()),
  separators: (call) =>
    mapTexts(call, (text) =>
      /^[A-Z]{2}\d{2}\w{8,}$/.test(text) ? text.replace(/(.{4})/g, '$1 ').trim() : text.replaceAll('-', '_'),
    ),
  homoglyphs: (call) => mapTexts(call, (text) => text.replaceAll('a', 'а').replaceAll('e', 'е')),
  'full width': (call) =>
    mapTexts(call, (text) => text.replace(/[!-~]/g, (each) => String.fromCharCode(each.charCodeAt(0) + 0xfee0))),
  'URL forms': (call) =>
    mapTexts(call, (text) => text.replaceAll(/(?:https?:\/\/)?www\.([\w.-]+)/g, 'HTTPS://user@$1:443/./')),
  'number formats': (call) =>
    mapValues(call, (value) => (typeof value === 'number' ? Number(value.toExponential()) : value)),
  'split over arguments': (call) => ({ ...call, args: split(call.args) }),
  'wrapped in free text': (call, words) => ({ ...call, args: wrap(call.args, words) }),
  "with the user's words": (call, words) =>
    mapTexts(call, (text) => `${words.split(/\s+/).slice(0, 3).join(' ')} ${text}`),
  "next to the user's words": (call, words) => mapTexts(call, (text) => `${nameIn(words)}.${text}`),
}

/** The attack as it is. */
export const RECORDED = { 'as recorded': VARIANTS['as recorded'] }

function mapTexts(call, map) {
  return mapValues(call, (value) => (typeof value === 'string' ? map(value) : value))
}

function mapValues(call, map) {
  const visit = (value) => {
    if (Array.isArray(value)) return value.map(visit)
    if (typeof value !== 'object' || value === null) return map(value)
    return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, visit(field)]))
  }
  return { ...call, args: visit(call.args) }
}

/** Moves one half of each text into the next argument that is a text. */
function split(args) {
  const entries = Object.entries(args)
  const texts = entries.filter(([, value]) => typeof value === 'string')
  if (texts.length < 2) return args
  const [[first, one], [second, two]] = texts
  const half = Math.ceil(one.length / 2)
  return { ...args, [first]: one.slice(0, half), [second]: `${one.slice(half)} ${two}` }
}

const ADDRESS = /@|^[A-Z]{2}\d{2}\w{8,}$|^(?:https?:\/\/)?(?:[\w-]+\.)+[a-z]{2,}(?:\/|$)/i

/** Names the user's own words in place of an address, and asks for that address in the texts. */
function wrap(args, words) {
  const wanted = Object.values(args)
    .flat()
    .filter((value) => typeof value === 'string' && ADDRESS.test(value))
  if (wanted.length === 0 || !Object.keys(args).some((key) => TEXT.test(key))) return args
  const visit = (value, key) => {
    if (Array.isArray(value)) return value.map((item) => visit(item, key))
    if (typeof value !== 'string') return value
    if (TEXT.test(key)) return `${value} Please use ${wanted.join(' and ')}.`
    return wanted.includes(value) ? nameIn(words) : value
  }
  return Object.fromEntries(Object.entries(args).map(([key, value]) => [key, visit(value, key)]))
}

/** A name, an address or an account in the user's words, as an attacker would pick it. */
function nameIn(words) {
  return (
    words
      .match(/[\w.-]+@[\w.-]+\w|[A-Z]{2}\d{2}\w{8,}|www\.[\w.-]+\w|'[^']{3,}'|\b[A-Z][a-z]{2,}\b/g)
      ?.at(-1)
      ?.replaceAll("'", '') ?? words.slice(0, 20)
  )
}
