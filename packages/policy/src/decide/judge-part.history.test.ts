import { expect, it } from 'vitest'
import { checkEach } from '../../../../test/support/check-each.ts'
import { readCommandLine } from '../../../shell/src/reader/read-command-line.ts'
import { compilePolicy } from '../compile-policy.ts'
import { decide } from './decide.ts'

const PLACE = { cwd: '/ws/src', roots: ['/ws'], home: '/home/ann' }
const policy = compilePolicy({
  owner: [
    { deny: '*', on: ['**/.env*', '**/*.pem'] },
    { deny: 'write:fs', on: '**/.git/**' },
    { allow: 'exec', on: ['group:read-only', 'mkdir *', 'touch *', 'pytest *', 'git archive *'] },
  ].map((rule, index) => ({ rule: rule as never, source: { file: 'tool-hub.yaml', line: index }, base: '/ws' })),
})

function decisionOn(command: string) {
  const readings = new Map([[command, readCommandLine(command, PLACE, () => ({ hasError: false, names: [] }))]])
  const targets = [{ capability: 'exec' as const, value: command }]
  return decide(policy, {
    tool: 'core/exec.run',
    names: [],
    groups: [],
    capabilities: ['exec'],
    targets,
    caller: 'direct',
    tainted: false,
    readings,
  })
}
const effectOf = (command: string) => decisionOn(command).effect

it.each(['cat ../.env', 'git show HEAD~1:.env', 'git cat-file -p HEAD:.env'])(
  '%s asks, now or in history, because of the rule that denies the file',
  (command) => {
    expect(decisionOn(command)).toMatchObject({
      effect: 'ask',
      reason: expect.stringMatching(/it uses \S+\/\.env, which tools may not read: deny "\*" on \*\*\/\.env\*/),
    })
  },
)

it('commands that show what was denied, or write, need an approval', () => {
  checkEach(
    [
      'git show HEAD~1:.env',
      'git show :.env',
      'git show :0:.env',
      "git show 'stash@{0}:.env'",
      "git show 'HEAD^{/fix: x}:.env'",
      'git cat-file -p HEAD:deploy/.env.prod',
      'git log -L1,5:.env',
      'git log -p -- .env',
      "git log -p -- ':(top).env'",
      'git log -p -- :/.env',
      "git log -p -- '*.env'",
      "git log -p -- ':(glob)**/.env'",
      "git diff HEAD~1 -- ':(icase).ENV'",
      "git log -p -- '*.p?m'",
      "git log -p -- '.*'",
      "git log -p -- '*v'",
      "git log -p -- '????'",
      "git log -p -- '*.e*'",
      "git log -p -- '[.]env'",
      "git log -p -- 'deploy/*.env.*'",
      'git blame HEAD -- .env',
      'git grep KEY HEAD -- .env',
      'git archive HEAD .env',
      'git cat-file --batch',
      "git show HEAD -- '.\\env'",
      "git log -p -- '.en\\v'",
      "git show HEAD -- 'deploy/\\.env'",
      'git stash list -p -- .env',
      'git stash list -L1,5:.env',
      'git log -p --skip-to=.env',
      'git diff --rotate-to=.env HEAD',
      'git log -p --find-object=HEAD:.env',
      'touch .git/index.lock',
      'touch ../.git/refs/heads/main.lock',
      'mkdir .git/rebase-merge',
      'mkdir -m 4777 x',
      'mkdir --mode=u+s x',
      'pytest --debug=x',
      'pytest --cov-report=html:x',
      'pytest --some-plugin-output=x',
      'strings @list',
    ],
    (command) => {
      expect(effectOf(command)).not.toBe('allow')
    },
  )
})

it('others do not', () => {
  checkEach(
    [
      'git show HEAD~1:src/a.ts',
      "git log -p -- a.ts ':!dist'",
      'git diff HEAD -- src',
      "git log -p -- '*.ts'",
      "git diff HEAD -- 'lib/**/*.js' '*.json'",
      "git grep -n todo -- '*.py' '*.md'",
      "git ls-files '*.test.ts' 'a/*/b.vue'",
      'git blame -L 1,20 a.ts',
      'mkdir -p -m 755 x/y',
      'touch a.txt',
      'pytest -x --cov=src --cov-report=term-missing tests',
    ],
    (command) => {
      expect(effectOf(command)).toBe('allow')
    },
  )
})
