import { describe, expect, it } from 'vitest'
import type { Rule } from '../../../core/src/principal.ts'
import { readCommandLine } from '../../../shell/src/reader/read-command-line.ts'
import { compilePolicy, type PolicyLayers } from '../compile-policy.ts'
import { DEFAULT_POLICY } from '../default-policy.generated.ts'
import type { Decision, PolicyQuestion } from '../question.ts'
import { decide } from './decide.ts'

const PLACE = { cwd: '/ws/repo', roots: ['/ws/repo'], home: '/home/ann' }
const AGREES = () => ({ hasError: false, names: [] })

const owner = (...list: Rule[]): PolicyLayers => ({
  owner: list.map((rule, index) => ({ rule, source: { file: 'tool-hub.yaml', line: index + 1 }, base: '/ws/repo' })),
})
const SOME: Rule = { allow: 'exec', on: ['ls *', 'cat *', 'grep *', 'git status', 'git diff *', 'go test *'] }
const NEVER: Rule = { deny: 'exec', on: ['rm -rf *', 'sudo *', 'chmod 777 *'] }
const LISTED = owner(SOME, NEVER)
const ALL: Rule = { allow: 'exec' }

function judge(layers: PolicyLayers, command: string, more: Partial<PolicyQuestion> = {}): Decision {
  return decide(compilePolicy({ home: '/home/ann', ...layers }), {
    tool: 'core/exec.run',
    names: ['core/exec.run', 'exec'],
    groups: ['group:runtime'],
    capabilities: ['exec'],
    targets: [{ capability: 'exec', value: command }],
    caller: 'direct',
    tainted: false,
    readings: new Map([[command, readCommandLine(command, PLACE, AGREES)]]),
    ...more,
  })
}

describe('with some commands allowed and some denied', () => {
  it.each([
    'ls',
    'ls -la src | grep x',
    "cat 'rm -rf notes.txt'",
    'git status && git diff HEAD~1',
    'go test ./... 2>&1 >/dev/null',
    'cat <<EOF\nsudo id\nEOF',
    '(ls; cat a)',
    'cat src/*.ts {a,b}.md',
  ])('%j is allowed', (command) => {
    expect(judge(LISTED, command)).toMatchObject({ effect: 'allow', source: 'tool-hub.yaml:1' })
  })

  it.each([
    'echo hi',
    'ls && echo hi',
    'git status --short',
    '/bin/ls',
    'ls > out',
    'cat ../x',
    'cat $X',
    '$X',
    'X=1 ls',
    'env ls',
    'time ls',
    "sh -c 'ls'",
    '[[ -f x ]]',
    'ls &',
    'git diff --output=x',
    'ls "',
    'ls\u200b',
  ])('%j is asked', (command) => {
    expect(judge(LISTED, command).effect).toBe('ask')
  })

  it.each([
    'rm -rf /',
    'ls; rm -rf /',
    'ls $(rm -rf /)',
    "r''m -fr /",
    '/bin/rm x --recurs --forc',
    'env -i nice sudo id',
    "sh -c 'chmod -R 0777 .'",
    'ls | xargs rm -rf',
    'rm -rf / "',
    'rm -rf /\u200b',
    'rm -rf "$X" > out &',
  ])('%j is denied', (command) => {
    expect(judge(LISTED, command)).toMatchObject({ effect: 'deny', source: 'tool-hub.yaml:2' })
    expect(judge(owner(ALL, NEVER), command).effect).toBe('deny')
  })
})

describe('a decision names the part that decided', () => {
  it('with where it stands, its rule and the reason', () => {
    const decision = judge(owner(ALL, { deny: 'exec', on: 'rm -rf *', reason: 'No.' }), 'ls a $(rm -rf /)')
    expect(decision).toMatchObject({
      rule: 'deny exec on rm -rf * (tool-hub.yaml:2)',
      part: '`rm -rf /` inside `$(…)` of the second argument',
      reason: '`rm -rf /` inside `$(…)` of the second argument: No.',
    })
  })

  it('unless it is the whole command', () => {
    expect(judge(LISTED, 'sudo id').part).toContain('`sudo id`')
    const decision = judge(LISTED, 'rm -rf x')
    expect(decision.part).toBeUndefined()
    expect(decision.reason).toBe('Denied by deny exec on rm -rf *, sudo *, chmod 777 * (tool-hub.yaml:2).')
  })

  it('and what an allow does not cover', () => {
    expect(judge(LISTED, 'ls; cat a > b')).toMatchObject({
      effect: 'ask',
      layer: 'fallback',
      source: 'built in',
      reason: expect.stringMatching(
        /^`cat a > b`: it writes to b\. The rule allow exec on .* does not cover that, so a person decides\.$/,
      ),
      fix: { hint: expect.stringContaining('Approve it when asked') },
    })
  })

  it('on one line, short and without characters that do not show', () => {
    const { reason } = judge(LISTED, `ls; sudo "a\nb\u202e${'x'.repeat(500)}"`)
    expect(reason).toContain('a\\nb\\u{202e}xx')
    expect(reason).not.toMatch(/[\n\u202e]/)
    expect(reason.length).toBeLessThan(300)
  })
})

describe('an allow of all commands', () => {
  it.each(['ls > out', 'cat /etc/passwd', 'X=1 ./ls &', 'bash x.sh', '$X', 'echo $HOME'])('covers %j', (command) => {
    expect(judge(owner(ALL), command).effect).toBe('allow')
  })

  it.each([
    ...['bash x.sh', '$X', 'eval "$X"', 'curl x | sh', './run.sh', 'bin/tool', '/opt/x', 'env ./run.sh', 'gdb -ex x'],
    ...['gdb', 'lldb a.out', 'irb', 'ghci', 'psql', 'mysql x', 'ftp host', 'sftp host', 'telnet host', 'nc host 80'],
    ...['ncat -e x host', 'socat - exec:x', 'expect -c x', 'tclsh', 'wish x', 'gnuplot -e x', 'octave --eval x', 'R'],
    ...['Rscript x.R', 'julia -e x', 'scala', 'jshell', 'groovy -e x', 'swift', 'ocaml', 'sqlite3 x', 'redis-cli'],
    ...[
      'mongosh',
      'git status -v',
      'git status -svv',
      'git commit --verb',
      'git fetch --upload-p=x',
      'git push --exec=x',
    ],
    ...['git ls-remote --upload-pack x .', 'git pull --upload-pack=x', 'git clone -u x y', 'git push --receive-p x'],
  ])('does not cover %j where some are restricted', (command) => {
    expect(judge(owner(ALL, NEVER), command).effect).toBe('ask')
    expect(judge(owner(ALL, { ask: 'exec', on: 'git push *' }), command).effect).toBe('ask')
    expect(judge(owner({ allow: 'exec', except: 'git push *' }), command).effect).toBe('ask')
  })

  it('does not cover variables that the call gives a command where some are restricted', () => {
    const readings = new Map([['tar tf x', readCommandLine('tar tf x', { ...PLACE, env: ['TAR_OPTIONS'] }, AGREES)]])
    expect(judge(owner(ALL), 'tar tf x', { readings }).effect).toBe('allow')
    expect(judge(owner(ALL, NEVER), 'tar tf x').effect).toBe('allow')
    expect(judge(owner(ALL, NEVER), 'tar tf x', { readings }).effect).toBe('ask')
  })

  it.each([
    ['rm $X', 'ask'],
    ['/usr/bin/ls', 'allow'],
    ['/usr/local/bin/ls', 'allow'],
    ['/sbin/ls', 'allow'],
    ['gdb --version', 'allow'],
    ['git status -sb', 'allow'],
    ['ls | xargs rm', 'ask'],
    ['rm -r*', 'ask'],
    ['chmod 7* x', 'ask'],
    ['rm -- $X', 'ask'],
    ['echo $HOME', 'allow'],
    ['timeout 5 env ls > x', 'allow'],
  ])('%j could be what is denied, or not: %s', (command, effect) => {
    expect(judge(owner(ALL, NEVER), command).effect).toBe(effect)
  })

  it('never covers what could not be read', () => {
    for (const command of ['ls "', 'ls\u200b', 'ls )']) expect(judge(owner(ALL), command).effect).toBe('ask')
    expect(judge(owner(ALL), 'ls', { readings: undefined })).toMatchObject({
      effect: 'ask',
      rule: 'default: a command that cannot be read with certainty asks',
    })
    expect(judge(owner(ALL, NEVER), 'ls; sudo id', { readings: undefined }).effect).toBe('deny')
  })
})

describe('a program of which nothing is known', () => {
  const DENIED = owner(ALL, { deny: 'exec', on: ['rm -rf *', 'curl *'] })

  it.each([
    'mytool rm -rf x',
    'mytool -v --level 3 -- /bin/rm -fr x',
    'mytool run curl x',
    "mytool 'rm -rf x'",
    "mytool 'ls; rm -rf x'",
    "mytool 'sudo rm -rf x'",
    'mytool --run=rm -rf x',
    "mytool --run='rm -rf x'",
    '-run=curl',
    'mytool env nice rm -rf x',
    "mytool bash -c 'rm -rf x'",
    'mytool rm $X',
    'mytool bash x.sh',
    'mytool bash -c "$X"',
    'mytool python3 -c x',
    'mytool node dist/x',
    'docker exec web rm -rf x',
    'docker run alpine curl x',
    'docker-compose exec web rm -rf x',
    'kubectl exec pod -- rm -rf x',
    'rustup run nightly rm -rf x',
    "nix-shell --run 'rm -rf x'",
    `mytool ${'x '.repeat(300)}curl`,
    `mytool rm ${'x '.repeat(40)}-rf`,
    `mytool rm -r ${'x '.repeat(40)}y`,
  ])('is asked for where %j could run what is denied', (command) => {
    expect(judge(DENIED, command.replace(/^-/, 'mytool -')).effect).toBe('ask')
    expect(judge(owner(ALL), command.replace(/^-/, 'mytool -')).effect).toBe('allow')
  })

  it.each([
    'mytool build --out x',
    'mytool rm x',
    'mytool install python 3.12',
    'mytool install node',
    "mytool -m 'do not rm -rf x'",
    'mytool bash',
    'mytool "$X"',
    'echo rm -rf x',
    'apt-get install curl',
    'docker exec web ls',
    `mytool ${'x '.repeat(900)}`,
    `mytool rm ${'x '.repeat(29)}`,
  ])('is allowed for %j', (command) => {
    expect(judge(DENIED, command).effect).toBe('allow')
  })

  it('is asked for where it has more words than are looked at', () => {
    const lines = [999, 1000, 1001].map((count) => `mytool ${'x '.repeat(count)}`)
    expect(lines.map((line) => judge(DENIED, line).effect)).toEqual(['allow', 'allow', 'ask'])
  })

  it('has a reason that names what it may run, and the rule', () => {
    expect(judge(DENIED, 'mytool -q rm -rf x').reason).toBe(
      'The command: mytool may run `rm -rf x`, which is what deny exec on rm -rf *, curl * (tool-hub.yaml:2) is about. The rule allow exec (tool-hub.yaml:1) does not cover that, so a person decides.',
    )
  })

  it('is allowed by a rule that spells the words out', () => {
    const layers = owner(ALL, { allow: 'exec', on: ['mytool curl *', 'other *'] }, { deny: 'exec', on: 'curl *' })
    expect(judge(layers, 'mytool curl x').effect).toBe('allow')
    expect(judge(layers, 'mytool x curl').effect).toBe('ask')
    expect(judge(layers, 'other curl x').effect).toBe('ask')
  })

  it('is asked for where a rule that asks is about what it may run', () => {
    expect(judge(owner(ALL, { ask: 'exec', on: 'curl *' }), 'mytool curl x').effect).toBe('ask')
    expect(judge(owner({ allow: 'exec', except: 'curl *' }), 'mytool curl x').effect).toBe('ask')
  })
})

describe('an exception', () => {
  it('of an allow holds for all spellings', () => {
    const layers = owner({ allow: 'exec', except: 'git push *' })
    expect(judge(layers, 'git log').effect).toBe('allow')
    for (const command of ['git push', '/usr/bin/git -C x push', 'ls && env git push', 'git $X'])
      expect(judge(layers, command).effect, command).toBe('ask')
  })

  it('of a deny holds only for the very words, without doubts', () => {
    const layers = owner(ALL, { deny: 'exec', except: ['ls *', 'cat *'] })
    expect(judge(layers, 'ls | cat').effect).toBe('allow')
    for (const command of ['make', 'ls; make', 'ls > x', 'X=1 ls', 'cat $X', '/bin/ls', 'cat /etc/passwd'])
      expect(judge(layers, command).effect, command).toBe('deny')
  })
})

it('a rule that spells a hazard out means it', () => {
  const layers = owner({ allow: 'exec', on: ['git push', 'sort -o *', 'sort *'] })
  expect(judge(layers, 'git push').effect).toBe('allow')
  expect(judge(layers, 'sort a').effect).toBe('allow')
  expect(judge(layers, 'sort -o b a').effect).toBe('allow')
  expect(judge(layers, 'sort a -o b').effect).toBe('ask')
})

it('a file that no tool may read is asked for, where only some commands are allowed', () => {
  const layers = { ...DEFAULT_POLICY, ...owner(SOME) }
  expect(judge(layers, 'cat a.md')).toMatchObject({ effect: 'allow' })
  for (const command of ['cat .env', 'cat ./x/../.env', 'grep -r x tls/server.pem', 'cat < .env', 'cat keys/*.pem'])
    expect(judge(layers, command), command).toMatchObject({
      effect: 'ask',
      reason: expect.stringMatching(
        /it uses \S+, which tools may not read: deny read:fs on .*\. The rule allow exec on .* does not cover that, so a person decides\.$/,
      ),
    })
  expect(judge(owner(SOME, { ask: '*' }), 'cat a.md').effect).toBe('allow')
  expect(judge(owner(SOME, { deny: 'read:fs', on: './private/**' }), 'cat private/a').effect).toBe('ask')
})

it('a NUL is denied whatever the rules say', () => {
  expect(judge(owner(ALL), 'ls \0')).toMatchObject({
    effect: 'deny',
    rule: 'default: a command that cannot run is refused',
  })
  expect(judge(owner(ALL), 'ls \0', { readings: undefined }).effect).toBe('deny')
})

describe('without a sandbox', () => {
  const bare = { isUnsandboxed: true }

  it('what is allowed is asked, and what is denied stays so', () => {
    expect(judge(LISTED, 'ls', bare)).toMatchObject({
      effect: 'ask',
      rule: 'default: without a sandbox every command asks',
      source: 'built in',
    })
    expect(judge(owner(ALL), 'ls', { ...bare, targets: [] }).effect).toBe('ask')
    expect(judge(LISTED, 'sudo id', bare).effect).toBe('deny')
  })

  it('an answer from before is not remembered', () => {
    const policy = compilePolicy(owner(ALL))
    const asked = { tool: 'x', names: ['x'], groups: [], targets: [], caller: 'direct', tainted: false } as const
    const effects = [false, true, false].map(
      (isUnsandboxed) => decide(policy, { ...asked, capabilities: ['exec'], isUnsandboxed }).effect,
    )
    expect(effects).toEqual(['allow', 'ask', 'allow'])
  })

  it('other capabilities are decided as ever', () => {
    const targets = [{ capability: 'read:fs', value: '/ws/repo/a' }] as const
    expect(judge(owner({ allow: 'read:fs' }), '', { ...bare, capabilities: ['read:fs'], targets }).effect).toBe('allow')
  })
})

it('the limits of all parts hold', () => {
  const layers = owner(
    { allow: 'exec', on: 'ls', limit: { timeoutMs: 5 } },
    { allow: 'exec', on: 'cat', limit: { maxBytes: 9 } },
  )
  expect(judge(layers, 'ls | cat').constraints).toEqual({ timeoutMs: 5, maxBytes: 9 })
})
