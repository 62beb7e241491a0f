import { realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { type CommandLine, type CommandRequest, ToolError } from '@tool-hub/core'
import { errnoOf, isWithin, LONE_SURROGATE } from '@tool-hub/core/lib'
import { quotePath } from '../../files/file-error.ts'
import { splitPath } from '../../files/roots.ts'

// The limits of Linux: a word including its end, and words and variables together, less what the sandbox adds.
const MAX_WORD_BYTES = 128 * 1024 - 1
const MAX_BYTES = 1024 * 1024

/** Copies a request: tools are third-party code that could change it between the policy decision and the start. */
export function copyRequest(request: CommandRequest): CommandRequest {
  const { argv, command, env, ...rest } = request
  const line = { argv: Array.isArray(argv) ? [...argv] : argv, command } as CommandLine
  return { ...rest, ...line, ...(env && { env: { ...env } }) }
}

/**
 * The words to start. A line is only read by bash. The path of bash is fixed, as the model must not influence PATH;
 * `--norc` because bash reads ~/.bashrc if its input is a socket, as ours is, and considers itself a remote shell;
 * `--` because a line may begin with a dash.
 */
export function commandArgv(line: CommandLine): readonly string[] {
  return line.argv ?? ['/bin/bash', '--noprofile', '--norc', '-c', '--', line.command]
}

/** Refuses what no system could start, or would start as something else than policy decided on. */
export function checkCommandRequest({ argv, command, env = {}, stdin, timeoutMs }: CommandRequest): void {
  if ((argv === undefined) === (command === undefined)) {
    throw invalid('A command is either argv, a list of words, or command, a line for bash.')
  }
  if (argv !== undefined) checkArgv(argv)
  if (command !== undefined) checkLine(command)
  let bytes = (argv ?? [command!]).reduce((sum, word) => sum + Buffer.byteLength(word) + 1, 0)
  for (const [name, value] of Object.entries(env)) {
    checkWord(value, `The variable ${JSON.stringify(name.slice(0, 100))}`)
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value) + 2
  }
  if (bytes > MAX_BYTES) throw invalid(`Words and variables have ${bytes} bytes, the limit is ${MAX_BYTES}.`)
  if (stdin !== undefined && typeof stdin !== 'string') throw invalid('stdin must be a text.')
  if (!(timeoutMs > 0)) throw invalid(`timeoutMs must be greater than 0 (got ${timeoutMs}).`)
}

function checkArgv(argv: readonly string[]): void {
  if (!Array.isArray(argv) || argv.length === 0) throw invalid('argv is a list of at least one word: the program.')
  for (const [index, word] of argv.entries()) checkWord(word, `Word ${index + 1} of argv`)
  if (argv[0] === '') throw invalid('The first word of argv is empty; it is the name of the program.')
}

function checkLine(command: string): void {
  checkWord(command, 'The command')
  if (command.trim() === '') throw invalid('The command is empty.')
}

function checkWord(word: string, what: string): void {
  if (typeof word !== 'string') throw invalid(`${what} is not a text.`)
  if (word.includes('\0')) throw invalid(`${what} contains a NUL character, which no command can receive.`)
  if (LONE_SURROGATE.test(word)) throw invalid(`${what} contains half a character (a lone surrogate).`)
  const bytes = Buffer.byteLength(word)
  if (bytes <= MAX_WORD_BYTES) return
  throw invalid(
    `${what} has ${bytes} bytes, the limit is ${MAX_WORD_BYTES}.`,
    'Write long text to a file, or pass it as stdin.',
  )
}

function invalid(message: string, hint?: string): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', message, hint === undefined ? undefined : { hint })
}

const MAX_VARIABLES = 64
const MAX_VARIABLE_BYTES = 32 * 1024
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/

/** Variables that make other code run, load files, or would undo the sandbox's own settings. */
const REFUSED: ReadonlyArray<readonly [names: RegExp, why: string]> = [
  [
    /^(PATH|HOME|IFS|CDPATH|TMPDIR|SHELL|USER|LOGNAME|PWD|OLDPWD|TERMINFO|TERMINFO_DIRS|TERMCAP)$/,
    'is set by the sandbox',
  ],
  [
    /^(LD_|DYLD_|GLIBC_|MALLOC_|GCONV_PATH$|LOCPATH$|NLSPATH$|HOSTALIASES$|RES_OPTIONS$|LOCALDOMAIN$)/,
    'changes what every program loads',
  ],
  [
    /^(BASH_ENV|ENV|SHELLOPTS|BASHOPTS|PS[0-4]|PROMPT_COMMAND|BASH_FUNC_.*|BASH_XTRACEFD|ZDOTDIR|FPATH)$/,
    'runs code in every shell',
  ],
  [
    /^(NODE_OPTIONS|NODE_PATH|NODE_EXTRA_CA_CERTS|NODE_REPL_EXTERNAL_MODULE|NODE_USE_ENV_PROXY|NODE_TLS_REJECT_UNAUTHORIZED|NODE_V8_COVERAGE|ELECTRON_RUN_AS_NODE)$/,
    'loads code into node',
  ],
  [/^(NPM_CONFIG_|YARN_|PNPM_|COREPACK_|BUN_|DENO_)/, 'changes what package managers run'],
  [
    /^(GIT_(?!(AUTHOR|COMMITTER)_(NAME|EMAIL|DATE)$)|SSH_|GPG_)|^(EDITOR|VISUAL|PAGER|MANPAGER|BROWSER|LESSOPEN|LESSCLOSE|LESS|MANOPT)$/,
    'names a program that others run',
  ],
  [
    /^(PYTHON|PIP_|VIRTUAL_ENV$|PERL|RUBY|GEM_|BUNDLE_|RACK_|PHP|LUA_|R_PROFILE|R_ENVIRON|JULIA_|TCLLIBPATH$)/,
    'loads code into an interpreter',
  ],
  [
    /^(JAVA_TOOL_OPTIONS|_?JAVA_OPTIONS|JDK_JAVA_OPTIONS|JAVA_OPTS|CLASSPATH|MAVEN_OPTS|MAVEN_ARGS|GRADLE_OPTS|ANT_OPTS|DOTNET_.*|CORECLR_.*|COMPLUS_.*)$/,
    'loads code into a runtime',
  ],
  [
    /^(GO(FLAGS|ROOT|TOOLCHAIN|ENV|PROXY|SUMDB|NOSUMDB|NOSUMCHECK|INSECURE|PRIVATE|CACHEPROG|VCS|AUTH|PATH|BIN|TOOLDIR)|CGO_.*|CARGO.*|RUSTC.*|RUSTFLAGS|RUSTDOC.*|RUSTUP_.*)$/,
    'names a program that builds run',
  ],
  [
    /^(CC|CXX|CPP|AR|LD|MAKEFLAGS|MFLAGS|GNUMAKEFLAGS|MAKEFILES|CMAKE_.*|COMPILER_PATH|GCC_EXEC_PREFIX|LIBRARY_PATH|C_INCLUDE_PATH|CPLUS_INCLUDE_PATH|CPATH|PKG_CONFIG.*|CONFIG_SITE)$/,
    'names a program that builds run',
  ],
  [
    /^([A-Z0-9_]*_PROXY|REQUESTS_CA_BUNDLE|CURL_.*|SSL_.*|OPENSSL_.*|AWS_CA_BUNDLE)$/,
    'changes how the network is reached',
  ],
  [
    /^(TAR_OPTIONS|WGETRC|ZIPOPT|ZIP_OPTS|UNZIP|UNZIPOPT|GZIP|XZ_.*|[A-Z0-9_]*_RSH|RSYNC_.*|RIPGREP_CONFIG_PATH|VIMINIT|EXINIT|NVIM_.*|GREP_OPTIONS|MAKE|LEX|YACC|SED|AWKPATH|AWKLIBPATH|FZF_.*|BAT_.*|GH_.*|SYSTEMD_.*)$/,
    'are options of programs, some of which run others',
  ],
  [
    /^(DOCKER_.*|KUBECONFIG|XDG_.*|DBUS_.*|DISPLAY|WAYLAND_DISPLAY|TOOL_HUB_.*)$/,
    'leads to services or settings outside',
  ],
]

/** Refuses what a call may not add to the environment of its command. Errors contain names and reasons, never values. */
export function checkVariables(env: Readonly<Record<string, string>>): void {
  const entries = Object.entries(env)
  if (entries.length > MAX_VARIABLES) throw refused(`env has ${entries.length} names, the limit is ${MAX_VARIABLES}.`)
  let bytes = 0
  for (const [name, value] of entries) {
    if (!VARIABLE_NAME.test(name) || name === '__proto__')
      throw refused(`Invalid name of a variable: ${shorten(name)}.`)
    if (typeof value !== 'string' || value.includes('\0'))
      throw refused(`The value of ${name} is not text without NUL.`)
    bytes += name.length + Buffer.byteLength(value) + 2
    // Some programs read their variables in either case.
    const rule = REFUSED.find(([names]) => names.test(name.toUpperCase()))
    if (rule) throw refused(`A call may not set ${name}: it ${rule[1]}.`)
  }
  if (bytes > MAX_VARIABLE_BYTES) throw refused(`env has ${bytes} bytes, the limit is ${MAX_VARIABLE_BYTES}.`)
}

function shorten(name: string): string {
  return JSON.stringify(name.length > 60 ? `${name.slice(0, 60)}…` : name)
}

function refused(message: string): ToolError {
  return invalid(message, 'Leave it out of env. The owner can name variables for all commands in sandbox.commands.env.')
}

/** Where commands may work. */
export interface WorkingFolders {
  /** As the owner wrote them; the first is the default. */
  readonly roots: readonly string[]
  /** Real paths that commands do not see. */
  readonly hidden: readonly string[]
}

/**
 * The real path of the folder in which a command is to work; it exists and is inside the roots. If it is replaced
 * afterwards, the replacement is looked up inside the sandbox, where nothing else is visible.
 */
export function resolveWorkingFolder(cwd: string | undefined, { roots, hidden }: WorkingFolders): string {
  if (cwd !== undefined) splitPath(cwd)
  const path = resolve(roots[0]!, cwd ?? '.')
  const reals = roots.map((root) => realPath(root))
  // Checks the text first: an error about a path outside must not reveal whether it exists.
  if (![...roots, ...reals].some((root) => isWithin(resolve(root), path))) throw outside(cwd ?? path, roots)
  const real = realPath(path, cwd)
  if (!reals.some((root) => isWithin(root, real))) throw outside(cwd ?? path, roots)
  if (hidden.some((folder) => isWithin(folder, real))) throw denied(cwd ?? path)
  if (!statSync(real, { throwIfNoEntry: false })?.isDirectory()) throw missing(path, cwd)
  return real
}

function realPath(path: string, shown?: string): string {
  try {
    return realpathSync.native(path)
  } catch (error) {
    throw missing(path, shown, error)
  }
}

function missing(path: string, shown = path, cause?: unknown): ToolError {
  const why = errnoOf(cause) === 'EACCES' ? 'cannot be entered' : 'is not an existing folder'
  return new ToolError('NOT_FOUND', `The working folder ${quotePath(shown)} ${why}.`, {
    hint: 'Use a folder below a root, or leave cwd out.',
    cause,
  })
}

function outside(path: string, roots: readonly string[]): ToolError {
  return new ToolError('PATH_OUTSIDE_SANDBOX', `The working folder ${quotePath(path)} is outside the sandbox roots.`, {
    hint: `Use a folder relative to ${roots[0]}, or leave cwd out.`,
  })
}

function denied(path: string): ToolError {
  return new ToolError('PATH_DENIED', `The working folder ${quotePath(path)} is protected.`, {
    hint: 'Use another folder below a root.',
  })
}
