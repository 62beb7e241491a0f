// Lines of allowed programs with any of their options: most are harmless, some run a program or write a file.
import { spell } from './spell.mjs'

const VALUES = [
  'a.txt',
  '/etc/passwd',
  '../secret.txt',
  './x',
  'pwned',
  '/tmp/pwned',
  '3',
  'never',
  'HEAD',
  '*.go',
  '',
  '-',
  '=',
]

const PROGRAMS = [
  {
    start: ['grep'],
    end: ['foo', 'a.txt'],
    flags: [
      '-r',
      '-R',
      '-n',
      '-i',
      '-v',
      '-w',
      '-x',
      '-c',
      '-l',
      '-L',
      '-o',
      '-q',
      '-s',
      '-h',
      '-H',
      '-z',
      '-a',
      '-E',
      '-F',
    ],
    valued: ['-e', '-f', '-m', '-A', '-B', '-C', '-d', '-D'],
    long: [
      ...['regexp', 'file', 'max-count', 'after-context', 'before-context', 'context', 'binary-files', 'devices'],
      ...['directories', 'include', 'exclude', 'exclude-from', 'exclude-dir', 'label', 'color', 'colour', 'recursive'],
      ...['dereference-recursive', 'line-number', 'fixed-strings', 'null', 'null-data', 'only-matching', 'initial-tab'],
    ],
  },
  {
    start: ['git', 'diff'],
    end: ['HEAD'],
    flags: ['-p', '-u', '-s', '-w', '-b', '-R', '-z', '-a', '--raw', '-M', '-C', '-D', '--'],
    valued: ['-U', '-S', '-G', '-O', '-l', '-X'],
    long: [
      ...['output', 'ext-diff', 'no-ext-diff', 'textconv', 'no-textconv', 'no-index', 'stat', 'numstat', 'shortstat'],
      ...[
        'name-only',
        'name-status',
        'color',
        'word-diff',
        'word-diff-regex',
        'src-prefix',
        'dst-prefix',
        'line-prefix',
      ],
      ...[
        'output-indicator-new',
        'diff-filter',
        'relative',
        'submodule',
        'cached',
        'staged',
        'merge-base',
        'exit-code',
      ],
      ...[
        'ita-invisible-in-index',
        'skip-to',
        'rotate-to',
        'find-object',
        'anchored',
        'diff-algorithm',
        'ws-error-highlight',
      ],
    ],
  },
  {
    start: ['go', 'test'],
    end: ['./...'],
    flags: [
      '-v',
      '-race',
      '-short',
      '-json',
      '-failfast',
      '-c',
      '-i',
      '-x',
      '-n',
      '-a',
      '-work',
      '-cover',
      '-benchmem',
    ],
    valued: [
      ...['-exec', '-toolexec', '-vettool', '-o', '-C', '-overlay', '-modfile', '-cpuprofile', '-memprofile', '-trace'],
      ...['-blockprofile', '-mutexprofile', '-coverprofile', '-outputdir', '-ldflags', '-gcflags', '-asmflags', '-run'],
      ...[
        '-gccgoflags',
        '-compiler',
        '-pkgdir',
        '-bench',
        '-count',
        '-timeout',
        '-tags',
        '-p',
        '-parallel',
        '-fuzz',
        '-vet',
      ],
      ...[
        '-test.cpuprofile',
        '-test.outputdir',
        '-test.testlogfile',
        '-args',
        '-installsuffix',
        '-mod',
        '-pgo',
        '-shuffle',
      ],
    ],
    long: ['exec', 'toolexec', 'o', 'C', 'run', 'vettool', 'coverprofile'],
  },
  {
    start: ['ls'],
    end: ['src'],
    flags: ['-l', '-a', '-R', '-t', '-1', '-d', '-h', '-S', '-i', '-F'],
    valued: ['-I', '-w', '-T'],
    long: [
      'ignore',
      'hide',
      'width',
      'tabsize',
      'color',
      'sort',
      'time',
      'time-style',
      'block-size',
      'format',
      'quoting-style',
    ],
  },
]

/** A line of one program and a few of its options, whole or cut short, with values of all kinds. */
export function optionLine(random) {
  const { start, end, flags, valued, long } = random.pick(PROGRAMS)
  const value = () => random.pick(VALUES)
  const option = () =>
    random.weighted([
      [3, () => [random.pick(flags)]],
      [2, () => [random.pick(valued), value()]],
      [1, () => [random.pick(valued) + value()]],
      [1, () => [`${random.pick(valued)}=${value()}`]],
      [1, () => [random.pick(flags) + random.pick(valued).slice(1), value()]],
      [2, () => [`--${cut(random, random.pick(long))}=${value()}`]],
      [1, () => [`--${cut(random, random.pick(long))}`, value()]],
      [1, () => [`--${random.pick(long)}`]],
      [1, () => [value()]],
    ])
  const words = [...start, ...random.times(random.between(1, 3), option).flat()]
  words.splice(random.chance(0.8) ? words.length : start.length, 0, ...end)
  return words.map((word) => (/^[\w./=-]+$/.test(word) && random.chance(0.8) ? word : spell(random, word))).join(' ')
}

function cut(random, name) {
  return random.chance(0.7) ? name : name.slice(0, random.between(1, name.length))
}
