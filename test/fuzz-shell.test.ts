import { beforeAll, describe, expect, it, vi } from 'vitest'
import { compilePolicy } from '../packages/policy/src/compile-policy.ts'
import { decide } from '../packages/policy/src/decide/decide.ts'
import { loadSecondParser } from '../packages/runtime/src/hub/second-parser.ts'
import { readCommandLine } from '../packages/shell/src/reader/read-command-line.ts'
import { createShellJudge } from '../scripts/attacks/shell-judge.mjs'
import { SHELL_POLICIES } from '../scripts/attacks/shell-policies.mjs'
import { runAllowed, runFuzz } from '../scripts/fuzz-shell/run-fuzz.mjs'

// Thousands of generated command lines are run.
vi.setConfig({ testTimeout: 600_000 })

const SEED = 20_260_728
const LINES = 2_000

describe('2,000 made-up command lines', () => {
  let judge: Awaited<ReturnType<typeof createShellJudge>>
  beforeAll(async () => {
    judge = await createShellJudge({ compilePolicy, decide, readCommandLine, loadSecondParser }, SHELL_POLICIES.corpus)
  })

  it('none that is allowed runs more than the rules allow, or anything but what was read', async () => {
    const { verdicts, ran, programs, wrong } = await runFuzz({ lines: LINES, seed: SEED, judge })
    expect(wrong).toEqual([])
    expect(verdicts.allow + verdicts.ask + verdicts.deny).toBe(LINES)
    // Else it would prove little.
    expect(verdicts.allow).toBeGreaterThanOrEqual(LINES * 0.15)
    expect(verdicts.deny).toBeGreaterThanOrEqual(LINES * 0.02)
    expect(ran).toBeGreaterThanOrEqual(verdicts.allow)
    expect(programs).toBeGreaterThanOrEqual(verdicts.allow)
  })

  it('a judge that only looks at how a line begins is found out', async () => {
    const starts = SHELL_POLICIES.corpus.allow.map((rule) => rule.replace(/ \*$/, ''))
    const { wrong } = await runFuzz({
      lines: 100,
      seed: SEED,
      most: 3,
      judge: (line) => ({ verdict: starts.some((start) => line.startsWith(start)) ? 'allow' : 'ask' }),
    })
    expect(wrong.length).toBeGreaterThanOrEqual(3)
  })
})

describe('the sandbox of stub programs', () => {
  const SEEN = {
    'an unlisted program': 'ls; id',
    'a listed program by its path': '/bin/ls',
    'a program of the workspace': './script.sh',
    'a program that does not exist': 'zz top',
    'what bash does by itself': 'echo x',
    'another folder': 'cd / && ls',
    'a variable': 'X=1 ls',
    'another path': 'PATH=/tmp; ls',
    'a file that is written': 'ls > pwned',
    'a file that is emptied': '> a.txt',
    'a file outside, as a word': 'cat ../secret.txt',
    'a file outside, as its input': 'cat < /etc/passwd',
    'a device': 'cat < /dev/zero',
    'a connection': 'cat < /dev/tcp/127.0.0.1/80',
    'a word of a command that is not listed': 'git push',
    'an option that writes': 'git diff --output=pwned',
    'a file that becomes an option': 'go build *',
    'what runs while a word is expanded': 'ls "$(id)"',
    'what runs in the background': '(ls; id) >/dev/null 2>&1 &',
    'what runs only where another fails': 'ls || id',
    'what is declared while it runs': 'declare -a x=($(id))',
    'a NUL': 'ls\0',
  }

  it.each(Object.entries(SEEN))('sees %s', async (_, line) => {
    const { wrong } = await runAllowed(['ls', line, 'cat a.txt'].map((each) => ({ line: each })))
    expect(wrong.map((each) => each.line)).toEqual([line])
  })

  it('sees a command that was read as another', async () => {
    const { wrong } = await runAllowed([{ line: "ls 'a b' c*", commands: [['ls', 'a', 'b', undefined]] }])
    expect(wrong[0]?.problems[0]).toMatch(/ran, but was read as/)
  })

  it('has nothing to say of lines that run what is allowed, even for ever', async () => {
    const lines = [
      'ls -la',
      'cat a.txt | grep -v x 2>/dev/null',
      "cat <<'E'\n$(id)\nE",
      'while ls; do git status; done',
    ]
    const { wrong, programs } = await runAllowed(lines.map((line) => ({ line })))
    expect(wrong).toEqual([])
    expect(programs).toBeGreaterThan(lines.length)
  })
})
