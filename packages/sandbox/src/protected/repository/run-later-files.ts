import { basename, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { isPlainObject } from '@tool-hub/core/lib'
import { compileNames, foldName } from '../names/index.ts'
import { HOOK_KEYS, HookReader, type HookUse, parseManifest } from './hook-reader.ts'

/** Who runs or obeys a file without being asked, where the name alone does not close it. */
export interface RunLater {
  /** `eslint (started by a git hook or by settings of the project)`. */
  readonly by: string
  /** Whether a change by a tool needs a person. The others are only reported. */
  readonly asks: boolean
}

/** The content of a file before and after a change; absent if there is none. */
export interface ContentChange {
  readonly before?: string
  readonly after?: string
}

/** The files of programs that are not named after them. */
const CONFIGS: Readonly<Record<string, readonly string[]>> = {
  make: ['{gnu,}makefile', '*.mk'],
  just: ['{.,}justfile'],
  // `use flake` in an .envrc: direnv runs the new environment when the folder is entered.
  flake: ['flake.{nix,lock}'],
  nix: ['{shell,default}.nix', 'flake.{nix,lock}'],
  devenv: ['devenv{,.local}.{nix,yaml}', 'devenv.lock'],
  task: ['taskfile.{yml,yaml}'],
  rake: ['rakefile'],
  bundle: ['gemfile'],
  eslint: ['.eslintrc*', 'eslint.config.*'],
  jest: ['jest.{config,setup}*', '{.babelrc*,babel.config.*}'],
  vitest: ['{vite,vitest,postcss}.{config,workspace}.*'],
  vite: ['{vite,postcss}.config.*'],
  pytest: ['conftest.py', '{pytest,tox}.ini', 'setup.cfg', 'pyproject.toml'],
  mypy: ['mypy.ini', 'setup.cfg', 'pyproject.toml'],
  pylint: ['{.,}pylintrc', 'pyproject.toml'],
  nox: ['noxfile.py'],
  invoke: ['tasks.py'],
  cargo: ['build.rs', '{clippy,.clippy,rustfmt,.rustfmt}.toml'],
  'golangci-lint': ['.golangci.*'],
  gradle: ['{build,settings}.gradle{,.kts}', 'gradlew'],
  mvn: ['pom.xml', 'mvnw'],
  composer: ['composer.json'],
  mix: ['mix.exs', '.{formatter,credo}.exs'],
  grunt: ['gruntfile.*'],
  gulp: ['gulpfile.*'],
}
const CONFIG_TESTS = Object.entries(CONFIGS).map(([program, names]) => ({ program, isConfig: compileNames(names) }))

/** The ways in which a file is named after the program that obeys it; the first group is the program. */
const NAMED_AFTER = [
  /^\.?([\w-]+?)rc(?:\..+)?$/,
  /^\.?([\w-]+)\.(?:config|conf|setup|workspace)\..+$/,
  /^\.([\w-]+)(?:\.(?:json|jsonc|json5|ya?ml|toml|ini|[cm]?[jt]s|exs|neon|xml))?$/,
  /^([\w-]+)\.(?:json|jsonc|json5|ya?ml|toml|ini|neon|xml)$/,
]

const PIPELINES = compileNames([
  ...['.{gitlab-ci,travis,appveyor,drone,woodpecker,cirrus,semaphore}.{yml,yaml}', 'appveyor.yml'],
  ...['jenkinsfile', 'azure-pipelines.{yml,yaml}', 'bitbucket-pipelines.yml', 'cloudbuild.{yml,yaml}'],
])
const PIPELINE_FOLDER =
  /\/(?:\.github\/(?:workflows|actions)|\.circleci|\.buildkite|\.gitea\/workflows|\.forgejo\/workflows)\//

/** Only some of its keys are run. */
const MANIFEST = 'package.json'
/** Files that no hook needs to name, and who obeys them; nobody knows which of their settings run something. */
const OBEYED: ReadonlyMap<string, string> = new Map([
  ...['package.yaml', 'package.yml', 'package.json5'].map((name) => [name, 'package managers and git hooks'] as const),
  // npm builds whatever has a binding.gyp; the settings of the others name scripts.
  ...['pnpm-workspace.yaml', 'bunfig.toml', 'binding.gyp'].map((name) => [name, 'package managers'] as const),
  ['.tool-versions', 'environment managers'],
  ['.lfsconfig', 'git-lfs'],
  // It may name a folder with programs, which cargo and editors then start.
  ...['rust-toolchain', 'rust-toolchain.toml'].map((name) => [name, 'rustup'] as const),
  ...['gradle-wrapper.properties', 'maven-wrapper.properties'].map((name) => [name, 'editors and builds'] as const),
])
/** Scripts that package managers run by themselves when something is installed, packed or published. */
const LIFECYCLE = new Set([
  ...['preinstall', 'install', 'postinstall', 'preprepare', 'prepare', 'postprepare', 'dependencies'],
  ...['prepublish', 'prepublishOnly', 'prepack', 'postpack'],
])

/** Knows which files run later because of the git hooks, the packages and the pipelines of a repository. */
export class RunLaterFiles {
  readonly #hooks = new HookReader()

  /** Whether a git hook starts this file by its path. */
  isHookScript(path: string): boolean {
    return this.#hooks.around(path).some(({ scripts }) => scripts.includes(path))
  }

  /** The scripts that the hooks of a repository start by their path. */
  hookScriptsOf(workTree: string): readonly string[] {
    return this.#hooks.of(workTree).scripts
  }

  /** Those of the files that run later, whatever changes in them; `folders` are in the repositories that count. */
  choose(paths: readonly string[], folders: readonly string[]): string[] {
    const uses = this.#hooks.around(...folders.map((folder) => join(folder, MANIFEST)))
    const known = new Map<string, boolean>()
    const isChosen = (path: string): boolean => {
      const name = foldName(basename(path))
      const isKnown =
        known.get(name) ??
        (isPackageOrPipeline(path, name) || uses.some((use) => hookUser(path, name, use) !== undefined))
      if (!PIPELINE_FOLDER.test(path)) known.set(name, isKnown)
      return isKnown
    }
    return [...new Set([...paths.filter(isChosen), ...uses.flatMap(({ named }) => [...named])])]
  }

  /** Who runs or obeys this file later. For a package.json, `change` says what changes; without it, all of it counts. */
  find(path: string, change?: ContentChange): RunLater | undefined {
    const name = foldName(basename(path))
    if (isManifest(path)) return this.#findInManifest(path, change)
    for (const use of this.#hooks.around(path)) {
      const by = hookUser(path, name, use)
      if (by !== undefined) return { by: `${by} (started by a git hook or by settings of the project)`, asks: true }
    }
    const by = OBEYED.get(name)
    if (by !== undefined) return { by, asks: true }
    return PIPELINES(name) || PIPELINE_FOLDER.test(path.toLowerCase()) ? { by: 'a pipeline', asks: false } : undefined
  }

  #findInManifest(path: string, change: ContentChange | undefined): RunLater | undefined {
    if (!change) return { by: 'package managers and git hooks (some of its keys)', asks: true }
    const [before, after] = [parseManifest(change.before ?? ''), parseManifest(change.after ?? '')]
    const keys = keysRunLater(before, after, this.#hooks.around(path))
    if (keys.length === 0) return undefined
    return { by: `package managers and git hooks (${keys.join(', ')})`, asks: true }
  }
}

/** Whether only some changes of a file with this name are run later. */
export function isManifest(path: string): boolean {
  return foldName(basename(path)) === MANIFEST
}

/** Whether a file with this name in this folder can be one of which `find` knows more: a quick choice. */
export function mayRunLater(name: string, folder = ''): boolean {
  const folded = foldName(name)
  if (OBEYED.has(folded) || PIPELINES(folded) || PIPELINE_FOLDER.test(`${folder}/`)) return true
  if (folded.startsWith(MANIFEST.slice(0, -5))) return true
  return NAMED_AFTER.some((form) => form.test(folded)) || CONFIG_TESTS.some(({ isConfig }) => isConfig(folded))
}

function isPackageOrPipeline(path: string, name: string): boolean {
  return name === MANIFEST || OBEYED.has(name) || PIPELINES(name) || PIPELINE_FOLDER.test(path.toLowerCase())
}

function hookUser(path: string, name: string, { scripts, named, words }: HookUse): string | undefined {
  if (scripts.includes(path)) return 'a shell'
  if (named.has(path)) return 'a program'
  const known = CONFIG_TESTS.find(({ program, isConfig }) => words.has(program) && isConfig(name))?.program
  return known ?? NAMED_AFTER.map((form) => form.exec(name)?.[1]).find((program) => program && words.has(program))
}

/** The keys with another value whose value is run or obeyed later, as `scripts.prepare`. */
function keysRunLater(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
  uses: readonly HookUse[],
): string[] {
  const isObeyed = (key: string) =>
    key === 'packageManager' ||
    HOOK_KEYS.includes(key) ||
    uses.some(({ words }) => words.has(key.toLowerCase()) || words.has(key.replace(/Config$/, '').toLowerCase()))
  const isRun = (script: string) => LIFECYCLE.has(script) || uses.some((use) => use.packageScripts.has(script))
  const scripts = changedKeys(fieldOf(before, 'scripts'), fieldOf(after, 'scripts')).filter(isRun)
  const config = changedKeys(fieldOf(before, 'config'), fieldOf(after, 'config')).filter(isHookSetting)
  return [
    ...changedKeys(before, after).filter((key) => key !== 'scripts' && key !== 'config' && isObeyed(key)),
    ...scripts.map((key) => `scripts.${key}`),
    ...config.map((key) => `config.${key}`),
  ]
}

function isHookSetting(key: string): boolean {
  return ['commitizen', 'ghooks', 'husky', 'pre-commit', 'validate-commit-msg'].includes(key)
}

function changedKeys(a: Readonly<Record<string, unknown>>, b: Readonly<Record<string, unknown>>): string[] {
  const keys = new Set([...Object.keys(a), ...Object.keys(b)])
  return [...keys].filter((key) => !isDeepStrictEqual(ownField(a, key), ownField(b, key)))
}

function ownField(record: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined
}

function fieldOf(record: Readonly<Record<string, unknown>>, key: string): Readonly<Record<string, unknown>> {
  const value = ownField(record, key)
  return isPlainObject(value) ? value : {}
}
