// Here-documents.
import { hostileCommand } from './hostile-pieces.mjs'

/** Here-documents whose end is not where it seems. */
export function hereDocumentTangle(random) {
  const end = random.pick(['E', 'EOF', 'E F', '-', 'a$b', '"', '\\', 'E\\', '$(id)', '#', '!', 'E;'])
  const dash = random.chance(0.3) ? '-' : ''
  const start = random.pick([
    () => `'${end}'`,
    () => `"${end.replace(/["$`\\]/g, '\\$&')}"`,
    () => [...end].map((letter) => `\\${letter}`).join(''),
    () => `${end.slice(0, 1).replace(/\W/, '\\$&')}'${end.slice(1)}'`,
    () => `$'${end.replace(/['\\]/g, '\\$&')}'`,
    () => end,
    () => `${end}""`,
  ])()
  const body = random.times(random.below(5), () =>
    random.pick([
      ...[
        'text',
        '$(id)',
        '`id`',
        `\${x:-$(id)}`,
        'rm -rf /',
        '\\',
        "it's",
        '"',
        ')',
        '}',
        'E',
        'EOF',
        '\tE',
        ' E',
        'E ',
        'E\\',
      ],
      ...[
        end,
        `${end} `,
        ` ${end}`,
        `\t${end}`,
        `${end}\r`,
        `\\${end}`,
        `x${end}`,
        '<<E',
        "<<'E'",
        '# x',
        '$((1))',
        '\\$(id)',
      ],
    ]),
  )
  const before = random.pick(['', '', 'ls; ', 'ls | ', '{ ', '( ', 'if '])
  const after = random.pick([
    '',
    '',
    ' | grep x',
    '; ls',
    ' && ls',
    ' 2>/dev/null',
    ` <<'B'`,
    ' &',
    ' # x',
    ' |',
    ' \\',
  ])
  const rest = random.pick([
    '',
    '',
    '\n',
    '\nls',
    '\nB',
    `\n${hostileCommand(random)}`,
    '\n}',
    '\n)',
    '; then ls; fi',
    `\n${end}`,
  ])
  return `${before}cat <<${dash}${random.pick(['', '', ' '])}${start}${after}\n${[...body, dash && random.chance(0.5) ? `\t${end}` : end].join('\n')}${rest}`
}
