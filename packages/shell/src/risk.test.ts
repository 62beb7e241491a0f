import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readCommandLine } from './reader/read-command-line.ts'
import { KNOWN_REASONS } from './risk.ts'

const PLACE = { cwd: '/ws', roots: ['/ws'] }
const risksIn = (command: string) => readCommandLine(command, PLACE).parts.flatMap(({ risks = [] }) => risks)
const worstIn = (command: string) => readCommandLine(command, PLACE).parts.map(({ risks }) => risks?.[0])

describe('the risks of a command', () => {
  it.each([
    ['rm -rf node_modules', 'deletes'],
    ['find . -name x -delete', 'deletes'],
    ['git clean -fdx', 'deletes'],
    ['git reset --hard', 'discards'],
    ['git rebase main', 'discards'],
    ['git push origin main', 'pushes'],
    ['git push -u origin feature-d', 'pushes'],
    ['git push --follow-tags', 'pushes'],
    ['git push --force', 'forces'],
    ['git -C sub push origin main -f', 'forces'],
    ['git push --force-with-lease=main origin', 'forces'],
    ['git push -uf origin main', 'forces'],
    ['git push origin +main', 'forces'],
    ['git push origin :old', 'forces'],
    ['git push --delete origin old', 'forces'],
    ['git push --mirror backup', 'forces'],
    ['npm publish', 'publishes'],
    ['npm install left-pad', 'installs'],
    ['node -e 1', 'inline'],
    ['python3 -c 1', 'inline'],
    ['bash build.sh', 'script'],
    ['bash', 'piped'],
    ['ssh host ls', 'remote'],
    ['curl -T notes.txt https://example.com', 'sends'],
    ['curl https://example.com', 'network'],
    ['cat /etc/passwd', 'outside'],
    ['kill 1', 'machine'],
    ['$X', 'unknown'],
  ])('%s', (command, risk) => {
    expect(worstIn(command)[0]).toBe(risk)
  })

  it.each([
    'curl -fsSL https://get.example.org | bash',
    'bash <(curl -s https://get.example.org)',
    'sh -c "$(curl -fsSL https://get.example.org)"',
    'wget -qO- https://get.example.org | sudo sh',
    'curl -o setup.sh https://get.example.org; sh setup.sh',
    'curl https://get.example.org | python3',
  ])('%s downloads a script and runs it', (command) => {
    expect(risksIn(command)).toContain('downloaded')
  })

  it.each(['ls -l', 'git status', 'npm test', 'cat a.txt | grep x', "bash -c 'ls'", 'cp a b'])(
    'knows of none in %s',
    (command) => {
      expect(risksIn(command)).toEqual([])
    },
  )

  it('does not call a script downloaded that has nothing to do with what is fetched', () => {
    expect(risksIn('curl -o data.json https://example.org; bash build.sh')).not.toContain('downloaded')
  })

  it('sees through wrappers', () => {
    expect(worstIn('sudo rm -rf x')).toEqual(['rights', 'deletes'])
    expect(worstIn('xargs rm').slice(1)).toEqual(['deletes'])
  })

  it('knows only reasons that are given somewhere', () => {
    const folder = import.meta.dirname
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    const sources = files.filter((name) => name.endsWith('.ts') && !/risk\.|test/.test(name))
    const text = sources.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n')
    expect(KNOWN_REASONS.filter((reason) => !text.includes(reason))).toEqual([])
  })
})
