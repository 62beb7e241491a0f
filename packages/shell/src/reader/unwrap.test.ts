import { describe, expect, it } from 'vitest'
import { WRAPPERS } from '../wrappers.ts'
import { readArgv, readCommandLine } from './read-command-line.ts'

const PLACE = { cwd: '/ws/repo', roots: ['/ws/repo'] }
const AGREES = () => ({ hasError: false, names: [] })

function carries(text: string): boolean {
  return readCommandLine(text, PLACE, AGREES).parts.some(({ words }) => words.slice(0, 2).join(' ') === 'rm -rf')
}

describe('what a wrapper carries out is found', () => {
  it.each([
    'env -u X A=b rm -rf /',
    'env -i -- rm -rf /',
    "env -S 'rm -rf' /",
    "env -S'rm -rf /'",
    "env --split='rm -rf /'",
    '/usr/bin/env rm -rf /',
    'command -p -- rm -rf /',
    'builtin command rm -rf /',
    'exec -a x rm -rf /',
    'nice -n 5 rm -rf /',
    'nice -n5 rm -rf /',
    'nice -5 rm -rf /',
    'nice --adj 5 rm -rf /',
    'ionice -c 3 rm -rf /',
    'timeout -s KILL 5 rm -rf /',
    'timeout --kill-after=1 5s rm -rf /',
    'timeout $T rm -rf /',
    'stdbuf -oL rm -rf /',
    'chrt -r 1 rm -rf /',
    'taskset -c 0 rm -rf /',
    'ls | xargs -n 1 -P4 rm -rf',
    'ls | xargs -I{} rm -rf {}',
    'find . -type f -exec rm -rf {} +',
    'find . -exec ls {} \\; -okdir rm -rf {} \\;',
    'sudo -u root A=b rm -rf /',
    "sudo -s 'rm -rf /'",
    'doas rm -rf /',
    'busybox rm -rf /',
    "busybox sh -c 'rm -rf /'",
    "sh -c 'rm -rf /'",
    "bash -lc 'rm -rf /'",
    "bash -o pipefail -e -c 'rm -rf /' x",
    "/bin/bash --norc -c 'ls; rm -rf /'",
    'bash -c "rm -rf $DIR"',
    'sh -c "sh -c \'rm -rf /\'"',
    'eval rm "-rf" /',
    'eval "eval \'rm -rf /\'"',
    "trap -- 'rm -rf /' EXIT",
    "watch -n 1 'rm -rf /'",
    'watch rm -rf /',
    "script -qc 'rm -rf /' /dev/null",
    'flock x rm -rf /',
    "flock x -c 'rm -rf /'",
    "su root -c 'rm -rf /'",
    'ssh -p 22 u@h rm -rf /',
    "ssh host 'ls && rm -rf /'",
    'parallel -j 4 rm -rf ::: a b',
    'strace -f -o log rm -rf /',
    "mapfile -C 'rm -rf /' -c 1 x",
    'xargs env nice rm -rf',
    'env - rm -rf /',
    'env -i - A=b rm -rf /',
    "bash -oc pipefail 'rm -rf /'",
    "bash -Oc extglob 'rm -rf /'",
    "bash -eoc pipefail -- 'rm -rf /' x",
    "bash -oOc pipefail extglob 'rm -rf /'",
    "bash -o pipefail +c 'rm -rf /'",
    "bash +Oc extglob 'rm -rf /'",
    'setarch -R rm -rf /',
    'setarch x86_64 -R rm -rf /',
    'setarch --uname-2.6 x86_64 rm -rf /',
    'x86_64 -R rm -rf /',
    'choom -n 5 -- rm -rf /',
    "runuser root -c 'rm -rf /'",
    "runuser - root -c 'rm -rf /'",
    'runuser -u root -- rm -rf /',
    'tini -g -- rm -rf /',
    'gosu root rm -rf /',
    'find . -name -exec -o -exec rm -rf {} \\;',
    'find . -fprintf x -exec -exec rm -rf {} +',
    'gfind . -exec rm -rf {} +',
    'find . $X rm -rf {} \\;',
    'find . "$X" rm -rf {} +',
    'fd -x rm -rf',
    'fd -Htf -X rm -rf',
    'fd -Hx rm -rf',
    'fd -xrm -rf',
    'fdfind --exec rm -rf \\; -d 1',
    'fd --exec=rm -rf',
    'fd --exec-batch rm -rf',
    'fd "$X" rm -rf',
  ])('%j', (text) => {
    expect(carries(text)).toBe(true)
  })

  it.each([
    'command -v rm -rf',
    'trap - EXIT',
    "trap 'rm -rf /'",
    'echo env rm -rf',
    'timeout rm -rf',
    'find . -name rm -rf',
    'find *x rm -rf \\;',
    'find $X rm -rf',
    'fd -e rm -rf',
    'fd *x rm -rf',
    'fd report-x rm -rf',
    'fd a--exec rm -rf',
    'bash -o rm -rf',
    'choom -p 1 rm -rf',
  ])('%j carries out nothing of the kind', (text) => {
    expect(carries(text)).toBe(false)
  })
})

it('only some wrappers take variables before the command', () => {
  const wordsOf = (text: string) => readCommandLine(text, PLACE, AGREES).parts.map(({ words }) => words.join(' '))
  expect(wordsOf('env A=b ls')).toEqual(['env A=b ls', 'ls'])
  expect(wordsOf('nice A=b ls')).toEqual(['nice A=b ls', 'A=b ls'])
})

it.each([32, 33])('of %i commands of find, all or none are read', (count) => {
  const { parts } = readCommandLine(`find . ${'-exec ls \\; '.repeat(count)}`, PLACE, AGREES)
  expect(parts).toHaveLength(count === 32 ? 33 : 1)
  expect(parts[0]?.doubts.some(({ kind }) => kind === 'hidden')).toBe(count === 33)
})

it.each([32, 33])('of %i commands of fd, all or none are read', (count) => {
  const { parts } = readCommandLine(`fd ${'-x ls \\; '.repeat(count)}`, PLACE, AGREES)
  expect(parts).toHaveLength(count === 32 ? 33 : 1)
  expect(parts[0]?.doubts.some(({ kind }) => kind === 'hidden')).toBe(count === 33)
})

describe('a wrapper skips its own options', () => {
  const rows = [...WRAPPERS].filter(([, { operands = 0 }]) => operands < 9)

  it.each(rows)('%s', (name, { options, operands = 0, idle = [] }) => {
    for (const text of options.split(' ').filter((option) => option !== '' && !option.endsWith('!'))) {
      const kind = text.endsWith('=') ? '=' : ''
      const option = kind === '' ? text : text.slice(0, -1)
      const spellings = option.startsWith('--') ? [option] : [...option.slice(1)].map((letter) => `-${letter}`)
      for (const spelling of spellings.filter((each) => !idle.includes(each))) {
        const own = [spelling, ...(kind === '' ? [] : ['value']), ...Array(operands).fill('own')]
        const { parts } = readArgv([name, ...own, 'rm', '-rf', 'x'], PLACE, AGREES)
        expect(
          parts.map(({ words }) => words[0]),
          spelling,
        ).toContain('rm')
      }
    }
  })
})
