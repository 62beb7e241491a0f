import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lookAtProgram } from './look-at-program.ts'
import { TABLES } from './table/index.ts'

const look = (line: string) => lookAtProgram(line.split(' '))
const optionsOf = (line: string) => look(line).hazards.map(({ option }) => option)
const pathsOf = (line: string) => look(line).paths.map((index) => line.split(' ')[index])

describe('lookAtProgram', () => {
  it.each([
    ['a long option cut short', 'sort --out=x in.txt', '--out'],
    ['a long option cut short with its value apart', 'git diff --outp x', '--outp'],
    ['a short option within a cluster', 'sort -ro x in.txt', '-o'],
    ['a value attached to a short option', 'sort -ox in.txt', '-o'],
    ['a value attached to a cluster', 'grep -rfx .', '-f'],
    ['an option after the operands', 'sort in.txt -o x', '-o'],
    ['an option after one with a value', 'grep -A 3 -f x .', '-f'],
    ['an option after a flag that the table lacks', 'sort -Zo x', '-o'],
    ['a cluster without a dash', 'tar xf a.tar', '-x'],
    ['a value of a cluster without a dash', 'tar tIf ./x a.tar', '-I'],
    ['an option of git itself after another', 'git --no-pager -c a=b status', '-c'],
    ['an option of git itself with its value apart', 'git --git-dir /x status', '--git-dir'],
    ['two dashes where go takes one', 'go test --exec=./x ./...', '--exec'],
    ['a flag for the test program', 'go test ./... -args -test.cpuprofile=x', '-test.cpuprofile'],
    ['an option of npm after its command', 'npm test --script-shell=./x', '--script-shell'],
    ['an option of npm cut short', 'npm test --script-s ./x', '--script-s'],
    ['an option of cargo after its command', 'cargo test --config x=y', '--config'],
    ['an option of cargo after another toolchain', 'cargo +nightly test --config x=y', '--config'],
    ['underscores where node also takes dashes', 'node --experimental_loader ./x.js', '--experimental_loader'],
    ['print and eval in one', 'node -pe 1', '-p'],
    ['a pager attached to its option', 'git grep -Oless foo', '-O'],
    ['an action deep in an expression', 'find . ( -name x -o -exec id ; )', '-exec'],
    ['a script for sed among others', 'sed -e p -ne 1e in.txt', '1e'],
    ['a program called by its path', '/usr/bin/sort -o x', '-o'],
    ['a program with a version in its name', 'python3.11 -c 1', '-c'],
    ['a listing that is taken back', 'git branch --list --no-list x', 'x'],
  ])('finds %s', (_, line, option) => {
    expect(optionsOf(line)).toContain(option)
  })

  it.each([
    'sort -- -o x',
    'grep -- -f x',
    'grep -e -f x',
    'grep -A3 -e --file x',
    'git diff -- --output=x',
    'git diff -S --output=x',
    'find . -name -delete',
    'go test -run -exec ./...',
    'sed -n -e s/e/w/ -- -i',
    'cat -- -n',
  ])('takes no value or operand for an option: %s', (line) => {
    expect(look(line).hazards).toEqual([])
  })

  it.each([
    'ls -la --color=auto src/ test/',
    'cat -n a.txt b.txt',
    "grep -rn --include=*.go -A3 'foo bar' .",
    'grep -riE --exclude-dir=node_modules --color=never -m 5 x src',
    'rg -n --hidden -g !dist -tts foo src',
    'git diff --stat --name-only -U5 HEAD~1 -- src/',
    'git diff --cached -w --word-diff=color --diff-filter=AM main...HEAD',
    'git diff --no-ext-diff --no-color --no-textconv -M90% --output-indicator-new=+ HEAD',
    'git --no-pager log --oneline -5 --graph --all --author=ann --since=1.week',
    'git log -n 3 -p --follow -- a.txt',
    'git show HEAD:README.md',
    'git status --short --branch -uno',
    'git branch -a --sort=-committerdate',
    'git rev-parse --abbrev-ref HEAD',
    'go test -v -count=1 -run X -race ./...',
    'go test -short -timeout 30s -bench=. -benchmem -cover ./pkg/...',
    'go build -trimpath -tags integration -v ./...',
    'go vet ./...',
    'cargo test --release -p x -- --nocapture',
    'npm test -- --run src/x.test.ts',
    'npm run build --silent',
    'make -j8 test',
    'find . -type f -name *.ts -not -path ./node_modules/* -maxdepth 3',
    'sort -u -k2,2 -t, in.csv',
    'tail -n +5 in.txt',
    'head -20 in.txt',
    'sed -n 10,20p in.txt',
    'sed -E s/[^/]+$//;s|a|b|g in.txt',
    'tar tzf a.tgz',
    'curl -sSfL -o /dev/null -w %{http_code} https://example.com/x',
    'curl -X POST -H Accept:x -d {"a":1} https://example.com/x',
    'wc -l in.txt',
    'jq -r .env.name package.json',
    'date -u +%s',
    'docker ps -a',
    'pytest -x -k name tests/',
    'tsc --noEmit',
    'vitest run src',
  ])('finds nothing in %s', (line) => {
    expect(look(line).hazards).toEqual([])
  })

  it('lets -ldflags be what release builds need and nothing else', () => {
    const hazards = (value: string) => lookAtProgram(['go', 'build', '-ldflags', value]).hazards.length
    expect(hazards('-s -w -X main.version=1.2')).toBe(0)
    expect(hazards('all=-s')).toBe(0)
    expect(hazards('-s -extld=./x')).toBe(1)
    expect(hazards("-X 'a -extld=./x")).toBe(1)
    expect(hazards('')).toBe(1)
  })

  it('says of which program an option is not known, where all harmless ones are', () => {
    expect(look('git diff --brand-new').hazards).toEqual([
      { option: '--brand-new', kind: 'reach', reason: 'is not known to be harmless', at: 2 },
    ])
    expect(look('ls --brand-new').hazards).toEqual([])
  })

  it('tells which word brings the hazard, for rules that spell it out', () => {
    const at = (line: string) => look(line).hazards.map((hazard) => hazard.at)
    expect(at('git push origin')).toEqual([1])
    expect(at('sort in.txt -o x')).toEqual([2])
    expect(at('sort in.txt -ox')).toEqual([2])
    expect(at('node build.js x')).toEqual([1])
    expect(at('wget https://example.com')).toEqual([0])
  })

  it('takes a value for what brings the hazard where only some values do', () => {
    const at = (line: string) => look(line).hazards.map((hazard) => hazard.at)
    expect(at('curl -d @x https://example.com')).toEqual([2])
    expect(at('sed -e 1e in.txt')).toEqual([2])
  })

  it('counts no word as the one that brings a program from the input', () => {
    for (const line of ['node', 'python3', 'bash', 'perl', 'sqlite3 x.db'])
      expect(look(line).hazards.map(({ kind, at }) => ({ kind, at }))).toEqual([
        { kind: 'hidden', at: line.split(' ').length },
      ])
  })

  it.each([
    ['grep foo a.txt src/', ['a.txt', 'src/']],
    ['grep -e foo a.txt', ['a.txt']],
    ['grep /api/v1 routes.go', ['routes.go']],
    ['rg --files src', ['src']],
    ['rg -e foo --no-ignore /etc', ['/etc']],
    ['find /etc ../x -name *.go', ['/etc', '../x']],
    ['git diff HEAD -- ../x', ['HEAD', '../x']],
    ['cat - a.txt', ['a.txt']],
    ['sed p /etc/passwd', ['/etc/passwd']],
    ['cp a.txt /etc/x', ['a.txt', '/etc/x']],
    ['chmod 755 /etc/x', ['/etc/x']],
    ['echo /etc/passwd', []],
    ['unheard-of a /etc/x . .. ~ ~root b.txt', ['/etc/x', '.', '..', '~', '~root']],
  ])('finds the files in %s', (line, paths) => {
    expect(pathsOf(line)).toEqual(paths)
  })

  it.each([
    ['sort -o/etc/x', ['/etc/x']],
    ['sort --output /etc/x', ['/etc/x']],
    ['cp -t /etc a.txt', ['/etc']],
    ['ls --brand-new=/etc/x', ['/etc/x']],
    ['sed -n r/etc/passwd', ['/etc/passwd']],
    ['tar tf /etc/x.tar', ['/etc/x.tar']],
    ['dd if=/etc/passwd', ['/etc/passwd']],
    [
      'unheard-of --file=/etc/x --name=b of=/etc/y @/etc/z -I/usr/include',
      ['/etc/x', '/etc/y', '/etc/z', '/usr/include'],
    ],
    ['curl -o - https://example.com', []],
  ])('finds the files that options of %s name', (line, values) => {
    expect(look(line).pathValues).toEqual(values)
  })

  it('knows nothing of a program that no table has, nor of one that is only known when it runs', () => {
    const nothing = { hazards: [], paths: [], pathValues: [], risks: [], isKnown: false }
    for (const words of [
      ['unheard-of', '-o', 'x'],
      [undefined, '-o'],
      [],
      ['constructor'],
      ['__proto__'],
      ['ls2'],
      [''],
    ])
      expect(lookAtProgram(words)).toMatchObject(nothing)
  })

  it('continues past words that are only known when it runs', () => {
    expect(lookAtProgram(['sort', undefined, '-o', undefined])).toMatchObject({
      hazards: [{ option: '-o' }],
      paths: [],
      pathValues: [],
    })
    expect(lookAtProgram(['git', undefined, 'x']).hazards).toHaveLength(1)
    expect(lookAtProgram(['curl', '-d', undefined]).hazards).toHaveLength(1)
  })

  it('bounds what it says of a hostile line', () => {
    const words = ['sort', ...Array.from({ length: 5_000 }, () => '-o'), `-${'r'.repeat(1_000_000)}`]
    const { hazards } = lookAtProgram(words)
    expect(hazards.length).toBeLessThanOrEqual(32)
    expect(look(`awk ${'x'.repeat(100_000)}`).hazards[0]!.option.length).toBeLessThan(100)
    expect(look(`git diff -${'p'.repeat(100)}`).hazards).toHaveLength(1)
  })

  it('points at the end for a value that is not there', () => {
    expect(look('tar ff').hazards.every(({ at }) => at <= 2)).toBe(true)
  })

  it('never throws, and points only at words that are there', () => {
    const names = TABLES.flatMap(({ names }) => names.split(' '))
    const options = TABLES.flatMap(({ rows = [] }) => rows.flatMap(({ example }) => example.split(' ')))
    const word = fc.oneof(
      fc.constantFrom(...options, '--', '-', '', '..', '/etc/x', undefined, '__proto__', 'diff', 'test', 'run'),
      fc.string({ maxLength: 8 }),
      fc.string({ unit: fc.constantFrom('-', '=', 'o', 'f', 'e', '/', '\0', '\n', '\ud800', '[', '\\'), maxLength: 8 }),
    )
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.array(word, { maxLength: 8 }), (name, rest) => {
        const words = [name, ...rest]
        const { hazards, paths, pathValues } = lookAtProgram(words)
        return (
          paths.every((index) => typeof words[index] === 'string') &&
          pathValues.every((value) => typeof value === 'string') &&
          hazards.every(({ at }) => at >= 0 && at <= words.length)
        )
      }),
      { numRuns: 150 },
    )
  })
})
