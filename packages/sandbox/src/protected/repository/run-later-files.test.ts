import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { mayRunLater, RunLaterFiles } from './run-later-files.ts'

let root: string
let later: RunLaterFiles

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'tool-hub-later-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  execFileSync('git', ['init', '-q', root])
  later = new RunLaterFiles()
})

function write(path: string, content: string | object = ''): string {
  const file = join(root, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}

const hook = (text: string, path = '.git/hooks/pre-commit') => write(path, `#!/bin/sh\n${text}\n`)
const asks = (path: string) => later.find(join(root, path))?.asks === true

describe('the configs of programs that hooks start', () => {
  it.each<[string, string, string[]]>([
    ['npx eslint .', 'eslint', ['eslint.config.js', '.eslintrc', '.eslintrc.json', 'packages/a/eslint.config.mjs']],
    ['npx --no -- prettier@3 --check .', 'prettier', ['.prettierrc', '.prettierrc.cjs', 'prettier.config.js']],
    ['node_modules/.bin/biome check', 'biome', ['biome.json', 'biome.jsonc', '.biome.json']],
    ['make lint', 'make', ['Makefile', 'GNUmakefile', 'rules.mk']],
    ['pytest -q', 'pytest', ['pytest.ini', 'conftest.py', 'tests/conftest.py', 'pyproject.toml', 'setup.cfg']],
    ['uv run ruff check', 'ruff', ['ruff.toml', '.ruff.toml']],
    ['cargo clippy', 'cargo', ['clippy.toml', 'build.rs', 'rustfmt.toml']],
    ['pnpm nx affected -t lint', 'nx', ['nx.json']],
    ['npx turbo run lint', 'turbo', ['turbo.json']],
    ['npx jest', 'jest', ['jest.config.ts', 'babel.config.js']],
    ['python -m flake8', 'flake8', ['.flake8']],
    ['npx my-own-linter', 'my-own-linter', ['.my-own-linterrc', 'my-own-linter.config.js', 'my-own-linter.toml']],
  ])('`%s`', (line, program, configs) => {
    for (const config of configs) expect([config, asks(config)]).toEqual([config, false])
    hook(line)
    for (const config of configs) expect([config, asks(config)]).toEqual([config, true])
    expect(later.find(join(root, configs[0]!))?.by).toBe(
      `${program} (started by a git hook or by settings of the project)`,
    )
    for (const other of ['packages/library/src/index.ts', 'README.md', 'tsconfig.json']) expect(asks(other)).toBe(false)
    for (const config of configs)
      expect([config, mayRunLater(config.slice(config.lastIndexOf('/') + 1))]).toEqual([config, true])
  })

  it('a file that a hook names with an option', () => {
    write('tools/lint-rules.js')
    hook('npx eslint -c tools/lint-rules.js --rulesdir=tools/more src')
    expect(asks('tools/lint-rules.js')).toBe(true)
  })

  it('a comment starts nothing', () => {
    hook('# make sure that eslint passes\ntrue')
    expect([asks('Makefile'), asks('eslint.config.js')]).toEqual([false, false])
  })

  it('a sample hook starts nothing, and a hook counts as soon as there is one', () => {
    hook('npx eslint .', '.git/hooks/pre-commit.sample')
    expect(asks('eslint.config.js')).toBe(false)
    hook('npx eslint .', '.husky/pre-commit')
    expect(asks('eslint.config.js')).toBe(true)
    hook('npx oxlint .', '.husky/pre-commit')
    expect([asks('eslint.config.js'), asks('.oxlintrc.json')]).toEqual([false, true])
  })

  it.each<[string, string | object]>([
    ['lefthook.yml', 'pre-commit:\n  commands:\n    lint:\n      run: npx eslint {staged_files}\n'],
    ['.pre-commit-config.yaml', 'repos:\n  - repo: local\n    hooks:\n      - id: eslint\n        entry: eslint\n'],
    ['.lintstagedrc.json', { '*.ts': ['eslint --fix'] }],
    ['package.json', { 'lint-staged': { '*.ts': 'eslint --fix' } }],
    ['package.json', { husky: { hooks: { 'pre-commit': 'eslint .' } } }],
    ['package.json', { 'simple-git-hooks': { 'pre-commit': 'npx eslint .' } }],
  ])('%s says what hooks start', (path, content) => {
    write(path, content)
    expect(asks('eslint.config.js')).toBe(true)
  })

  it('a script of package.json that a hook runs, and what that script runs', () => {
    write('package.json', { scripts: { precommit: 'npm run lint', lint: 'eslint .', build: 'vite build' } })
    hook('npm run --silent precommit')
    expect([asks('eslint.config.js'), asks('vite.config.ts')]).toEqual([true, false])
  })

  it('the folder that core.hooksPath names, and the hooks of husky 9', () => {
    execFileSync('git', ['-C', root, 'config', 'core.hooksPath', 'ci/hooks'])
    hook('npx eslint .', 'ci/hooks/pre-push')
    hook('. "$(dirname "$0")/h"', '.husky/_/pre-commit')
    hook('npx stylelint src', '.husky/pre-commit')
    expect([asks('eslint.config.js'), asks('.stylelintrc.json')]).toEqual([true, true])
  })

  it('a worktree, whose hooks are in the main repository', () => {
    const git = (...words: string[]) =>
      execFileSync('git', ['-C', root, '-c', 'user.name=a', '-c', 'user.email=a@b.c', ...words])
    git('commit', '-q', '--allow-empty', '-m', 'first')
    git('worktree', 'add', '-q', join(root, 'trees/b'), '-b', 'b')
    hook('npx eslint .\n./scripts/check.sh')
    expect(asks('trees/b/eslint.config.js')).toBe(true)
    expect(later.isHookScript(join(root, 'trees/b/scripts/check.sh'))).toBe(true)
  })
})

describe('scripts that a hook starts by their path', () => {
  it.each([
    ['./scripts/check.sh "$@"', 'scripts/check.sh'],
    ['exec scripts/check.sh', 'scripts/check.sh'],
    ['node scripts/check.mjs', 'scripts/check.mjs'],
    ['if ! python3 tools/lint.py; then exit 1; fi', 'tools/lint.py'],
    ['CI=1 bash ./ci/run.sh', 'ci/run.sh'],
    ['. ./ci/run.sh', 'ci/run.sh'],
    ['git diff --quiet && ./ci/run.sh', 'ci/run.sh'],
  ])('`%s` closes %s, before it exists and after', (line, path) => {
    hook(line)
    expect(later.isHookScript(join(root, path))).toBe(true)
    write(path)
    expect(later.isHookScript(join(root, path))).toBe(true)
  })

  it('through a variable, a link, a script of package.json and another script', () => {
    for (const path of ['scripts/a.sh', 'scripts/b.sh', 'scripts/c.js', 'scripts/d.js', 'scripts/e.js']) write(path)
    write('scripts/c.js', 'require("child_process").execSync("npx eslint")')
    write('package.json', { scripts: { check: 'node scripts/c.js' } })
    hook('"$ROOT/scripts/a.sh" && npm run check')
    symlinkSync('../../scripts/b.sh', join(root, '.git/hooks/pre-push'))
    const closed = ['scripts/a.sh', 'scripts/b.sh', 'scripts/c.js', 'scripts/d.js'].map((path) =>
      later.isHookScript(join(root, path)),
    )
    expect(closed).toEqual([true, true, true, false])
    expect(asks('eslint.config.js')).toBe(true)
  })

  it('an installed program that a hook starts asks, wherever its link in node_modules leads', () => {
    const program = write('node_modules/lint-staged/bin/lint-staged.js')
    write('node_modules/other/cli.js')
    mkdirSync(join(root, 'node_modules/.bin'))
    symlinkSync('../lint-staged/bin/lint-staged.js', join(root, 'node_modules/.bin/lint-staged'))
    symlinkSync('../other/cli.js', join(root, 'node_modules/.bin/other'))
    expect(later.find(program)).toBeUndefined()
    hook('npx lint-staged')
    expect(later.find(program)).toEqual({
      by: 'a program (started by a git hook or by settings of the project)',
      asks: true,
    })
    expect(later.choose([], [root])).toContain(program)
    expect(later.find(join(root, 'node_modules/other/cli.js'))).toBeUndefined()
  })

  it('installed programs and other files are not', () => {
    write('packages/library/src/index.ts')
    hook('node_modules/.bin/tsc -p packages/library/src/index.ts; cat README.md')
    for (const path of ['node_modules/.bin/tsc', 'packages/library/src/index.ts', 'README.md'])
      expect(later.isHookScript(join(root, path))).toBe(false)
  })
})

describe('scripts that agents, editors and shells start by themselves', () => {
  const command = (text: string) => ({ hooks: { PostToolUse: [{ hooks: [{ type: 'command', command: text }] }] } })
  it.each<[string, string | object]>([
    ['.claude/settings.json', command('./tools/x.sh --fix')],
    ['.claude/settings.local.json', command('"$CLAUDE_PROJECT_DIR"/tools/x.sh')],
    ['.mcp.json', { mcpServers: { own: { command: 'node', args: ['--no-warnings', 'tools/x.sh'] } } }],
    ['.cursor/mcp.json', { mcpServers: { own: { command: 'bash', args: ['./tools/x.sh'] } } }],
    ['.vscode/tasks.json', '{ // c\n"tasks": [{ "runOptions": { "runOn": "folderOpen" }, "command": "tools/x.sh" }] }'],
    ['.devcontainer/devcontainer.json', { postCreateCommand: 'bash tools/x.sh' }],
    ['.envrc', 'source ./tools/x.sh'],
    ['mise.toml', '[hooks]\nenter = "./tools/x.sh"'],
  ])('%s', (path, content) => {
    write('tools/x.sh')
    expect(later.isHookScript(join(root, 'tools/x.sh'))).toBe(false)
    write(path, content)
    expect(later.isHookScript(join(root, 'tools/x.sh'))).toBe(true)
    expect([asks('tools/y.sh'), asks('src/main.ts')]).toEqual([false, false])
  })

  it('are not those that somebody else starts, or that an agent may run', () => {
    for (const name of ['x.sh', 'y.sh']) write(`tools/${name}`)
    write('.vscode/tasks.json', { tasks: [{ label: 'x', command: 'tools/x.sh' }] })
    write('.claude/settings.json', { permissions: { allow: ['Bash(./tools/y.sh:*)'] } })
    expect([asks('tools/x.sh'), asks('tools/y.sh')]).toEqual([false, false])
  })

  it.each([
    ['use flake', ['flake.nix', 'flake.lock']],
    ['use nix', ['shell.nix', 'default.nix']],
    ['use devenv', ['devenv.nix', 'devenv.yaml', 'devenv.lock']],
    ['eval "$(devbox generate direnv --print-envrc)"', ['devbox.json']],
  ])('include the environment of direnv: %s', (line, files) => {
    expect(files.map(asks)).toEqual(files.map(() => false))
    write('.envrc', line)
    expect(files.map(asks)).toEqual(files.map(() => true))
    expect(files.map((name) => mayRunLater(name))).toEqual(files.map(() => true))
  })

  it.each(['', '// c\n'])('include a script of package.json that a task runs when the folder is opened', (comment) => {
    const task = { type: 'npm', script: 'watch', runOptions: { runOn: 'folderOpen' } }
    const scripts = (watch: string) => JSON.stringify({ scripts: { watch } })
    const path = write('package.json', scripts('tsc -w'))
    const change = { before: scripts('tsc -w'), after: scripts('evil') }
    expect(later.find(path, change)).toBeUndefined()
    write('.vscode/tasks.json', comment + JSON.stringify({ tasks: [task] }))
    expect(later.find(path, change)?.asks).toBe(true)
  })

  it('include the files that a makefile includes, whatever they are called', () => {
    write('Makefile', 'include build/rules\n-include $(TOP)/local.inc # own\nall:\n')
    expect(asks('build/rules')).toBe(false)
    hook('make lint')
    expect([asks('build/rules'), asks('local.inc'), asks('build/other')]).toEqual([true, true, false])
  })
})

it('reads a hostile text in bounded time', () => {
  const texts = [' a.b/c'.repeat(40_000), 'a/'.repeat(120_000), 'npm -a '.repeat(30_000), './x;'.repeat(60_000)]
  write('package.json', { 'lint-staged': texts })
  const begun = performance.now()
  expect(asks('eslint.config.js')).toBe(false)
  expect(performance.now() - begun).toBeLessThan(5_000)
})

describe('package.json', () => {
  const change = (before: object | string | undefined, after: object | string | undefined, path = 'package.json') => {
    const text = (value: object | string | undefined) => (typeof value === 'object' ? JSON.stringify(value) : value)
    return later.find(join(root, path), { before: text(before), after: text(after) })?.by
  }

  it.each<[object, string]>([
    [{ 'lint-staged': { '*': 'sh evil.sh' } }, 'lint-staged'],
    [{ husky: { hooks: { 'pre-commit': 'x' } } }, 'husky'],
    [{ 'simple-git-hooks': { 'pre-commit': 'x' } }, 'simple-git-hooks'],
    [{ 'pre-commit': ['x'] }, 'pre-commit'],
    [{ gitHooks: { 'pre-commit': 'x' } }, 'gitHooks'],
    [{ commitlint: { extends: ['./evil.js'] } }, 'commitlint'],
    [{ config: { commitizen: { path: './evil' } } }, 'config.commitizen'],
    [{ scripts: { prepare: 'x' } }, 'scripts.prepare'],
    [{ scripts: { postinstall: 'x' } }, 'scripts.postinstall'],
    [{ packageManager: 'yarn@4.0.0' }, 'packageManager'],
  ])('a change of %j asks, and names the key', (value, key) => {
    const before = { name: 'a', scripts: { build: 'tsc' } }
    expect(change(before, { ...before, ...value })).toContain(key)
    expect(change({ ...before, ...value }, before, 'packages/b/package.json')).toContain(key)
    expect(change({ ...before, ...value }, { ...before, ...value, version: '2.0.0' })).toBeUndefined()
    expect(change(undefined, `\uFEFF${JSON.stringify(value)}`)).toContain(key)
  })

  it('other changes do not', () => {
    const before = { name: 'a', scripts: { build: 'tsc', test: 'vitest' }, dependencies: {} }
    const after = {
      ...before,
      scripts: { build: 'tsc -b', lint: 'eslint' },
      dependencies: { zod: '4' },
      config: { x: 1 },
    }
    expect(change(before, after)).toBeUndefined()
    expect(change(before, 'not JSON')).toBeUndefined()
  })

  it('a script that a hook runs asks, and the settings of a program that a hook starts', () => {
    const before = { scripts: { test: 'vitest' }, eslintConfig: {}, prettier: {} }
    write('package.json', before)
    hook('npm test\nnpx eslint .')
    expect(change(before, { ...before, scripts: { test: 'sh evil.sh' } })).toContain('scripts.test')
    expect(change(before, { ...before, scripts: { test: 'vitest', pretest: 'sh evil.sh' } })).toContain(
      'scripts.pretest',
    )
    expect(change(before, { ...before, eslintConfig: { rules: {} } })).toContain('eslintConfig')
    expect(change(before, { ...before, prettier: { semi: false } })).toBeUndefined()
  })

  it('asks if nobody knows what changes, in every form of it', () => {
    for (const path of ['package.json', 'packages/b/package.json', 'PACKAGE.JSON', 'package.yaml', 'package.json5'])
      expect([path, asks(path)]).toEqual([path, true])
  })
})

it.each([
  ['pnpm-workspace.yaml', 'package managers'],
  ['bunfig.toml', 'package managers'],
  ['binding.gyp', 'package managers'],
  ['.tool-versions', 'environment managers'],
  ['.lfsconfig', 'git-lfs'],
  ['rust-toolchain.toml', 'rustup'],
  ['gradle/wrapper/gradle-wrapper.properties', 'editors and builds'],
])('%s asks, since %s obey it without a hook', (path, by) => {
  expect(later.find(join(root, path))).toEqual({ by, asks: true })
  expect(mayRunLater(basename(path))).toBe(true)
  expect(later.choose([join(root, path)], [root])).toContain(join(root, path))
})

it.each(['.github/workflows/ci.yml', '.gitlab-ci.yml', 'Jenkinsfile', '.circleci/config.yml'])(
  '%s is run by a pipeline, which is only reported',
  (path) => {
    expect(later.find(join(root, path))).toEqual({ by: 'a pipeline', asks: false })
  },
)
