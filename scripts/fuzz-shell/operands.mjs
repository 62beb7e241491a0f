// Which words of an allowed program name files: what is neither an option nor the value of one.

const names = (text) => text.split(' ')

/** Options that take the next word, and those of them whose value is a file. */
const TABLES = new Map([
  [
    'ls',
    {
      short: 'ITw',
      long: names('block-size format hide ignore indicator-style quoting-style sort time time-style tabsize width'),
      files: [],
    },
  ],
  ['cat', { short: '', long: [], files: [] }],
  [
    'grep',
    {
      short: 'efmABCdD',
      long: names(
        'regexp file max-count after-context before-context context binary-files devices directories include exclude ' +
          'exclude-from exclude-dir label group-separator',
      ),
      files: ['-f', '--file', '--exclude-from'],
    },
  ],
  [
    'git',
    {
      short: 'USGOlX',
      long: names(
        'unified src-prefix dst-prefix line-prefix output output-indicator-new output-indicator-old ' +
          'output-indicator-context word-diff-regex diff-filter skip-to rotate-to find-object anchored diff-algorithm ' +
          'inter-hunk-context ws-error-highlight max-depth',
      ),
      files: ['-O', '--output'],
    },
  ],
])

/** The operands of a program, and the files that its options name. `options` are the names given: `-e`, `--regexp`. */
export function readOperands(program, words) {
  const { short, long, files } = TABLES.get(program)
  const found = { operands: [], files: [], options: [] }
  const isCut = (name) => name.length > 2 && !long.includes(name.slice(2))
  const note = (name, value) => {
    found.options.push(name)
    const isFile = files.some((each) => each === name || (isCut(name) && each.startsWith(name)))
    if (isFile && value) found.files.push(value)
  }
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]
    if (word === '--') return { ...found, operands: [...found.operands, ...words.slice(at + 1)] }
    if (word.startsWith('--')) {
      const [, name, value] = /^--([^=]*)(?:=(.*))?$/s.exec(word)
      // Cut short it may be any that begins so.
      const isValued = name !== '' && long.some((each) => each.startsWith(name))
      note(`--${name}`, value ?? (isValued ? words[++at] : undefined))
    } else if (word.startsWith('-') && word !== '-') {
      const letters = [...word.slice(1)]
      const index = letters.findIndex((letter) => short.includes(letter))
      for (const letter of index < 0 ? letters : letters.slice(0, index)) note(`-${letter}`)
      if (index >= 0) note(`-${letters[index]}`, letters.slice(index + 1).join('') || words[++at])
    } else found.operands.push(word)
  }
  return found
}
