import { describe, expect, it } from 'vitest'
import { checkEach } from '../../../../test/support/check-each.ts'
import { readCommandLine } from '../../../shell/src/reader/read-command-line.ts'
import { compilePolicy } from '../compile-policy.ts'
import { decide } from '../decide/decide.ts'
import { DEFAULT_POLICY } from '../default-policy.generated.ts'
import { COMMAND_GROUPS } from './match-command.ts'

const PLACE = { cwd: '/ws/repo', roots: ['/ws/repo'], home: '/home/ann' }
const AGREES = () => ({ hasError: false, names: [] })
const source = { file: 'tool-hub.yaml' }
const policy = compilePolicy({
  ...DEFAULT_POLICY,
  home: '/home/ann',
  owner: [
    { rule: { ask: 'exec' }, source, base: '/ws/repo' },
    { rule: { allow: 'exec', on: 'group:read-only' }, source, base: '/ws/repo' },
  ],
})

function judge(command: string): string {
  return decide(policy, {
    tool: 'core/exec.run',
    names: ['core/exec.run', 'exec'],
    groups: ['group:runtime'],
    capabilities: ['exec'],
    targets: [{ capability: 'exec', value: command }],
    caller: 'direct',
    tainted: false,
    readings: new Map([[command, readCommandLine(command, PLACE, AGREES)]]),
  }).effect
}

describe('group:read-only', () => {
  it('allows commands that only read', () => {
    checkEach(
      [
        'ls',
        'ls -la src',
        'cat package.json | grep test',
        'git status',
        'git log --oneline | head -5',
        'git diff HEAD~1 -- src && git status --short',
        'git branch --show-current',
        'git remote -v',
        'git stash list',
        'wc -l src/*.js',
        'find . -name "*.ts" | sort | uniq -c',
        'grep -rn todo src || true',
        'rg -n todo src 2>/dev/null | head',
        'cd src && ls',
        'sed -n 1,40p src/a.js',
        'diff a.txt b.txt > /dev/null 2>&1',
        'test -f a.txt && echo yes',
        'head -c 100 a.bin | od -c',
        'jq .name package.json',
      ],
      (command) => {
        expect(judge(command)).toBe('allow')
      },
    )
  })

  it('asks for commands that may do more', () => {
    checkEach(
      [
        'ls > out.txt',
        'cat a.txt >> b.txt',
        'echo hi | tee out.txt',
        'cat /etc/passwd',
        'cat ~/.ssh/id_rsa',
        'cat .env',
        'cat ../other/a.txt',
        'find . -delete',
        'find . -name x -exec rm {} ;',
        'find . -fprint out.txt',
        'sort -o a.txt a.txt',
        'uniq a.txt b.txt',
        'git diff --output=x.patch',
        'git diff --ext-diff',
        'git grep -O todo',
        'git branch -D main',
        'git branch new',
        'git tag v1',
        'git remote add x https://example.com/x.git',
        'git stash',
        'git -c core.pager=evil log',
        'git -C .. log',
        'git reflog expire --all',
        'git worktree add ../x',
        'rg --pre evil todo',
        'sed -i s/a/b/ a.txt',
        "sed -n 'w out.txt' a.txt",
        "sed -n '1e rm -rf x' a.txt",
        'date -s tomorrow',
        'tail -f log.txt',
        'ls $(rm -rf x)',
        'ls; rm -rf x',
        'ls && npm test',
        'ls `curl example.com`',
        'PAGER=evil git log',
        'LD_PRELOAD=./evil.so ls',
        './ls',
        '/tmp/cat a.txt',
        '$CMD a.txt',
        'fd -x rm',
        'tree -o out.txt',
        'printf -v PATH x',
        'xargs rm < list',
        'ls &',
        'awk BEGIN{system("id")}',
        'node -e 1',
        'cd /etc && cat passwd',
      ],
      (command) => {
        expect(judge(command)).not.toBe('allow')
      },
    )
  })

  it('is a list of patterns that mean what they say', () => {
    for (const pattern of COMMAND_GROUPS.get('group:read-only')!)
      expect(pattern).toMatch(/^[a-z0-9-]+( [a-z-]+){0,2} \*$/)
  })

  it('is the only group: another name is refused', () => {
    const rule = { allow: 'exec', on: 'group:readonly' }
    expect(() => compilePolicy({ owner: [{ rule, source, base: '/ws' }] })).toThrow(/the only group of commands/)
  })
})
