// Braces.

/** Braces and globs, which make words out of words. */
export function braceTangle(random) {
  const item = () =>
    random.pick([
      'a',
      '',
      '..',
      '/etc/passwd',
      '--output=pwned',
      '-',
      '.',
      'a.txt',
      '{b,c}',
      '1..3',
      'a..c',
      "'x,y'",
      '"}"',
      '\\,',
      '$x',
      '*',
      '~',
      '/',
    ])
  const brace = () =>
    random.weighted([
      [5, () => `{${random.times(random.between(1, 3), item).join(',')}}`],
      [2, () => `{${item()}..${item()}}`],
      [
        2,
        () =>
          random.pick([
            '{1..3}',
            '{a..c}',
            '{3..1}',
            '{01..3}',
            '{1..9..4}',
            '{Z..a}',
            '{-1..1}',
            '{-..0}',
            '{.../}',
            '{1..}',
          ]),
      ],
      [
        1,
        () =>
          random.pick([
            '{,}',
            '{}',
            '{a}',
            '{a,',
            'a,b}',
            `\${x}`,
            '{{a,b}}',
            '\\{a,b}',
            '{a\\,b}',
            '{a,b\\}',
            "{'a,b'}",
            '$' + '{x,y}',
          ]),
      ],
    ])
  const part = () =>
    random.weighted([
      [4, brace],
      [3, () => random.pick(['a', '.', '/', '-', '--', 'x', '..', '*', '?', '[.]', '~', 'o'])],
    ])
  const words = random.times(random.between(1, 2), () => random.times(random.between(1, 3), part).join(''))
  return `${random.pick(['ls', 'cat', 'git diff', 'grep x', 'go test', 'cat src/', 'git', ''])} ${words.join(' ')}`
}
