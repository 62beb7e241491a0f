import { ToolError } from '../../../errors.ts'

const MOST_NAMES = 64
const MOST_BYTES = 32 * 1024
const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/

/** Variables through which other code runs, files are loaded, or the jail's own settings would be undone. */
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

/** Refuses what a call may not add to the environment of its command; names and their meaning, not their values, are told. */
export function checkAdditions(env: Readonly<Record<string, string>>): void {
  const entries = Object.entries(env)
  if (entries.length > MOST_NAMES) throw invalid(`env has ${entries.length} names, the limit is ${MOST_NAMES}.`)
  let bytes = 0
  for (const [name, value] of entries) {
    if (!NAME.test(name) || name === '__proto__') throw invalid(`${shown(name)} is not a name for a variable.`)
    if (typeof value !== 'string' || value.includes('\0'))
      throw invalid(`The value of ${name} is not text without NUL.`)
    bytes += name.length + Buffer.byteLength(value) + 2
    // Some programs read their variables in either case.
    const refused = REFUSED.find(([names]) => names.test(name.toUpperCase()))
    if (refused) throw invalid(`A call may not set ${name}: it ${refused[1]}.`)
  }
  if (bytes > MOST_BYTES) throw invalid(`env has ${bytes} bytes, the limit is ${MOST_BYTES}.`)
}

function shown(name: string): string {
  return JSON.stringify(name.length > 60 ? `${name.slice(0, 60)}…` : name)
}

function invalid(message: string): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', message, {
    hint: 'Leave it out of env. Variables that all commands should have, the owner names in sandbox.commands.env.',
  })
}
