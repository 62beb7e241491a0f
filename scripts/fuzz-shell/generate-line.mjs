// Makes up command lines: those that are allowed, those with something in them, those that are hardly lines.
import { hostileCommand, hostileExpansion, hostileStatement } from './hostile-pieces.mjs'
import { mutate } from './mutate.mjs'
import { optionLine } from './option-lines.mjs'
import { blank, plainArgv, plainCommand } from './plain-commands.mjs'
import { spell } from './spell.mjs'
import { tangle } from './tangles.mjs'
import { tokenSoup } from './token-soup.mjs'

/** One line; `known` are lines to make others of. */
export function generateLine(random, known) {
  return random.weighted([
    [26, () => plainLine(random, random.below(3))],
    [22, () => hostileLine(random, random.below(3))],
    [16, () => mutate(random, known, () => plainLine(random, 0))],
    [6, () => mutate(random, [plainLine(random, 1), hostileLine(random, 1)], () => hostileLine(random, 0))],
    [22, () => tangle(random)],
    [8, () => optionLine(random)],
    [8, () => tokenSoup(random)],
  ])
}

/** Only what the rules allow, in lists, pipes, groups and compound commands. */
function plainLine(random, depth) {
  if (depth === 0) return plainCommand(random)
  const inner = () => plainLine(random, depth - 1)
  return random.weighted([
    [6, () => plainCommand(random)],
    [10, () => `${inner()}${separator(random)}${inner()}`],
    [3, () => `${inner()} # ${random.pick(['note', '$(x', "it's", '`', '"', 'rm -rf /', '; ls', '\\'])}`],
    [2, () => `(${blank(random)}${inner()}${blank(random)})`],
    [2, () => `{ ${inner()}; }`],
    [2, () => `if ${inner()}; then ${inner()}; fi`],
    [1, () => `if ${inner()}\nthen\n${inner()}\nelse ${inner()}\nfi`],
    [1, () => `! ${inner()}`],
    [2, () => `for f in a b; do ${inner()}; done`],
    [1, () => `case x in a|b) ${inner()};; *) ${inner()} ;; esac`],
    [1, () => `while ${inner()}; do ${inner()}; done`],
    [1, () => `f() { ${inner()}; }`],
    [1, () => `time ${inner()}`],
    [4, () => plainHereDocument(random)],
    [1, () => `\n\n ${inner()}\n`],
    [1, () => `${inner()};`],
    [1, () => `${inner()} &`],
    [1, () => `cat <(${inner()})`],
    [1, () => `grep "$(${inner()})" f.txt`],
    [1, () => `[[ -f a.txt && x == y* ]] && ${inner()}`],
  ])
}

function plainHereDocument(random) {
  const body = random.pick([
    'plain text',
    '$(rm -rf /)',
    '`id`',
    "it's",
    'rm -rf /',
    '"',
    '\\',
    `\${x:-\`id\`}`,
    ') ; rm -rf /',
    '\tE',
  ])
  const end = random.pick(['E', 'EOF', 'E F', 'e-f', '!'])
  const quoted = random.pick([`'${end}'`, `"${end}"`, `'${end.slice(0, 1)}'"${end.slice(1)}"`])
  return random.weighted([
    [3, () => `cat <<${quoted}\n${body}\n${end}`],
    [1, () => `cat <<-${quoted}\n\t${body}\n\t${end}`],
    [1, () => `cat <<${quoted} | grep x\n${body}\n${end}\nls`],
    [1, () => `cat <<EOF\nplain text \\$x\nEOF`],
    [1, () => `cat <<${quoted} && ls\n${body}\n${end}\n`],
    [1, () => `cat <<'A' <<'B'\n${body}\nA\n${body}\nB`],
  ])
}

/** Something allowed with something else in it, somewhere. */
function hostileLine(random, depth) {
  const command = hostileCommand(random)
  const plain = plainLine(random, random.below(2))
  if (depth > 0) {
    const inner = hostileLine(random, depth - 1)
    return random.weighted([
      [3, () => `${plain}${separator(random)}${inner}`],
      [2, () => `${inner}${separator(random)}${plain}`],
      [1, () => `(${inner})`],
      [1, () => `{ ${inner}\n}`],
      [1, () => `if ${plain}; then ${inner}\nfi`],
      [1, () => `cat "$(${inner}\n)"`],
      [1, () => `for f in a; do ${inner}\ndone`],
      [1, () => `f() { ${inner}\n}; f`],
    ])
  }
  return random.weighted([
    [3, () => `${plain}${separator(random)}${respell(random, command)}`],
    [4, () => withExpansion(random, hostileExpansion(random, command))],
    [6, () => hostileStatement(random, plainCommand(random), command)],
  ])
}

function withExpansion(random, expansion) {
  const words = plainArgv(random).map((word) => (/^[\w./-]+$/.test(word) ? word : spell(random, word)))
  const at = random.below(words.length + 1)
  if (random.chance(0.3)) words[Math.min(at, words.length - 1)] += expansion
  else words.splice(at, 0, expansion)
  return words.join(' ')
}

function respell(random, command) {
  return random.chance(0.6)
    ? command
    : command
        .split(' ')
        .map((word) => spell(random, word))
        .join(blank(random))
}

function separator(random) {
  return random.pick(['; ', ' && ', ' || ', ' | ', '\n', ';', '&&', '|', ' |& ', ' ;\n', ' &&\n', ' |\n', '\n\n'])
}
