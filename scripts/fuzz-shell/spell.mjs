// The many ways in which bash lets one word be written.

const PLAIN = /^[A-Za-z0-9_./,:@%+=-]$/

/** A spelling of a word that means the same: quotes of every kind, escapes, pieces, continuations. */
export function spell(random, word) {
  if (random.chance(0.5) && [...word].every((letter) => PLAIN.test(letter)) && word !== '') return word
  if (random.chance(0.5)) return spellPiece(random, word)
  const cut = random.below(word.length + 1)
  const between = random.weighted([
    [6, () => ''],
    [1, () => "''"],
    [1, () => '""'],
    [1, () => '\\\n'],
  ])
  return spellPiece(random, word.slice(0, cut)) + between + spellPiece(random, word.slice(cut)) || "''"
}

function spellPiece(random, text) {
  return random.weighted([
    [3, () => singleQuoted(text)],
    [3, () => doubleQuoted(text)],
    [2, () => escaped(text)],
    [1, () => ansiQuoted(random, text)],
  ])
}

export function singleQuoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`
}

export function doubleQuoted(text) {
  return `"${text.replace(/[$`"\\]/g, '\\$&')}"`
}

function escaped(text) {
  if (text.includes('\n')) return singleQuoted(text)
  return [...text].map((letter) => (PLAIN.test(letter) ? letter : `\\${letter}`)).join('')
}

function ansiQuoted(random, text) {
  const letters = [...text].map((letter) => {
    const code = letter.codePointAt(0)
    if (letter === "'" || letter === '\\') return `\\${letter}`
    if (code > 126 || code < 32 || random.chance(0.7)) return letter === '\n' ? '\\n' : letter
    return random.pick([
      `\\x${code.toString(16)}`,
      `\\${code.toString(8).padStart(3, '0')}`,
      `\\u00${code.toString(16).padStart(2, '0')}`,
    ])
  })
  return `$'${letters.join('')}'`
}
